/** What the client and the caches must do with any Kubernetes API server. */
import { expect } from 'chai';
import { systemClock } from '../../../src/lib/clock.ts';
import { systemRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createCache, createCaches } from '../../../src/runtime/cache/cache.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { createDiscovery } from '../../../src/runtime/transport/discovery.ts';
import { AlreadyExists, Conflict, Invalid, NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Cache, Change, Client, Kind, Obj, Write } from '../../../src/runtime/types.ts';
import { eventually } from '../../support/waiting.ts';

export interface Subject {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

interface ConfigMap extends Obj {
  data?: Record<string, string>;
}

const CORE = { group: '', version: 'v1', namespaced: true } as const;
const MAPS: Kind<ConfigMap> = { ...CORE, kind: 'ConfigMap', plural: 'configmaps' };
const NAMESPACES: Kind = { ...CORE, kind: 'Namespace', plural: 'namespaces', namespaced: false };
const PODS: Kind = { ...CORE, kind: 'Pod', plural: 'pods' };

export function clientAndCache(title: string, start: () => Promise<Subject>): void {
  describe(`the client and the cache on ${title}`, function () {
    this.timeout(60_000);
    let subject: Subject;
    let client: Client;
    let namespace: string;
    let count = 0;
    let stop: AbortController;

    before(async () => {
      subject = await start();
      const connection = await connect({
        kubeconfig: { text: subject.kubeconfig },
        userAgent: 'conformance',
        clock: systemClock,
        log: silentLogger,
      });
      client = createClient(connection);
    });
    after(async () => {
      await client?.close();
      await subject?.stop();
    });
    beforeEach(async () => {
      namespace = `t${String(++count)}`;
      stop = new AbortController();
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      await client.send({ verb: 'create', kind: NAMESPACES, object });
    });
    afterEach(() => {
      stop.abort(new Error('the test is over'));
    });

    const map = (name: string, data: Record<string, string> = {}, more: object = {}): ConfigMap => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, ...more },
      data,
    });
    const create = (name: string, data?: Record<string, string>, more?: object): Promise<ConfigMap> =>
      client.send({ verb: 'create', kind: MAPS, object: map(name, data, more) });
    const key = (name: string): string => `${namespace}/${name}`;
    const dataOf = (obj: unknown): unknown => (obj as ConfigMap | undefined)?.data;
    const cacheOf = (options: object = {}): Cache<ConfigMap> =>
      createCache(client, MAPS, {
        namespaces: [namespace],
        clock: systemClock,
        rng: systemRng,
        log: silentLogger,
        freeze: true,
        ...options,
      });
    const failure = async (promise: Promise<unknown>): Promise<Error> => {
      try {
        await promise;
      } catch (error) {
        return error as Error;
      }
      throw new Error('should have failed');
    };

    it('creates, reads, changes in four ways, and deletes', async () => {
      const created = await create('a', { x: '1' });
      expect(created.metadata.uid).to.be.a('string');
      expect(await client.get(MAPS, key('a'))).to.deep.equal(created);
      const merged = await client.send({
        verb: 'merge',
        kind: MAPS,
        key: key('a'),
        body: { data: { y: '2' } },
      });
      expect(merged.data).to.deep.equal({ x: '1', y: '2' });
      const ops = [{ op: 'remove', path: '/data/x' }] as const;
      expect((await client.send({ verb: 'json', kind: MAPS, key: key('a'), ops })).data).to.deep.equal({
        y: '2',
      });
      const object = map('a', { z: '3' });
      const applied = await client.send({ verb: 'apply', kind: MAPS, object, manager: 'me', force: false });
      expect(applied.data).to.deep.equal({ y: '2', z: '3' });
      const replaced = await client.send({
        verb: 'replace',
        kind: MAPS,
        object: { ...applied, data: { only: '1' } },
      });
      expect(replaced.data).to.deep.equal({ only: '1' });
      await client.send({ verb: 'delete', kind: MAPS, key: key('a') });
      expect(await failure(client.get(MAPS, key('a')))).to.be.instanceOf(NotFound);
    });

