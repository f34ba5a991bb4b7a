/** The writes of an external resource: the versions they are based on, their repetition, and a clean-up that fails. */
import { expect } from 'chai';
import { silentLogger } from '../../../../src/observability/log.ts';
import { Secret } from '../../../../src/runtime/core-kinds.ts';
import { apiErrorFrom, TransportError } from '../../../../src/runtime/errors.ts';
import { externalResource, type ExternalSpec } from '../../../../src/runtime/external/index.ts';
import type { Context, View, Write, Writer } from '../../../../src/runtime/types.ts';
import { settle } from '../../../support/clock.ts';
import { FakeCluster } from '../support/fake-cluster.ts';
import { createWorld, noChance } from '../support/world.ts';
import { buckets, Cloud, createScene, FINALIZER, KEY, NAME, type Bucket, type Scene } from './cloud.ts';

const refused = (code: number, reason: string) => apiErrorFrom(code, { reason }, { verb: 'x', kind: 'X' });

/** One resource without a controller; `fails` decides about each write. */
function stage(
  spec: Partial<ExternalSpec<Bucket>> = {},
  fails: (write: Write) => Error | undefined = () => undefined,
) {
  const cluster = new FakeCluster();
  const { clock, caches } = createWorld({ cluster });
  const cloud = new Cloud();
  const ports = { client: cluster, caches, clock, rng: noChance };
  const resource = externalResource<Bucket>(
    { name: 'buckets', kind: buckets, connector: cloud, ...spec },
    ports,
  );
  const writes: Write[] = [];
  const write: Writer = (each, signal) => {
    writes.push(each);
    const error = fails(each);
    return error ? Promise.reject(error) : cluster.send(each, signal);
  };
  const events: string[] = [];
  const { signal } = new AbortController();
  const event = (_: string, reason: string) => events.push(reason);
  const ctx = { key: KEY, signal, log: silentLogger, write, event } as unknown as Context<Bucket>;
  const read = (): View<Bucket> => cluster.read(buckets, KEY) as View<Bucket>;
  return {
    cluster,
    cloud,
    writes,
    events,
    put: (bucket: Bucket['spec'] = { size: 1 }, metadata: object = {}) =>
      cluster.put(buckets, { metadata: { namespace: 'A', name: '1', ...metadata }, spec: bucket }),
    read,
    create: () => resource.create(read(), cloud, ctx).catch((error: unknown) => error),
    sync: (object = read()) => resource.sync(object, cloud, ctx),
    reconcile: (object = read()) => resource.reconcile(object, ctx),
  };
}
const bodies = (writes: readonly Write[]): Record<string, object>[] =>
  writes.flatMap((write) =>
    write.verb === 'merge' && !write.sub ? [write.body as Record<string, object>] : [],
  );

describe('the result of a creation', () => {
  const cases = [
    ['is stored with the next attempt after a refusal', [refused(500, 'InternalError')], 2, true],
    ['is stored although the object has changed', [refused(409, 'Conflict')], 2, true],
    [
      'is stored after a broken connection',
      [new TransportError({ message: 'x', safeToRepeat: false })],
      2,
      true,
    ],
    ['is stored with the third attempt', [refused(500, 'a'), refused(500, 'b')], 3, true],
    [
      'is left to the next reconcile after three attempts',
      Array.from({ length: 3 }, () => refused(500, 'a')),
      3,
      false,
    ],
    ['is not stored again after a defect', [new TypeError('bug')], 1, false],
  ] as const;
  for (const [title, errors, attempts, isStored] of cases)
    it(title, async () => {
      const left: Error[] = [...errors];
      let tried = 0;
      const on = stage({}, (write) => {
        const isResult = write.verb === 'merge' && JSON.stringify(write.body).includes('create-succeeded":"');
        if (isResult) tried++;
        return isResult ? left.shift() : undefined;
      });
      on.put();
      const outcome = await on.create();
      expect(tried).to.equal(attempts);
      if (!isStored) expect(outcome).to.equal(errors.at(-1));
      const stored = on.read().metadata.annotations?.['external.espalier.dev/create-succeeded'];
      expect(stored !== undefined).to.equal(isStored);
      expect(on.cloud.calls, 'created once').to.deep.equal([`create ${NAME}`]);
    });

  it('is stored for this object, and no other of its name', async () => {
    const on = stage();
    const { uid } = on.put().metadata;
    await on.create();
    expect(bodies(on.writes).map(({ metadata }) => Object.keys(metadata ?? {}))).to.deep.equal([
      ['resourceVersion', 'annotations', 'finalizers'],
      ['uid', 'annotations'],
    ]);
    expect(bodies(on.writes)[1]?.['metadata']).to.deep.include({ uid });
  });
});

