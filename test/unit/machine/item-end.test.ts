import { expect } from 'chai';
import { annotations } from '../../../src/api/labels.ts';
import { endItem, interruptionOf, interruptAnnotations } from '../../../src/landscape/item-end.ts';
import { NOW, deleting, done, execution, installation, item, running } from '../../support/given.ts';

const problem = { operation: 'o', reason: 'r', message: 'm' };
const told = { ...problem, lastTransitionTime: NOW, lastUpdateTime: NOW };
const end = { problem, now: NOW, jobID: 'j2', observedGeneration: 3 };

describe('a deploy item whose job is ended in the place of its deployer', () => {
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

  it('ends in the phase of a failed deletion when it is being deleted', () => {
    expect(statusOf(item('plan', 'a', running('j2'), deleting))).to.include({ phase: 'DeleteFailed' });
  });

  it('has the codes of the reason, which are taken away when there are none', () => {
    const codes = ['ERR_FOR_INFO_ONLY'];
    expect(statusOf(item('plan', 'a'), { problem: { ...problem, codes } })).to.deep.include({
      lastError: { ...told, codes },
      firstError: { ...told, codes },
    });
  });

  it('keeps its first error, and of the others the last five', () => {
    const errors = ['1', '2', '3', '4', '5'].map((message) => ({ ...told, message }));
    const status = { ...running('j2'), firstError: errors[0], lastErrors: errors };
    expect(statusOf(item('plan', 'a', status))).to.deep.include({
      firstError: errors[0],
      lastErrors: [...errors.slice(1), told],
    });
  });

  it('may have had no status yet', () => {
    const { status: _, ...bare } = item('plan', 'a');
    expect(statusOf(bare)).to.deep.include({ firstError: told, lastErrors: [told] });
  });
});

describe('an interrupt', () => {
  it('is taken off the object and remembered for the job that it ends', () => {
    expect(interruptAnnotations(execution('plan', { status: running('j1') }))).to.deep.equal({
      [annotations.operation]: null,
      [annotations.interruptedJob]: 'j1',
    });
  });

  it('is only taken off where no job runs', () => {
    for (const self of [execution('plan', { status: done('j1') }), execution('plan')])
      expect(interruptAnnotations(self)).to.deep.equal({ [annotations.operation]: null });
  });

  const stopped = (job: string) => ({ annotations: { [annotations.interruptedJob]: job } });
  const at = (name: string, job: string, meta = {}) => installation(name, { status: running(job), meta });
  const rows: readonly (readonly [string, Parameters<typeof interruptionOf>, string | undefined])[] = [
    ['at the object itself', [at('a', 'j1', stopped('j1')), [at('top', 'j1')]], 'operation was interrupted'],
    ['at an object above', [at('a', 'j1'), [at('mid', 'j1'), at('top', 'j1', stopped('j1'))]], 'operation was interrupted at installation "top" above'],
    ['of an earlier job', [at('a', 'j2', stopped('j1')), [at('top', 'j2')]], undefined],
    ['of another job above', [at('a', 'j1'), [at('top', 'j2', stopped('j2'))]], undefined],
    ['where there is no job', [installation('a', { meta: stopped('') }), []], undefined],
  ]; // prettier-ignore
  for (const [where, [self, owners], message] of rows) {
    it(`${where} ${message ? 'is why the job starts nothing more' : 'holds up nothing'}`, () => {
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
