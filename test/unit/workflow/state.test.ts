/** Where dependents store their own state. */
import { expect } from 'chai';
import { sha1Name } from '../../../src/lib/hash.ts';
import { apiErrorFrom } from '../../../src/runtime/errors.ts';
import type { Caches, Context, Obj, View, Write } from '../../../src/runtime/types.ts';
import { StateStore, type StateChoice } from '../../../src/workflow/state.ts';
import { FakeClock } from '../../support/clock.ts';
import { widgets, type Widget } from '../runtime/support/world.ts';
import { contextOn, primary } from './support.ts';

interface Note extends Obj {
  data?: Record<string, string>;
}
type Annotations = Record<string, string>;
const owner = {
  apiVersion: 'example.io/v1',
  kind: 'Widget',
  name: 'a',
  uid: 'uid-a',
  controller: true,
  blockOwnerDeletion: true,
};
const annotationsOf = (item: string, more: Annotations = {}, dependent = 'bucket'): Annotations => ({
  'espalier.dev/state-of': dependent,
  'espalier.dev/state-item': item,
  ...more,
});
const PENDING = { 'espalier.dev/pending': 'yes' };
const noteOf = (metadata: object = {}, data?: Record<string, string>): Note => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'ns',
    name: 'a-bucket',
    labels: { 'espalier.dev/state': 'kept' },
    annotations: annotationsOf(''),
    ...metadata,
  },
  ...(data && { data }),
});
const owned = { uid: 'u', resourceVersion: '7', ownerReferences: [owner] };
const refused = (status: number, reason: string) =>
  apiErrorFrom(status, { reason }, { verb: 'x', kind: 'ConfigMap' });

/** A reconcile in which the cache has `cached`, the cluster `live`, and the first write fails with `refusal`. */
function runWith(
  given: { readonly cached?: readonly Note[]; readonly live?: Note; readonly refusal?: Error } = {},
) {
  const { cached = [], live, refusal } = given;
  const writes: Write[] = [];
  const ctx: Context<Widget> = contextOn(new FakeClock(), {
    secondaries: () => cached as never,
    write(write) {
      writes.push(write);
      return refusal && writes.length === 1 ? Promise.reject(refusal) : Promise.resolve({} as never);
    },
    live: {
      get: () => (live ? Promise.resolve(live as never) : Promise.reject(refused(404, 'NotFound'))),
      list: () => expect.fail('nothing is listed'),
    },
  });
  return { ctx, writes };
}
const storeOf = (choice: StateChoice = {}) => new StateStore<Widget>('bucket', choice);
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => error,
  );

describe('the states of a primary', () => {
  const entries = (choice: StateChoice, ...cached: readonly Note[]) =>
    [...storeOf(choice).all(runWith({ cached }).ctx)].map(([item, { state, isPending }]) => [
      item,
      state,
      isPending,
    ]);
  for (const [title, note, expected] of [
    [
      'are the stored ones, by items',
      noteOf({ annotations: annotationsOf('x') }, { id: '42' }),
      [['x', { id: '42' }, false]],
    ],
    ['are empty before anything is stored', noteOf(), [['', {}, false]]],
    [
      'are pending while the resource is being created',
      noteOf({ annotations: annotationsOf('', PENDING) }),
      [['', {}, true]],
    ],
    [
      'have no item if none is named',
      noteOf({ annotations: { 'espalier.dev/state-of': 'bucket' } }),
      [['', {}, false]],
    ],
    ['exclude those of another dependent', noteOf({ annotations: annotationsOf('', {}, 'other') }), []],
    ['exclude objects without annotations', noteOf({ annotations: undefined }), []],
  ] as const) {
    it(title, () => {
      expect(entries({}, note)).to.deep.equal(expected);
    });
  }
  it('are decoded from Secrets', () => {
    const note = noteOf({}, { id: Buffer.from('42').toString('base64') });
    expect(entries({ kind: 'Secret' }, note)).to.deep.equal([['', { id: '42' }, false]]);
  });
  it('are read from one source for all dependents that store them in the same kind', () => {
    expect(storeOf().source).to.equal('state in configmaps');
    expect(storeOf({ kind: 'Secret' }).source).to.equal('state in secrets');
  });
  it('are synced before other sources start, and are watched by their label', () => {
    const asked: unknown[] = [];
    const caches = {
      of(kind: unknown, options: unknown) {
        asked.push(options);
        return { kind };
      },
    } as unknown as Caches;
    const controller = { name: 'widgets', kind: widgets, fieldManager: 'widgets' };
    const { source } = storeOf().parts.createSource({ controller, caches, isSeparate: false });
    expect(source.stage).to.equal('state');
    expect(asked).to.deep.equal([{ labels: 'espalier.dev/state' }]);
  });
});

