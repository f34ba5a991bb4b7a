import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { FINALIZER } from '../../../src/api/labels.ts';
import { amendmentOf, Applier } from '../../../src/machine/apply.ts';
import {
  amend,
  create,
  patch,
  patchStatus,
  remove,
  replace,
  type Amendment,
  type Effect,
} from '../../../src/machine/decision.ts';
import { Conflict, NotFound } from '../../../src/runtime/errors.ts';
import type { Obj, Write } from '../../../src/runtime/types.ts';
import { installation } from '../../support/given.ts';

const ref = { verb: 'patch', kind: 'Installation' };
const conflict = (): Error => new Conflict({ message: 'changed', status: 409, reason: 'Conflict', ref });
const gone = (): Error => new NotFound({ message: 'gone', status: 404, reason: 'NotFound', ref });

interface Given {
  /** The responses of the writes, in order. */
  readonly answers: readonly (Obj | Error)[];
  /** The current object of that name. */
  readonly there?: Installation;
  readonly written?: Installation;
}

async function carryOut(effects: readonly Effect[], { answers, there, written }: Given) {
  const sent: Write[] = [];
  const write = (one: Write): Promise<Obj> => {
    const answer = answers[sent.push(one) - 1];
    if (!answer) throw new Error('a write too many');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const read = (): Promise<Obj> => Promise.resolve(there as unknown as Obj);
  const applier = new Applier({ write: write as never, read }, written);
  let error: unknown;
  try {
    for (const effect of effects) await applier.carryOut(effect);
  } catch (thrown) {
    error = thrown;
  }
  const versions = sent.map(
    (one) => (one as { body?: { metadata?: { resourceVersion?: string } } }).body?.metadata?.resourceVersion,
  );
  return { sent, versions, error };
}

const fresh = (uid: string, resourceVersion: string): Installation =>
  installation('web', { meta: { uid, resourceVersion, finalizers: [] } });
const answer = (one: Installation): Obj => one;

describe('carrying out effects', () => {
  const ours = fresh('one', '1');
  const addFinalizer = amend(installationKind, ours, { addFinalizer: FINALIZER });

  it('amends the newest version of an object that another client has changed', async () => {
    const there = fresh('one', '5');
    const { versions, error } = await carryOut([addFinalizer], {
      answers: [conflict(), answer(there)],
      there,
    });
    expect(error).to.equal(undefined);
    expect(versions).to.deep.equal(['1', '5']);
  });

  it('gives up amending an object that others write over and over', async () => {
    const there = fresh('one', '5');
    const { versions, error } = await carryOut([addFinalizer], {
      answers: Array.from({ length: 10 }, conflict),
      there,
    });
    expect(error).to.be.instanceOf(Conflict);
    expect(versions).to.deep.equal(['1', '5', '5', '5', '5']);
  });

  it('does not repeat an amendment that failed for another reason', async () => {
    const { sent, error } = await carryOut([addFinalizer], { answers: [gone()] });
    expect(error).to.be.instanceOf(NotFound);
    expect(sent).to.have.length(1);
  });

  it('writes no amendment that changes nothing', async () => {
    const effects = [amend(installationKind, installation('web'), { addFinalizer: FINALIZER })];
    expect(await carryOut(effects, { answers: [] })).to.deep.include({ sent: [], error: undefined });
  });

  const kind = installationKind;
  const next = { ...fresh('one', '9'), spec: { context: 'next', blueprint: {} } } as Installation;
  const writes: readonly (readonly [string, Effect, object])[] = [
    ['creates an object unchanged', create(kind, next), { verb: 'create', kind, object: next, lock: true }],
    [
      'replaces the version that was read',
      replace(kind, ours, next),
      { verb: 'replace', kind, object: { ...next, metadata: ours.metadata }, lock: true },
    ],
    [
      'patches the version that was read',
      patch(kind, ours, { metadata: { labels: { a: 'b' } }, spec: { context: 'x' } }),
      {
        verb: 'merge',
        kind,
        key: 'demo/web',
        lock: true,
        body: { metadata: { labels: { a: 'b' }, resourceVersion: '1' }, spec: { context: 'x' } },
      },
    ],
    [
      'patches the status separately',
      patchStatus(kind, ours, { jobID: 'j' }),
      {
        verb: 'merge',
        kind,
        key: 'demo/web',
        lock: true,
        sub: 'status',
        body: { metadata: { resourceVersion: '1' }, status: { jobID: 'j' } },
      },
    ],
  ];
  for (const [title, effect, sent] of writes) {
    it(title, async () => {
      expect((await carryOut([effect], { answers: [answer(next)] })).sent).to.deep.equal([sent]);
    });
  }

  it('does not replace an object that it has patched in the same reconcile', async () => {
    const effects = [patchStatus(kind, ours, { jobID: 'j' }), replace(kind, ours, next)];
    const { sent } = await carryOut(effects, { answers: [fresh('one', '7'), fresh('one', '8')].map(answer) });
    expect(sent[1]).to.have.nested.property('object.metadata.resourceVersion', '1');
  });

  it('amends an object that it has patched in the same reconcile', async () => {
    const effects = [patchStatus(kind, ours, { jobID: 'j' }), addFinalizer];
    const { versions } = await carryOut(effects, {
      answers: [fresh('one', '7'), fresh('one', '8')].map(answer),
    });
    expect(versions).to.deep.equal(['1', '7']);
  });

  it('does not amend another object created with the same name', async () => {
    const { sent, error } = await carryOut([addFinalizer], {
      answers: [conflict(), answer(ours)],
      there: fresh('two', '5'),
    });
    expect(error).to.be.instanceOf(Conflict);
    expect(sent).to.have.length(1);
  });

  it('deletes only the intended object, and counts a missing one as deleted', async () => {
    const { sent, error } = await carryOut([remove(installationKind, ours)], { answers: [gone()] });
    expect(error).to.equal(undefined);
    expect(sent).to.have.length(1);
    expect(sent[0]).to.include({ verb: 'delete', key: 'demo/web', uid: 'one' });
    const refused = await carryOut([remove(installationKind, ours)], { answers: [conflict()] });
    expect(refused.error).to.be.instanceOf(Conflict);
  });

  it('builds on its own writes to the same object, and not on those to another of that name', async () => {
    const effects = [1, 2].map(() => patchStatus(installationKind, ours, { jobID: 'j' }));
    const same = await carryOut(effects, { answers: [fresh('one', '7'), fresh('one', '8')].map(answer) });
    expect(same.versions).to.deep.equal(['1', '7']);
    const written = await carryOut(effects.slice(1), {
      answers: [answer(fresh('one', '8'))],
      written: fresh('one', '7'),
    });
    expect(written.versions).to.deep.equal(['7']);
    const other = await carryOut(effects.slice(1), {
      answers: [answer(fresh('one', '8'))],
      written: fresh('two', '7'),
    });
    expect(other.versions).to.deep.equal(['1']);
  });
});

describe('an amendment', () => {
  const rows: readonly (readonly [string, Amendment, object | undefined])[] = [
    ['nothing', {}, undefined],
    ['a finalizer beside others', { addFinalizer: 'new' }, { metadata: { finalizers: ['old', 'new'] } }],
    ['an existing finalizer', { addFinalizer: 'old' }, undefined],
    ['an annotation with this value', { dropAnnotations: { a: '1' } }, { metadata: { annotations: { a: null } } }],
    ['an annotation that has another value meanwhile', { dropAnnotations: { a: '2' } }, undefined],
    ['an annotation that is gone', { dropAnnotations: { b: '1' } }, undefined],
    ['a field that is empty', { specDefaults: { context: 'default' } }, { metadata: {}, spec: { context: 'default' } }],
    ['a field that has a value', { specDefaults: { type: 'default' } }, undefined],
    ['all of these', { addFinalizer: 'new', dropAnnotations: { a: '1', b: '1' }, specDefaults: { context: 'default', type: 'x' } }, { metadata: { finalizers: ['old', 'new'], annotations: { a: null } }, spec: { context: 'default' } }],
  ]; // prettier-ignore
  const object = {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x', finalizers: ['old'], annotations: { a: '1', c: '1' } },
    spec: { context: '', type: 'mine' },
  };
  for (const [what, change, body] of rows) {
    it(`for ${what} ${body ? 'contains only differences' : 'is not a write'}`, () => {
      expect(amendmentOf(object, change)).to.deep.equal(body);
    });
  }

  it('of an object without any of these contains all of them', () => {
    const bare = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x' } };
    const change = { addFinalizer: 'new', dropAnnotations: { a: '1' }, specDefaults: { context: 'default' } };
    expect(amendmentOf(bare, change)).to.deep.equal({
      metadata: { finalizers: ['new'] },
      spec: { context: 'default' },
    });
  });
});
