/** A Job is ready if it has completed. One that has failed does not run again. */
import { conditionOf, fieldAt, isTrue, messageIn, numberAt } from './fields.ts';
import { failed, notReady, ready, type Verdict } from './verdict.ts';

export function job(object: unknown): Verdict {
  const failure = conditionOf(object, 'Failed');
  if (failure && isTrue(failure))
    return failed(
      `the job has failed: ${messageIn(failure)}; to run it again, delete it, or change its name, and start a new job`,
    );
  if (isTrue(conditionOf(object, 'Complete'))) return ready;
  if (fieldAt(object, 'spec', 'suspend') === true) return notReady('the job is suspended');
  const [active, missed] = [numberAt(object, ['status', 'active']), numberAt(object, ['status', 'failed'])];
  const tries = missed === 0 ? '' : `, failed pods: ${String(missed)}`;
  return notReady(`the job has not completed (active pods: ${String(active)}${tries})`);
}
