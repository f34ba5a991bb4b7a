import { expect } from 'chai';
import { annotations } from '../../../src/api/labels.ts';
import { endItem, interruptionOf, interruptAnnotations } from '../../../src/landscape/item-end.ts';
import { NOW, deleting, done, execution, installation, item, running } from '../../support/given.ts';

const problem = { operation: 'o', reason: 'r', message: 'm' };
const told = { ...problem, lastTransitionTime: NOW, lastUpdateTime: NOW };
const end = { problem, now: NOW, jobID: 'j2', observedGeneration: 3 };

describe('a deploy item whose job the core ends instead of its deployer', () => {
  it('has the final phase, the finished job and the reason in one write of its status', () => {
    expect(endItem(item('plan', 'a', running('j2')), end)).to.deep.include({
      do: 'patch',
      sub: 'status',
      body: {
        status: {
          phase: 'Failed',
          jobID: 'j2',
          jobIDFinished: 'j2',
          observedGeneration: 3,
          transitionTimes: { finishedTime: NOW },
          lastError: { ...told, codes: null },
          firstError: told,
          lastErrors: [told],
        },
      },
    });
  });

  const statusOf = (...[object, more]: [Parameters<typeof endItem>[0], object?]) =>
    (endItem(object, { ...end, ...more }) as unknown as { body: { status: object } }).body.status;

  it('ends in the phase of a failed deletion if it is being deleted', () => {
    expect(statusOf(item('plan', 'a', running('j2'), deleting))).to.include({ phase: 'DeleteFailed' });
  });

  it('has the codes of the reason, which are removed if there are none', () => {
    const codes = ['ERR_FOR_INFO_ONLY'];
    expect(statusOf(item('plan', 'a'), { problem: { ...problem, codes } })).to.deep.include({
      lastError: { ...told, codes },
      firstError: { ...told, codes },
    });
  });

  it('keeps its first error, and the last five of the others', () => {
    const errors = ['1', '2', '3', '4', '5'].map((message) => ({ ...told, message }));
    const status = { ...running('j2'), firstError: errors[0], lastErrors: errors };
    expect(statusOf(item('plan', 'a', status))).to.deep.include({
      firstError: errors[0],
      lastErrors: [...errors.slice(1), told],
    });
  });

  it('may have no status yet', () => {
    const { status: _, ...bare } = item('plan', 'a');
    expect(statusOf(bare)).to.deep.include({ firstError: told, lastErrors: [told] });
  });
});

describe('an interrupt', () => {
  it('is removed from the object and stored with the job that it ends', () => {
    expect(interruptAnnotations(execution('plan', { status: running('j1') }))).to.deep.equal({
      [annotations.operation]: null,
      [annotations.interruptedJob]: 'j1',
    });
  });

  it('is only removed if no job runs', () => {
    for (const self of [execution('plan', { status: done('j1') }), execution('plan')])
      expect(interruptAnnotations(self)).to.deep.equal({ [annotations.operation]: null });
  });

  const stopped = (job: string) => ({ annotations: { [annotations.interruptedJob]: job } });
  const at = (name: string, job: string, meta = {}) => installation(name, { status: running(job), meta });
  const rows: readonly (readonly [string, Parameters<typeof interruptionOf>, string | undefined])[] = [
    ['of the object itself', [at('a', 'j1', stopped('j1')), [at('top', 'j1')]], 'operation was interrupted'],
    ['of an object above', [at('a', 'j1'), [at('mid', 'j1'), at('top', 'j1', stopped('j1'))]], 'operation was interrupted at installation "top" above'],
    ['of an earlier job', [at('a', 'j2', stopped('j1')), [at('top', 'j2')]], undefined],
    ['of another job above', [at('a', 'j1'), [at('top', 'j2', stopped('j2'))]], undefined],
    ['without a job', [installation('a', { meta: stopped('') }), []], undefined],
  ]; // prettier-ignore
  for (const [where, [self, owners], message] of rows) {
    it(`${where} ${message ? 'prevents the job from starting more objects' : 'has no effect'}`, () => {
      expect(interruptionOf(self, owners)).to.deep.equal(
        message && {
          operation: 'InterruptOperation',
          reason: 'InterruptOperation',
          message,
          codes: ['ERR_FOR_INFO_ONLY'],
        },
      );
    });
  }
});
