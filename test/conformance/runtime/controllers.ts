/** What controllers, events and leases must do with any Kubernetes API server. */
import { expect } from 'chai';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { systemRng as rng } from '../../../src/lib/rng.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import { createCaches } from '../../../src/runtime/cache/cache.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import { leaseKind } from '../../../src/runtime/manager/lease.ts';
import { createManager, type StartableManager } from '../../../src/runtime/manager/manager.ts';
import { eventKind, type CoreEvent } from '../../../src/runtime/controller/recorder.ts';
import type { Client, Kind, Obj } from '../../../src/runtime/types.ts';
import type { Subject } from './client-and-cache.ts';
import { eventually, pause } from '../../support/waiting.ts';

interface ConfigMap extends Obj {
  data?: Record<string, string>;
}

const CORE = { group: '', version: 'v1' } as const;
const MAPS: Kind<ConfigMap> = { ...CORE, kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const NAMESPACES: Kind = { ...CORE, kind: 'Namespace', plural: 'namespaces', namespaced: false };
const NAMESPACE = 'kernel';
const FINALIZER = 'espalier.example/conformance';

export function controllers(title: string, start: () => Promise<Subject>): void {
  describe(`controllers on ${title}`, function () {
    this.timeout(60_000);
    let subject: Subject;
    let client: Client;
    let manager: StartableManager;
    const story: string[] = [];

    before(async () => {
      subject = await start();
      client = createClient(
        await connect({ kubeconfig: { text: subject.kubeconfig }, userAgent: 'conformance', clock, log }),
      );
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
      await client.send({ verb: 'create', kind: NAMESPACES, object });
      const caches = createCaches({ client, clock, rng, log });
      const lease = { namespace: NAMESPACE, name: 'lead', onLost: () => story.push('lost') };
      manager = createManager({
        client,
        caches,
        clock,
        rng,
        log,
        metrics: createMetrics(),
        identity: 'a',
        lease,
      });
      manager.add<ConfigMap>({
        name: 'maps',
        kind: MAPS,
        cache: { namespaces: [NAMESPACE], labels: 'ours=yes' },
        finalizer: FINALIZER,
        reconciler: {
          reconcile(map, ctx) {
            story.push(`reconcile ${ctx.key}`);
            ctx.event('Normal', 'Reconciled', 'The map has been looked at.');
            const object = { ...ctx.draft(), data: { ...map.data, made: 'yes' } };
            return Promise.resolve({ write: 'resource', object });
          },
          cleanup(_, ctx) {
            story.push(`cleanup ${ctx.key}`);
            return Promise.resolve({ finalizer: 'remove' });
          },
        },
      });
      await manager.start();
    });
    after(async () => {
      await manager?.stop();
      await client?.close();
      await subject?.stop();
    });
    beforeEach(() => {
      story.length = 0;
    });

    const until = <T>(what: string, ask: () => Promise<T> | T) =>
      eventually(what, ask, { why: () => `; what happened: ${story.join(', ')}` });
    const create = (name: string, finalizers: string[] = []): Promise<ConfigMap> =>
      client.send({
        verb: 'create',
        kind: MAPS,
        object: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { namespace: NAMESPACE, name, labels: { ours: 'yes' }, finalizers },
          data: { given: 'yes' },
        },
      });
    const read = (name: string): Promise<ConfigMap | undefined> =>
      client.get(MAPS, `${NAMESPACE}/${name}`).catch(() => undefined);

    for (const [name, others] of [
      ['alone', []],
      ['shared', ['other.example/x']],
    ] as const) {
      it(`keep their finalizer on an object, write it once, and remove it (${name})`, async () => {
        await create(name, [...others]);
        const written = await until('the write', async () => {
          const map = await read(name);
          return map?.data?.['made'] ? map : undefined;
        });
        expect(written.metadata.finalizers).to.deep.equal([...others, FINALIZER]);
        expect(written.data).to.deep.equal({ given: 'yes', made: 'yes' });
        await pause(200);
        expect(story).to.deep.equal([`reconcile ${NAMESPACE}/${name}`]);

        await client.send({ verb: 'delete', kind: MAPS, key: `${NAMESPACE}/${name}` });
        await until('the cleanup', async () => {
          const map = await read(name);
          return map?.metadata.finalizers?.includes(FINALIZER) ? undefined : true;
        });
        expect((await read(name))?.metadata.finalizers).to.deep.equal(others.length > 0 ? others : undefined);
        expect(story.at(-1)).to.equal(`cleanup ${NAMESPACE}/${name}`);
        const ops = [{ op: 'remove', path: '/metadata/finalizers' }] as const;
        if (others.length > 0)
          await client.send({ verb: 'json', kind: MAPS, key: `${NAMESPACE}/${name}`, ops });
      });
    }

    it('report their work in Events that can be found by the object', async () => {
      const { metadata } = await create('told');
      const event = await until('the event', async () => {
        const fields = `involvedObject.uid=${metadata.uid ?? ''}`;
        for await (const { items } of client.list<CoreEvent>(eventKind, { namespace: NAMESPACE, fields })) {
          if (items[0]) return items[0];
        }
        return undefined;
      });
      expect(event).to.deep.include({
        reason: 'Reconciled',
        message: 'The map has been looked at.',
        count: 1,
      });
      expect(event.source).to.deep.equal({ component: 'maps' });
    });

    it('hold a lease while they run, and release it at the end', async () => {
      const key = `${NAMESPACE}/lead`;
      expect((await client.get(leaseKind, key)).spec).to.deep.include({
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
      });
      await manager.stop();
      expect((await client.get(leaseKind, key)).spec?.holderIdentity).to.equal(undefined);
      expect(manager.unfinished).to.equal(0);
      expect(story).to.not.include('lost');
    });
  });
}
