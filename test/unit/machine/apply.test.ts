import { expect } from 'chai';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { FINALIZER } from '../../../src/api/labels.ts';
import { Applier } from '../../../src/machine/apply.ts';
import { amend, patchStatus, remove, type Effect } from '../../../src/machine/decision.ts';
import { Conflict, NotFound } from '../../../src/runtime/errors.ts';
import type { Obj, Write } from '../../../src/runtime/types.ts';
import { installation } from '../../support/given.ts';

const ref = { verb: 'patch', kind: 'Installation' };
const conflict = (): Error => new Conflict('changed', { status: 409, reason: 'Conflict', ref });
const gone = (): Error => new NotFound('gone', { status: 404, reason: 'NotFound', ref });

interface Given {
  /** What each write is answered with, in their order. */
  readonly answers: readonly (Obj | Error)[];
  /** What is there under the name now. */
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

  it('amends the newest version of an object that somebody has changed', async () => {
    const there = fresh('one', '5');
    const { versions, error } = await carryOut([addFinalizer], {
      answers: [conflict(), answer(there)],
      there,
    });
    expect(error).to.equal(undefined);
    expect(versions).to.deep.equal(['1', '5']);
  });

  it('does not amend another object that came under the same name', async () => {
    const { sent, error } = await carryOut([addFinalizer], {
      answers: [conflict(), answer(ours)],
      there: fresh('two', '5'),
    });
    expect(error).to.be.instanceOf(Conflict);
    expect(sent).to.have.length(1);
  });

  it('deletes the object that was meant, and counts one that is gone as deleted', async () => {
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