    it('distinguishes its errors', async () => {
      const first = await create('a', { x: '1' });
      const rows: [() => Promise<unknown>, new (...args: never[]) => Error][] = [
        [() => client.get(MAPS, key('missing')), NotFound],
        [() => create('a'), AlreadyExists],
        [() => create('UPPER'), Invalid],
        [() => client.send({ verb: 'merge', kind: MAPS, key: key('missing'), body: {} }), NotFound],
        [() => client.send({ verb: 'delete', kind: MAPS, key: key('a'), uid: 'other' }), Conflict],
        [() => client.raw('GET', '/apis/no.such.group/v1'), NotFound],
      ];
      for (const [send, Class] of rows) expect(await failure(send())).to.be.instanceOf(Class);
      await client.send({ verb: 'merge', kind: MAPS, key: key('a'), body: { data: { x: '2' } } });
      const stale: Write<ConfigMap> = {
        verb: 'merge',
        kind: MAPS,
        key: key('a'),
        lock: true,
        body: { metadata: { resourceVersion: first.metadata.resourceVersion }, data: { x: '3' } },
      };
      expect(await failure(client.send(stale))).to.be.instanceOf(Conflict);
      const apply = { verb: 'apply', kind: MAPS, object: map('a', { x: '9' }), manager: 'other' } as const;
      const conflict = await failure(client.send({ ...apply, force: false }));
      expect(conflict).to.be.instanceOf(Conflict);
      expect((conflict as Conflict).causes[0]).to.include({
        reason: 'FieldManagerConflict',
        field: '.data.x',
      });
      expect((await client.send({ ...apply, force: true })).data).to.deep.equal({ x: '9' });
    });

    it('lists page by page', async () => {
      for (let i = 0; i < 7; i++) await create(`m${String(i)}`);
      const pages: number[] = [];
      for await (const page of client.list(MAPS, {
        namespace,
        limit: 3,
        fields: 'metadata.name!=kube-root-ca.crt',
      })) {
        pages.push(page.items.length);
        for (const item of page.items) expect(item).to.include({ apiVersion: 'v1', kind: 'ConfigMap' });
      }
      expect(pages).to.deep.equal([3, 3, 1]);
    });

    it('discovers kinds', async () => {
      const discovery = createDiscovery(client);
      expect(await discovery.kindOf('v1', 'ConfigMap')).to.deep.equal(MAPS);
      expect(await discovery.kindOf('coordination.k8s.io/v1', 'Lease')).to.include({ plural: 'leases' });
      expect(await failure(discovery.kindOf('v1', 'Nonsense'))).to.be.instanceOf(NoSuchKind);
    });

    it('fills a cache and follows changes', async () => {
      await create('before', { x: '1' });
      const cache = cacheOf();
      const heard: string[] = [];
      cache.subscribe({
        name: 'me',
        ownEvents: 'filter',
        on: (change: Change<ConfigMap>) => {
          const { name } = change.obj.metadata;
          if (name !== 'kube-root-ca.crt') heard.push(`${change.type} ${name}`);
        },
      });
      await cache.start(stop.signal);
      expect(dataOf(cache.get(key('before')))).to.deep.equal({ x: '1' });
      expect(cache.get(key('before'))?.kind).to.equal('ConfigMap');
      await create('later');
      await client.send({ verb: 'merge', kind: MAPS, key: key('later'), body: { data: { y: '1' } } });
      await client.send({ verb: 'delete', kind: MAPS, key: key('before') });
      await eventually('four changes are heard', () => heard.length >= 4);
      expect(heard).to.deep.equal(['add before', 'add later', 'update later', 'delete before']);
      expect(cache.get(key('later'))?.metadata).not.to.have.property('managedFields');
    });

