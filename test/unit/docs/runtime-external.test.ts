/** Compares the page about external resources and event sources with samples that are compiled, and runs the sources. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { serverController, serverKind, type Cloud } from '../../../docs/samples/operators/server/servers.ts';
import {
  stationController,
  stationKind,
  type Calibration,
  type Station,
} from '../../../docs/samples/operators/sources/sources.ts';
import {
  networkKind,
  zoneController,
  zoneKind,
  type Zone,
} from '../../../docs/samples/operators/zone/zones.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { annotations, type ChangeRecord, type ExternalHandler } from '../../../src/runtime/external/index.ts';
import type { Kind } from '../../../src/runtime/types.ts';
import { settle } from '../../support/clock.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import { createWorld } from '../runtime/support/world.ts';

const docs = join(import.meta.dirname, '../../../docs');
const page = readFileSync(join(docs, 'runtime-external.md'), 'utf8');
const folder = join(docs, 'samples/operators');
const samples = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((file) => /\.(ts|yaml)$/.test(file))
  .map((file) => readFileSync(join(folder, file), 'utf8'));
const calibrationKind: Kind<Calibration> = {
  group: 'example.io',
  version: 'v1',
  kind: 'Calibration',
  plural: 'calibrations',
  namespaced: true,
};

describe('the page about external resources and event sources', () => {
  const blocks = [...page.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, block = '']) => block);

  it('shows code of the samples only, unchanged', () => {
    expect(blocks.length).to.be.greaterThan(4);
    for (const block of blocks) {
      expect(
        samples.some((sample) => sample.includes(block)),
        block,
      ).to.equal(true);
    }
  });

  it('names every annotation', () => {
    for (const name of Object.values(annotations)) expect(page).to.include(`\`${name}\``);
  });

  it('has a sample with references and initializers', async () => {
    const world = createWorld();
    const { clock, cluster, manager, caches, metrics } = world;
    const records: ChangeRecord[] = [];
    const handler: ExternalHandler<Zone> = {
      observe: () => Promise.resolve({ exists: false, upToDate: false, state: 'unknown' }),
      create: () => Promise.resolve({}),
      update: () => Promise.resolve({}),
      delete: () => Promise.resolve(),
    };
    const connector = { connect: () => Promise.resolve(handler) };
    const ports = { client: cluster, caches, clock, rng: seededRng(1), metrics };
    manager.add(zoneController(connector, ports, (record) => records.push(record)));
    const annotated = { [annotations.name]: 'net-7' };
    const network = {
      metadata: { namespace: 'a', name: 'main', annotations: annotated },
      spec: { range: '' },
    };
    cluster.put(networkKind, network);
    const spec = { networkIdRef: { name: 'main' } } as object;
    cluster.put(zoneKind, { metadata: { namespace: 'a', name: 'home' }, spec });
    await world.start();
    expect(records.map(({ operation, name, spec: sent }) => [operation, name, sent])).to.deep.equal([
      [
        'create',
        'home',
        {
          networkIdRef: { name: 'main' },
          networkId: 'net-7',
          tags: { 'kubernetes-kind': 'zone', 'kubernetes-namespace': 'a', 'kubernetes-name': 'home' },
        },
      ],
    ]);
    await world.end();
  });

  it('has a sample that finds the server of an interrupted creation', async () => {
    const world = createWorld();
    const { clock, cluster, manager, caches, metrics } = world;
    const servers = new Map<string, { size: string; owner: string }>();
    const created: string[] = [];
    const cloud: Cloud = {
      create(size, tags) {
        created.push(size);
        servers.set('i-8', { size, owner: tags['owner'] ?? '' });
        return Promise.resolve('i-8');
      },
      sizeOf: (id) => Promise.resolve(servers.get(id)?.size),
      resize: () => Promise.reject(new Error('not expected')),
      remove: () => Promise.reject(new Error('not expected')),
      findByTag: (_, value) => Promise.resolve([...servers].find(([, { owner }]) => owner === value)?.[0]),
    };
    manager.add(serverController(cloud, { client: cluster, caches, clock, rng: seededRng(1), metrics }));
    const pending = { [annotations.createPending]: '2025-12-31T23:00:00.000Z' };
    const put = (name: string, marks: Record<string, string>): void => {
      const metadata = { namespace: 'a', name, annotations: marks };
      cluster.put(serverKind, { metadata, spec: { size: 'small' } });
    };
    put('interrupted', pending);
    put('fresh', {});
    const owner = cluster.read(serverKind, 'a/interrupted')?.metadata.uid ?? '';
    servers.set('i-7', { size: 'small', owner });
    await world.start();
    const nameOf = (name: string): unknown =>
      cluster.read(serverKind, `a/${name}`)?.metadata.annotations?.[annotations.name];
    expect([nameOf('interrupted'), nameOf('fresh')]).to.deep.equal(['i-7', 'i-8']);
    expect(created).to.deep.equal(['small']);
    await world.end();
  });

  it('has a sample whose controller receives all events of the source', async () => {
    const world = createWorld();
    const { clock, cluster, manager } = world;
    const other = new FakeCluster();
    const far = createCaches({ client: other, clock, rng: seededRng(1), log: silentLogger });
    let degrees = 20;
    const asked: string[] = [];
    const { controller, alarms } = stationController(
      {
        readings: () => Promise.resolve(new Map([['oslo', degrees]])),
        forecast(place) {
          asked.push(`${String(clock.now() / 1_000)} ${place}`);
          return Promise.resolve('rain');
        },
      },
      far.of(calibrationKind),
    );
    manager.add(controller);
    cluster.put(stationKind, {
      metadata: { namespace: 'stations', name: 'oslo' },
      spec: { place: 'oslo' },
    });
    await world.start();
    const status = (): Station['status'] => cluster.read(stationKind, 'stations/oslo')?.status;
    expect(status()).to.deep.equal({ degrees: 20, rain: 'rain' });
    degrees = 21;
    await clock.advance(10_000);
    expect(status()).to.deep.equal({ degrees: 21, rain: 'rain' });
    const labels = { station: 'oslo', 'station-namespace': 'stations' };
    other.put(calibrationKind, { metadata: { namespace: 'x', name: 'c', labels }, data: { offset: '2' } });
    await settle();
    expect(status()).to.deep.equal({ degrees: 21, rain: 'rain', calibration: '2' });
    alarms.emit('stations/oslo');
    await settle();
    expect(asked).to.deep.equal(['0 oslo']);
    await clock.advance(590_000);
    expect(asked).to.deep.equal(['0 oslo', '600 oslo']);
    await clock.advance(60_000);
    expect(asked).to.deep.equal(['0 oslo', '600 oslo', '660 oslo']);
    await world.end();
  });
});