describe('the spec of an external resource', () => {
  const version = (body: Record<string, object> | undefined) =>
    (body?.['metadata'] as { resourceVersion?: string } | undefined)?.resourceVersion;

  it('is completed by the choice of the service only in the version that was read', async () => {
    const on = stage();
    on.put({ size: 1 }, { finalizers: [FINALIZER] });
    on.cloud.things.set(NAME, { size: 1, state: 'ready' });
    on.cloud.lateTier = 'gold';
    const before = on.read().metadata.resourceVersion;
    await on.sync();
    expect(bodies(on.writes)[0]?.['spec']).to.deep.include({ tier: 'gold', size: 1 });
    expect(version(bodies(on.writes)[0])).to.equal(before);
    expect(on.events).to.include('LateInitialized');
  });

  it('is not written if the service chose nothing new', async () => {
    const on = stage();
    on.put({ size: 1 }, { finalizers: [FINALIZER], annotations: { 'external.espalier.dev/name': NAME } });
    on.cloud.observe = () =>
      Promise.resolve({ exists: true, upToDate: true, state: 'ready', lateInitialized: true });
    await on.sync();
    expect(bodies(on.writes)).to.deep.equal([]);
    expect(on.events).not.to.include('LateInitialized');
  });

  it('is initialized only in the version that was read, and not again', async () => {
    const on = stage({ initializers: [() => ({ spec: { tier: 'gold' } })] });
    on.put({ size: 1 }, { finalizers: [FINALIZER], annotations: { 'external.espalier.dev/name': NAME } });
    on.cloud.things.set(NAME, { size: 1, state: 'ready' });
    const before = on.read();
    await on.reconcile();
    expect(bodies(on.writes)).to.deep.equal([
      { metadata: { resourceVersion: before.metadata.resourceVersion }, spec: { tier: 'gold' } },
    ]);
    await on.reconcile();
    expect(bodies(on.writes)).to.have.length(1);
    on.cluster.edit(buckets, KEY, { spec: { size: 2, tier: null } });
    const refusal: unknown = await on.reconcile(before).catch((error: unknown) => error);
    expect(refusal).to.have.property('name', 'Conflict');
  });
});

describe('an external resource that nothing may be done with', () => {
  it('is paused, without a connection, if its policies allow nothing', async () => {
    const on = stage();
    on.put({ size: 1, managementPolicies: [] });
    expect(await on.reconcile()).to.deep.equal({ result: {} });
    expect([on.cloud.connects, on.cloud.looks]).to.deep.equal([0, []]);
    const paused = on.read().status?.conditions?.find(({ type }) => type === 'Paused');
    expect(paused).to.include({ status: 'True', reason: 'NothingAllowed' });
  });

  it('is left alone while it is being deleted without our finalizer', async () => {
    const on = stage();
    on.put({ size: 1 }, { finalizers: ['other'] });
    on.cluster.remove(buckets, KEY);
    expect(await on.reconcile()).to.deep.equal({ result: {} });
    expect([on.cloud.connects, on.writes]).to.deep.equal([0, []]);
  });
});

describe('connection details that cannot be deleted', () => {
  let scene: Scene;
  afterEach(() => scene.world.end());

  for (const reclaimPolicy of ['Retain', 'Delete'])
    for (const [what, error, isGone] of [
      ['are refused by the server, so the object', refused(403, 'Forbidden'), false],
      ['are already gone, so the object does not', refused(404, 'NotFound'), true],
    ] as const)
      it(`${what} stays (${reclaimPolicy})`, async () => {
        scene = createScene();
        scene.cloud.details = { a: 'b' };
        scene.cloud.things.set(NAME, { size: 1, state: 'ready' });
        scene.put({ size: 1, writeConnectionSecretToRef: { name: 'conn' }, reclaimPolicy });
        await scene.start();
        const { cluster, clock } = scene.world;
        expect(cluster.read(Secret, 'A/conn')).not.to.equal(undefined);
        cluster.fault = ({ verb, kind }) => (verb === 'delete' && kind === 'Secret' ? error : undefined);
        cluster.remove(buckets, KEY);
        await settle();
        await clock.advance(60_000);
        expect(scene.get() === undefined).to.equal(isGone);
        if (isGone) return;
        expect(scene.get()?.metadata.finalizers).to.deep.equal([FINALIZER]);
        expect(scene.condition('Failed')).to.include({ status: 'True', reason: 'UnpublishFailed' });
        cluster.fault = () => undefined;
        await clock.advance(60_000);
        expect([scene.get(), cluster.read(Secret, 'A/conn')]).to.deep.equal([undefined, undefined]);
      });
});
