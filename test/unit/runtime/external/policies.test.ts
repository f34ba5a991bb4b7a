import { expect } from 'chai';
import { exactJson } from '../../../../src/lib/exact-json.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { DefinitionError } from '../../../../src/runtime/errors.ts';
import { Conditions } from '../../../../src/runtime/external/conditions.ts';
import { filledIn } from '../../../../src/runtime/external/late-initialization.ts';
import { Secret } from '../../../../src/runtime/core-kinds.ts';
import { settle } from '../../../support/clock.ts';
import { buckets, createScene, FINALIZER, KEY, made, NAME, type Bucket, type Scene } from './cloud.ts';

const CONN = { writeConnectionSecretToRef: { name: 'conn' } };
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the policies of an external resource', () => {
  let scene: Scene;
  beforeEach(() => {
    scene = createScene();
  });
  afterEach(() => scene.world.end());
  const there = async (spec: Bucket['spec'], more: object = {}): Promise<void> => {
    scene.cloud.things.set(NAME, { size: 1, state: 'ready' });
    const metadata = made(scene.world.clock.wall());
    scene.put({ size: 1, ...spec }, { ...metadata, annotations: { ...metadata.annotations, ...more } });
    await scene.start();
  };
  const deleted = async (): Promise<void> => {
    scene.world.cluster.remove(buckets, KEY);
    await settle();
  };

  it('RUN-114: Retain leaves the resource in place, without a call', async () => {
    await there({ reclaimPolicy: 'Retain' });
    const { connects } = scene.cloud;
    await deleted();
    expect(scene.get()).to.equal(undefined);
    expect(scene.cloud.connects).to.equal(connects);
    expect(scene.cloud.things.has(NAME)).to.equal(true);
  });

  it('RUN-114: Delete releases the object after the resource is observed to be gone', async () => {
    await there({ reclaimPolicy: 'Delete' });
    scene.cloud.deletesAtOnce = false;
    await deleted();
    expect(scene.get()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    scene.cloud.things.delete(NAME);
    const looks = scene.cloud.looks.length;
    await scene.world.clock.advance(30_000);
    expect(scene.cloud.looks.length).to.equal(looks + 1);
    expect(scene.get()).to.equal(undefined);
  });

  it('RUN-114: both delete the connection secret with them', async () => {
    for (const reclaimPolicy of ['Retain', 'Delete']) {
      scene = createScene();
      scene.cloud.details = { a: 'b' };
      await there({ ...CONN, reclaimPolicy });
      expect(scene.secret('conn')).to.not.equal(undefined);
      await deleted();
      await settle();
      expect(scene.get()).to.equal(undefined);
      expect(scene.secret('conn')).to.equal(undefined);
      if (reclaimPolicy === 'Retain') await scene.world.end();
    }
  });

  it('RUN-116: paused means one status write for each generation and no call, until it is resumed', async () => {
    scene.put({ size: 1 }, { annotations: { 'external.espalier.dev/paused': 'true' } });
    await scene.start();
    await scene.edit({ spec: { size: 2 } });
    await scene.world.clock.advance(600_000);
    const write = `merge status Bucket ${KEY}`;
    expect(scene.writes()).to.deep.equal([write, write]);
    expect(scene.cloud.connects).to.equal(0);
    expect(scene.active()).to.deep.equal(['Paused']);
    const [paused] = scene.get()?.status?.conditions ?? [];
    expect(paused?.observedGeneration).to.equal(2);
    await scene.edit({ metadata: { annotations: { 'external.espalier.dev/paused': null } } });
    expect(scene.cloud.calls).to.deep.equal([`create ${NAME}`]);
    expect(scene.active()).to.deep.equal(['Ready']);
  });

  it('RUN-116: paused blocks the deletion', async () => {
    await there({}, { 'external.espalier.dev/paused': 'true' });
    await deleted();
    expect(scene.cloud.connects).to.equal(0);
    await scene.edit({ metadata: { annotations: { 'external.espalier.dev/paused': null } } });
    expect(scene.get()).to.equal(undefined);
  });

  describe('RUN-X30: by its management policies', () => {
    const rows: readonly [string, string[], { thing?: number; delete?: boolean }, string[]][] = [
      ['create is skipped', ['Observe', 'Update'], {}, []],
      ['create is done', ['Observe', 'Create'], {}, [`create ${NAME}`]],
      ['update is skipped', ['Observe', 'Create', 'Delete'], { thing: 9 }, []],
      ['update is done', ['Observe', 'Update'], { thing: 9 }, [`update ${NAME}`]],
      ['deletion is skipped', ['Observe', 'Create', 'Update'], { thing: 1, delete: true }, []],
      ['deletion is done', ['Observe', 'Delete'], { thing: 1, delete: true }, [`delete ${NAME}`]],
      ['everything is done', ['*'], { thing: 9 }, [`update ${NAME}`]],
      ['nothing is done', [], { thing: 9 }, []],
    ];
    for (const [title, managementPolicies, { thing, delete: isDeleted }, calls] of rows) {
      it(`${title} with ${managementPolicies.join(', ') || 'none'}`, async () => {
        if (thing !== undefined) scene.cloud.things.set(NAME, { size: thing, state: 'ready' });
        scene.put({ size: 1, managementPolicies });
        await scene.start();
        if (isDeleted) await deleted();
        await scene.world.clock.advance(1_000);
        expect([...new Set(scene.cloud.calls)]).to.deep.equal(calls);
        expect(scene.get() ? scene.active() : []).to.not.include('Failed');
        if (isDeleted) expect(scene.get()).to.equal(undefined);
      });
    }

    it('an object that is only observed gets no finalizer', async () => {
      scene.cloud.things.set(NAME, { size: 9, state: 'ready' });
      scene.put({ size: 1, managementPolicies: ['Observe'] });
      await scene.start();
      expect(scene.get()?.metadata.finalizers).to.equal(undefined);
      expect(scene.get()?.status).to.deep.include({ id: NAME, state: 'ready' });
      expect(scene.writes()).to.deep.equal([`merge status Bucket ${KEY}`]);
    });

    it('an object that is only observed is neither Ready nor Synced while the resource does not exist, and says so', async () => {
      scene.put({ size: 1, managementPolicies: ['Observe'] });
      await scene.start();
      expect(scene.condition('Ready')).to.deep.include({ status: 'False', reason: 'NotFound' });
      expect(scene.condition('Ready')?.message).to.include(NAME);
      expect(scene.condition('Synced')).to.deep.include({ status: 'False', reason: 'NotFound' });
      expect(scene.writes()).to.have.length(1);
      await scene.world.clock.advance(60_000);
      expect(scene.writes()).to.have.length(1);
      scene.cloud.things.set(NAME, { size: 1, state: 'ready' });
      await scene.world.clock.advance(60_000);
      expect(scene.active()).to.deep.equal(['Ready']);
    });

    for (const [spec, part] of [
      [{ managementPolicies: ['Observe', 'Destroy'] }, '"Destroy"'],
      [{ managementPolicies: ['Create'] }, '"Observe"'],
      [{ reclaimPolicy: 'Keep' }, '"Keep"'],
      [{ reclaimPolicy: 9_007_199_254_740_993n }, 'is 9007199254740993;'],
      [{ managementPolicies: ['Observe', 9_007_199_254_740_993n] }, 'has 9007199254740993;'],
    ] as const) {
      it(`an invalid policy is rejected: ${exactJson(spec)}`, async () => {
        scene.put(spec as unknown as Bucket['spec']);
        await scene.start();
        await scene.world.clock.advance(600_000);
        expect(scene.condition('Failed')).to.deep.include({ reason: 'InvalidPolicy' });
        expect(scene.condition('Failed')?.message).to.include(part);
        expect(scene.cloud.connects).to.equal(0);
      });
    }

    it('missing fields are filled in with the choice of the service, and given ones stay', async () => {
      scene.cloud.lateTier = 'standard';
      await there({});
      expect(scene.get()?.spec).to.deep.equal({ size: 1, tier: 'standard' });
      expect(scene.cloud.calls).to.deep.equal([]);
      expect(scene.get()?.status?.observedGeneration).to.equal(2);
    });

    it('missing fields stay missing without LateInitialize', async () => {
      scene.cloud.lateTier = 'standard';
      await there({ managementPolicies: ['Observe', 'Create', 'Update', 'Delete'] });
      expect(scene.get()?.spec?.tier).to.equal(undefined);
    });
  });

  it('RUN-117: polls of a thousand objects are spread over 54 to 66 seconds', async () => {
    await scene.world.end();
    scene = createScene({}, { rng: seededRng(7) });
    const { clock } = scene.world;
    for (let i = 0; i < 1_000; i++) {
      scene.cloud.things.set(`bucket-uid-${String(i + 1)}`, { size: 1, state: 'ready' });
      scene.put({ size: 1 }, {}, String(i));
    }
    await scene.start();
    await clock.advance(1_000);
    scene.connectedAt.length = 0;
    await clock.advance(68_000);
    const moments = scene.connectedAt;
    expect(moments.length).to.equal(1_000);
    expect(Math.min(...moments)).to.be.within(54, 56);
    expect(Math.max(...moments)).to.be.within(64, 67);
    const early = moments.filter((at) => at < 60).length;
    expect(early).to.be.within(400, 600);
  }).timeout(60_000);

  it('RUN-117: an object may set another interval, but not below the minimum', async () => {
    await there({}, { 'external.espalier.dev/poll-interval': '1s' });
    scene.connectedAt.length = 0;
    await scene.world.clock.advance(25_000);
    expect(scene.connectedAt).to.deep.equal([10, 20]);
    await scene.edit({ metadata: { annotations: { 'external.espalier.dev/poll-interval': '1h' } } });
    scene.connectedAt.length = 0;
    await scene.world.clock.advance(3_600_000);
    expect(scene.connectedAt).to.deep.equal([25 + 3_600].filter((at) => at <= 3_625));
  });

  it('RUN-117: an invalid interval is reported, and the one of the kind is used', async () => {
    await there({}, { 'external.espalier.dev/poll-interval': 'often' });
    scene.connectedAt.length = 0;
    await scene.world.clock.advance(60_000);
    expect(scene.connectedAt).to.deep.equal([60]);
    const notes = scene.world.cluster.requests.filter(({ kind }) => kind === 'Event').map(({ body }) => body);
    expect(JSON.stringify(notes)).to.include('InvalidPollInterval').and.include('often');
  });

  describe('the place of its connection details', () => {
    const foreign = (more: object = {}) =>
      scene.world.cluster.put(Secret, {
        metadata: {
          namespace: 'A',
          name: 'conn',
          labels: { 'external.espalier.dev/connection': 'true' },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'u-9', controller: true }],
          ...more,
        },
        data: { mine: base64('yes') },
      });
    beforeEach(() => {
      scene.cloud.details = { token: 'hush' };
    });

    it('RUN-115: is not a secret of another owner, and Failed reports why', async () => {
      foreign();
      await there(CONN);
      expect(scene.secret('conn')?.data).to.deep.equal({ mine: base64('yes') });
      expect(scene.condition('Failed')).to.deep.include({ reason: 'PublishFailed' });
      expect(scene.condition('Failed')?.message).to.include('A/conn').and.include('Other x');
      expect(scene.active()).to.include('Ready');
    });

    it('RUN-115: is not a secret without an owner either', async () => {
      foreign({ ownerReferences: [], labels: {} });
      await there(CONN);
      expect(scene.secret('conn')?.data).to.deep.equal({ mine: base64('yes') });
      expect(scene.condition('Failed')?.message).to.include('an unknown owner');
    });

    it('RUN-115: is not written if the data are equal, and keeps its old keys', async () => {
      await there(CONN);
      const secrets = (): number =>
        scene.world.cluster.writes.filter((write) => write.includes('Secret')).length;
      expect(secrets()).to.equal(1);
      await scene.world.clock.advance(120_000);
      expect(secrets()).to.equal(1);
      scene.cloud.details = { endpoint: 'https://x' };
      await scene.world.clock.advance(60_000);
      expect(secrets()).to.equal(2);
      expect(scene.secret('conn')?.data).to.deep.equal({
        token: base64('hush'),
        endpoint: base64('https://x'),
      });
    });

    it('RUN-115: is a typed secret that the object owns', async () => {
      await there(CONN);
      const { type, metadata } = scene.secret('conn') ?? {};
      expect(type).to.equal('external.espalier.dev/connection');
      expect(metadata?.ownerReferences).to.deep.equal([
        {
          apiVersion: 'example.io/v1',
          kind: 'Bucket',
          name: '1',
          uid: 'uid-1',
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    });

    it('RUN-115: is written again at once if a user deletes it', async () => {
      await there(CONN);
      scene.world.cluster.remove(Secret, 'A/conn');
      await settle();
      expect(scene.secret('conn')?.data).to.deep.equal({ token: base64('hush') });
    });

    it('RUN-115: gets its label back if that was removed', async () => {
      await there(CONN);
      scene.world.cluster.edit(Secret, 'A/conn', { metadata: { labels: null }, data: null });
      await scene.world.clock.advance(60_000);
      expect(scene.secret('conn')?.data).to.deep.equal({ token: base64('hush') });
      expect(scene.secret('conn')?.metadata.labels).to.deep.equal({
        'external.espalier.dev/connection': 'true',
      });
    });

    it('has a watch as narrow as that of the objects', async () => {
      await scene.world.end();
      scene = createScene({ cache: { namespaces: ['A'] } });
      const names = [...scene.world.caches.all()].map(({ name }) => name);
      expect(names).to.include('secrets[ns=A][external.espalier.dev/connection=true]');
    });

    it('is not in another namespace, where it would not be garbage collected', async () => {
      await there({ writeConnectionSecretToRef: { name: 'conn', namespace: 'B' } });
      expect(scene.condition('Failed')?.message).to.include('B/conn').and.include('A');
    });

    it('and nowhere else: not in status, events or messages', async () => {
      foreign();
      await there(CONN);
      await scene.world.clock.advance(60_000);
      const everything = JSON.stringify([
        scene.get(),
        scene.world.cluster.requests.filter(({ kind }) => kind !== 'Secret'),
      ]);
      expect(everything).to.not.include('hush').and.not.include(base64('hush'));
    });
  });

  it('cannot be described in an invalid way', () => {
    expect(() => createScene({ pollMs: 0 })).to.throw(DefinitionError, 'pollMs');
    expect(() => createScene({ finalizer: 'nonsense' })).to.throw(DefinitionError, 'nonsense');
  });
});