describe('storing a state', () => {
  const keep = async (
    { ctx }: { readonly ctx: Context<Widget> },
    state: Record<string, string> | undefined,
    item = '',
    choice: StateChoice = {},
    p: View<Widget> = primary,
  ) => failureOf(storeOf(choice).keep(item, state, p, ctx));
  const createdIn = (run: { readonly writes: readonly Write[] }): Note | undefined => {
    const [write] = run.writes;
    return write?.verb === 'create' ? write.object : undefined;
  };

  it('creates an object that the primary owns', async () => {
    const run = runWith();
    await keep(run, { id: '42' });
    expect(run.writes).to.have.length(1);
    expect(createdIn(run)).to.deep.equal(noteOf({ ownerReferences: [owner] }, { id: '42' }));
  });
  it('records that the resource is about to be created', async () => {
    const run = runWith();
    await keep(run, undefined);
    const annotations = annotationsOf('', PENDING);
    expect(createdIn(run)).to.deep.equal(noteOf({ ownerReferences: [owner], annotations }, {}));
  });
  it('encodes it in a Secret', async () => {
    const run = runWith();
    await keep(run, { id: '42' }, '', { kind: 'Secret' });
    expect(createdIn(run)).to.deep.include({
      kind: 'Secret',
      data: { id: Buffer.from('42').toString('base64') },
    });
  });
  for (const [title, name, item, expected] of [
    ['is named after the primary and the dependent', 'a', '', 'a-bucket'],
    ['is named after its item as well', 'a', 'x', 'a-bucket-x'],
    ['has the longest name', 'a', 'x'.repeat(191), `a-bucket-${'x'.repeat(191)}`],
    [
      'is named by a hash if the name would be too long',
      'a',
      'x'.repeat(192),
      `state-${sha1Name(`a/bucket/${'x'.repeat(192)}`)}`,
    ],
    [
      'is named by a hash if the item cannot be part of a name',
      'a',
      'X/y',
      `state-${sha1Name('a/bucket/X/y')}`,
    ],
  ] as const) {
    it(`creates an object that ${title}`, async () => {
      const run = runWith();
      await keep(run, {}, item, {}, { ...primary, metadata: { ...primary.metadata, name } });
      expect(createdIn(run)?.metadata.name).to.equal(expected);
    });
  }
  const clusterScoped: View<Widget> = { ...primary, metadata: { name: 'a', uid: 'uid-a' } };
  it('of a cluster-scoped primary needs a namespace', async () => {
    const run = runWith();
    expect(String(await keep(run, {}, '', {}, clusterScoped))).to.include(
      'dependent "bucket" of Widget a: a cluster-scoped primary needs a namespace for its state',
    );
    await keep(run, {}, '', { namespace: 'states' }, clusterScoped);
    expect(createdIn(run)?.metadata.namespace).to.equal('states');
  });

  const overwritten = (data: object, annotations: object = {}) => ({
    verb: 'merge',
    key: 'ns/a-bucket',
    lock: true,
    body: {
      metadata: {
        resourceVersion: '7',
        annotations: { 'espalier.dev/pending': null, ...annotationsOf(''), ...annotations },
      },
      data,
    },
  });
  const withoutKind = ({ kind: _, ...write }: Write): object => write;
  for (const [title, before, state, expected] of [
    [
      'removes keys that are no longer stored',
      { id: '41', old: 'x' },
      { id: '42' },
      overwritten({ id: '42', old: null }),
    ],
    ['adds to an object without data', undefined, { id: '42' }, overwritten({ id: '42' })],
    ['empties the object', { id: '41' }, {}, overwritten({ id: null })],
    ['marks the object as pending', { id: '41' }, undefined, overwritten({ id: null }, PENDING)],
  ] as const) {
    it(title, async () => {
      const run = runWith({ cached: [noteOf(owned, before)] });
      await keep(run, state);
      expect(run.writes.map(withoutKind)).to.deep.equal([expected]);
    });
  }

  const exists = refused(409, 'AlreadyExists');
  it('overwrites its own object if the cache does not have it yet', async () => {
    const run = runWith({ refusal: exists, live: noteOf(owned, { id: '41' }) });
    expect(await keep(run, { id: '42' })).to.equal('no failure');
    expect(run.writes.map(({ verb }) => verb)).to.deep.equal(['create', 'merge']);
  });
  it('treats an object without an item as that of a single dependent', async () => {
    const live = noteOf({ ...owned, annotations: { 'espalier.dev/state-of': 'bucket' } });
    expect(await keep(runWith({ refusal: exists, live }), {})).to.equal('no failure');
  });
  const other = { ...owner, uid: 'other' };
  for (const [title, live] of [
    ['without an owner', noteOf({ ...owned, ownerReferences: undefined })],
    ['of another primary', noteOf({ ...owned, ownerReferences: [other] })],
    ['of another dependent', noteOf({ ...owned, annotations: annotationsOf('', {}, 'other') })],
    ['of another item', noteOf({ ...owned, annotations: annotationsOf('x') })],
    ['without annotations', noteOf({ ...owned, annotations: undefined })],
  ] as const) {
    it(`does not overwrite an object ${title}`, async () => {
      const run = runWith({ refusal: exists, live });
      const failure = await keep(run, { id: '42' });
      expect(String(failure)).to.include(
        `dependent "bucket" of Widget ns/a: ConfigMap ns/a-bucket, which should store its state, belongs to another owner`,
      );
      expect(failure).to.have.property('cause', exists);
      expect(run.writes).to.have.length(1);
    });
  }
  it('overwrites an object that the primary owns together with others', async () => {
    const live = noteOf({ ...owned, ownerReferences: [other, owner] });
    expect(await keep(runWith({ refusal: exists, live }), {})).to.equal('no failure');
  });
  it('fails with any other rejection', async () => {
    const refusal = refused(403, 'Forbidden');
    expect(await keep(runWith({ refusal, live: noteOf(owned) }), {})).to.equal(refusal);
  });
});

describe('deleting a state', () => {
  const drop = async (note: Note, refusal?: Error) => {
    const run = runWith({ cached: [note], ...(refusal && { refusal }) });
    const store = storeOf();
    const failures = [];
    for (const stored of store.all(run.ctx).values())
      failures.push(await failureOf(store.drop(stored, run.ctx)));
    return { failure: failures[0], write: run.writes[0] };
  };
  for (const [title, metadata, uid] of [
    ['deletes the object', { uid: 'u' }, { uid: 'u' }],
    ['deletes an object without a uid by its name', {}, {}],
  ] as const) {
    it(title, async () => {
      const { kind: _, ...write } = (await drop(noteOf(metadata))).write ?? {};
      expect(write).to.deep.equal({ verb: 'delete', key: 'ns/a-bucket', ...uid });
    });
  }
  it('succeeds if the object is gone', async () => {
    expect((await drop(noteOf(owned), refused(404, 'NotFound'))).failure).to.equal('no failure');
  });
  it('fails with any other rejection', async () => {
    const refusal = refused(403, 'Forbidden');
    expect((await drop(noteOf(owned), refusal)).failure).to.equal(refusal);
  });
});