    it('reads its own writes at once, and its overlay is empty at the end', async () => {
      const cache = cacheOf();
      const heard: string[] = [];
      cache.subscribe({
        name: 'me',
        ownEvents: 'filter',
        on: (change) => {
          if (change.obj.metadata.name === 'a') heard.push(change.type);
        },
      });
      let foreign = 0;
      cache.subscribe({
        name: 'other',
        ownEvents: 'filter',
        on: (change) => {
          if (change.obj.metadata.name === 'a') foreign++;
        },
      });
      await cache.start(stop.signal);
      const write = async (write: Write<ConfigMap>): Promise<ConfigMap> => {
        const ticket = cache.begin(key('a'), 'me');
        try {
          const answer = await client.send(write);
          ticket.done(answer, write.lock === true);
          return answer;
        } catch (error) {
          ticket.failed();
          throw error;
        }
      };
      let object = await write({ verb: 'create', kind: MAPS, object: map('a', { n: '0' }), lock: true });
      for (let n = 1; n <= 50; n++) {
        const { resourceVersion } = object.metadata;
        const body = { metadata: { resourceVersion }, data: { n: String(n) } };
        object = await write({ verb: 'merge', kind: MAPS, key: key('a'), body, lock: true });
        expect(dataOf(cache.get(key('a')))).to.deep.equal({ n: String(n) });
      }
      await eventually('the changes of others are heard', () => foreign === 51);
      expect((cache as unknown as { unconfirmed: number }).unconfirmed).to.equal(0);
      expect(heard, 'echoes').to.deep.equal([]);
      await client.send({ verb: 'merge', kind: MAPS, key: key('a'), body: { data: { n: 'foreign' } } });
      await eventually('a change is heard', () => heard.length > 0);
      expect(heard).to.deep.equal(['update']);
    });

    it('watches objects selected by a label', async () => {
      const cache = cacheOf({ labels: 'app=x' });
      await cache.start(stop.signal);
      await create('in', {}, { labels: { app: 'x' } });
      await create('out');
      await eventually('the cache has the object', () => cache.size === 1);
      await client.send({
        verb: 'merge',
        kind: MAPS,
        key: key('in'),
        body: { metadata: { labels: { app: 'y' } } },
      });
      await eventually('the cache is empty', () => cache.size === 0);
      await client.send({
        verb: 'merge',
        kind: MAPS,
        key: key('out'),
        body: { metadata: { labels: { app: 'x' } } },
      });
      await eventually('the cache has the object that was out', () => cache.get(key('out')) !== undefined);
    });

    it('caches metadata only', async () => {
      await create('a', { big: 'x'.repeat(1000) }, { labels: { l: '1' } });
      const cache = cacheOf({ metadataOnly: true });
      await cache.start(stop.signal);
      const found = cache.get(key('a'));
      expect(found).to.deep.include({ apiVersion: 'v1', kind: 'ConfigMap' });
      expect(found?.metadata.labels).to.deep.equal({ l: '1' });
      expect(found).not.to.have.property('data');
      await create('b', { big: 'x' });
      await eventually('the cache has the new object', () => cache.get(key('b')) !== undefined);
      expect(cache.get(key('b'))).not.to.have.property('data');
      expect(cache.get(key('b'))?.kind).to.equal('ConfigMap');
    });

    it('serves several kinds in one process', async () => {
      const caches = createCaches({ client, clock: systemClock, rng: systemRng, log: silentLogger });
      const maps = caches.of(MAPS, { namespaces: [namespace] });
      const pods = caches.of(PODS);
      await caches.start(stop.signal);
      const late = caches.of(NAMESPACES);
      expect(caches.of(NAMESPACES)).to.equal(late);
      await eventually('the late cache is complete', () => late.isSynced);
      expect([maps.isSynced, pods.isSynced]).to.deep.equal([true, true]);
      expect(late.get(namespace)?.metadata.name).to.equal(namespace);
    });
  });
}