describe('the conditions of an external resource', () => {
  const ready = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: 'then',
    reason: 'Available',
    message: '',
  } as const;

  it('keep the time of those that did not change, whatever happened in between', () => {
    const conditions = new Conditions([ready]);
    conditions.note('observe unknown', 'StateUnknown');
    conditions.note('observe ready', 'Available');
    expect(conditions.render('now')).to.deep.equal([ready]);
  });

  it('have one entry for each type, and none for those that were never True', () => {
    const conditions = new Conditions([]);
    conditions.note('succeed', 'Observed');
    conditions.note('observe ready', 'Available');
    conditions.note('fail', 'No', 'why');
    conditions.note('fail', 'No', 'why else');
    expect(conditions.render('now')).to.deep.equal([
      { ...ready, lastTransitionTime: 'now' },
      { type: 'Failed', status: 'True', lastTransitionTime: 'now', reason: 'No', message: 'why else' },
    ]);
  });

  it('do not change those of others', () => {
    const other = { ...ready, type: 'Synced', status: 'Unknown' } as const;
    const conditions = new Conditions([other]);
    conditions.note('begin delete', 'DeletionRequested');
    expect(conditions.render('now')[0]).to.deep.equal(other);
  });

  it('RUN-X9: Deleting ends Creating, Updating and Ready', () => {
    const conditions = new Conditions(
      ['Creating', 'Updating', 'Ready', 'Failed'].map((type) => ({ ...ready, type })),
    );
    conditions.note('begin delete', 'DeletionRequested');
    const active = conditions.render('now').filter(({ status }) => status === 'True');
    expect(active.map(({ type }) => type)).to.deep.equal(['Failed', 'Deleting']);
  });
});

describe('the choice of a service for missing fields', () => {
  it('fills gaps at every depth, and changes no existing value', () => {
    const spec = { a: 1, deep: { b: 'given', list: [1] }, off: false };
    const filled = {
      a: 2,
      deep: { b: 'chosen', c: 'new', list: [1, 2] },
      off: true,
      e: { f: 1 },
      none: null,
    };
    expect(filledIn(spec, filled)).to.deep.equal({
      a: 1,
      deep: { b: 'given', c: 'new', list: [1] },
      off: false,
      e: { f: 1 },
    });
    expect(spec).to.deep.equal({ a: 1, deep: { b: 'given', list: [1] }, off: false });
  });
});
