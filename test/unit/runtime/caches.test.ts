import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../../src/observability/metrics.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger, type Logger } from '../../../src/observability/log.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { ResponseTooLarge, SourceError } from '../../../src/runtime/errors.ts';
import type { CacheOptions } from '../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { ScriptedApi, statusError, thing, THINGS, type Thing } from '../../support/scripted-api.ts';

function world(metrics?: Metrics) {
  const warnings: unknown[] = [];
  const errors: unknown[] = [];
  const log: Logger = {
    ...silentLogger,
    warn: (fields) => warnings.push(fields),
    error: (fields) => errors.push(fields),
    child: () => log,
  };
  const api = new ScriptedApi();
  const clock = new FakeClock();
  const caches = createCaches({ client: api, clock, rng: seededRng(1), log, ...(metrics && { metrics }) });
  return { api, clock, caches, warnings, errors, signal: new AbortController().signal };
}

describe('the caches of a process', () => {
  it('are one for each kind and selection', () => {
    const { caches } = world();
    const transform = (obj: Thing): Thing => obj;
    const all = caches.of(THINGS);
    expect(caches.of(THINGS)).to.equal(all);
    expect(caches.of(THINGS, { namespaces: ['a', 'b'] })).to.equal(
      caches.of(THINGS, { namespaces: ['b', 'a'] }),
    );
    expect(caches.of(THINGS, { labels: 'x=y' })).not.to.equal(all);
    expect(caches.of(THINGS, { transform })).not.to.equal(all);
    expect(caches.of({ ...THINGS, version: 'v2' })).not.to.equal(all);
    expect([...caches.all()]).to.have.length(5);
  });

  it('RUN-C7: of metadata alone have no spec and status, not even at compile time', async () => {
    const { api, caches, signal } = world();
    api.put(thing('a'));
    const cache = caches.of(THINGS, { metadataOnly: true });
    await caches.start(signal);
    const [found] = cache.list();
    expect(found?.metadata.name).to.equal('a');
    // @ts-expect-error there is no spec to read
    const none: keyof NonNullable<typeof found> = 'spec';
    expect(none).to.equal('spec' satisfies keyof Thing);
  });

  it('start together, and late ones separately', async () => {
    const { api, caches, signal } = world();
    api.put(thing('a'));
    const early = caches.of(THINGS, { labels: 'x=y' });
    expect(api.requests).to.have.length(0);
    await caches.start(signal);
    expect(early.isSynced).to.equal(true);
    const late = caches.of(THINGS, { labels: 'x=z' });
    await settle();
    expect(late.isSynced).to.equal(true);
  });

  it('RUN-C18: name the one that cannot be read', async () => {
    const { api, clock, caches, signal } = world();
    caches.of(THINGS, { labels: 'x=y' });
    for (let i = 0; i < 99; i++) api.faults.watch.push(statusError(500));
    const failed = caches.start(signal).catch((error: unknown) => error);
    await clock.advance(121_000);
    expect(await failed).to.be.instanceOf(SourceError);
    expect(await failed).to.have.property('source', 'things.example.io[x=y]');
  });

  it('are logged if a late one cannot be read', async () => {
    const { api, clock, caches, errors, signal } = world();
    await caches.start(signal);
    for (let i = 0; i < 99; i++) api.faults.watch.push(statusError(500));
    caches.of(THINGS, { labels: 'x=y' });
    await clock.advance(121_000);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.have.property('source', 'things.example.io[x=y]');
  });

  it('are not shared if they are separate, and receive own writes until they are released', () => {
    const { caches } = world();
    const shared = caches.of(THINGS);
    const first = caches.separate(THINGS);
    const second = caches.separate(THINGS);
    expect(new Set([shared, first.cache, second.cache]).size).to.equal(3);
    expect([...caches.all()]).to.include.members([shared, first.cache, second.cache]);
    first.release();
    expect([...caches.all()])
      .to.have.length(2)
      .and.not.include(first.cache);
  });

  it('do not warn of other kinds, in the same group or of the same name', () => {
    const { caches, warnings } = world();
    caches.of(THINGS);
    caches.of({ ...THINGS, kind: 'Other', plural: 'others' });
    caches.of({ ...THINGS, group: 'other.io' });
    expect(warnings).to.deep.equal([]);
  });

  it('are named in a warning if they may contain the same object', () => {
    const { caches, warnings } = world();
    caches.of(THINGS);
    caches.of(THINGS, { labels: 'a=b' });
    expect(warnings).to.deep.equal([{ sources: ['things.example.io', 'things.example.io[a=b]'] }]);
  });

  const rows: [string, CacheOptions<Thing>, CacheOptions<Thing>, number][] = [
    ['all namespaces and one', {}, { namespaces: ['n1'] }, 1],
    ['one namespace and all', { namespaces: ['n1'] }, {}, 1],
    [
      'several namespaces, of which one is common',
      { namespaces: ['n1', 'n2'] },
      { namespaces: ['n2', 'n3'] },
      1,
    ],
    ['everything and a part of it', {}, { labels: 'a=b' }, 1],
    ['two values of one label', { labels: 'a=b' }, { labels: 'a=c' }, 0],
    ['sets of values without a common one', { labels: 'a in (b, c)' }, { labels: 'a in (d)' }, 0],
    ['values of two labels', { labels: 'a=b' }, { labels: 'c=d' }, 1],
    ['different namespaces', { namespaces: ['n1'] }, { namespaces: ['n2', 'n3'] }, 0],
    ['a common namespace', { namespaces: ['n1', 'n2'] }, { namespaces: ['n2'] }, 1],
  ];
  for (const [title, first, second, expected] of rows) {
    it(`RUN-C3: ${expected ? 'warn' : 'do not warn'} of ${title}`, () => {
      const { caches, warnings } = world();
      caches.of(THINGS, first);
      caches.of(THINGS, second);
      expect(warnings).to.have.length(expected);
    });
  }

  it('show their size, state and relists as metrics', async () => {
    const metrics = createMetrics();
    const { api, clock, caches, signal } = world(metrics);
    api.put(thing('a'));
    caches.of(THINGS);
    expect(await metrics.text()).to.contain(
      'espalier_watch_relists_total{source="things.example.io",reason="expired"} 0',
    );
    await caches.start(signal);
    await clock.advance(5_000);
    api.faults.watch.push(statusError(410));
    api.drop();
    await settle();
    expect(await metrics.text())
      .to.contain('espalier_cache_objects{source="things.example.io"} 1')
      .and.to.contain('espalier_watch_state{source="things.example.io",state="watching"} 1')
      .and.to.contain('espalier_watch_relists_total{source="things.example.io",reason="expired"} 1')
      .and.to.contain('espalier_watch_relists_total{source="things.example.io",reason="oversized"} 0');
    api.drop(new ResponseTooLarge({ message: 'too large', excess: 'frame', isFinal: false }));
    await clock.advance(5_000);
    expect(await metrics.text()).to.contain(
      'espalier_watch_relists_total{source="things.example.io",reason="oversized"} 1',
    );
  });
});
