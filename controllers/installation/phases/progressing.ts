/**
 * Waits until everything below has finished the job, then succeeds or fails. Objects that lost the job, or were
 * created too late to receive it, receive it here, because no other controller would start them. In an interrupted
 * job they do not start.
 */
import { hasFinishedJob, isTriggeredFor } from '../../../src/api/job.ts';
import { causeOf, causesText, listed } from '../../../src/machine/causes.ts';
import { advance, fail, wait, type Problem } from '../../../src/machine/decision.ts';
import { interruptionOf } from '../../../src/landscape/item-end.ts';
import { waitForObjects } from '../awaiting.ts';
import { handDown, type SubObject } from '../job.ts';
import { ownExecution } from '../related-objects.ts';
import { phase, type Snapshot } from '../snapshot.ts';

type Below = Pick<Snapshot, 'self' | 'children' | 'execution'>;

export const progressing = phase({
  needs: ['children', 'execution', 'ancestors'],
  next: ['Completing'],
  decide(snapshot) {
    const jobID = snapshot.self.status?.jobID ?? '';
    const below = [...snapshot.children, ...ownExecution(snapshot)];
    const interruption = interruptionOf(snapshot.self, snapshot.ancestors);
    const unstarted = below.filter((o) => !isTriggeredFor(o, jobID));
    const running = below.filter(
      (o) => !hasFinishedJob(o, jobID) && !(interruption && !isTriggeredFor(o, jobID)),
    );
    const [first] = running;
    if (first) {
      const effects = interruption ? [] : handDown(snapshot, below);
      return wait(notFinished(first), { ...waitForObjects(snapshot, 'JobsUnfinished', running), effects });
    }
    if (interruption && unstarted.length > 0) return fail(interruption);

    const problems = [...missing(snapshot), ...failed(snapshot)];
    if (problems.length === 0) return advance('Completing');
    const message = problems.join('; ');
    return fail({ operation: 'buildErrorIfFailedChild', reason: 'children failed', message });
  },
});

function notFinished(object: SubObject): Problem {
  const { namespace, name } = object.metadata;
  return {
    operation: 'handlePhaseProgressing',
    reason: 'JobIDFinished',
    message: `${object.kind.toLowerCase()} ${namespace ?? ''} / ${name} is not finished yet`,
    codes: ['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY', 'ERR_NO_RETRY'],
  };
}

/** Objects that disappeared during the job count as failed, because they cannot report a failure themselves. */
function missing({ self, children, execution }: Below): string[] {
  const [own] = ownExecution({ self, execution });
  const existing = new Set(children.map((c) => c.metadata.name));
  const missingChildren = (self.status?.subInstCache?.activeSubs ?? [])
    .map((s) => s.objectName)
    .filter((n) => !existing.has(n));
  return [
    ...(missingChildren.length > 0 ? [`Missing sub-installation(s): ${listed(missingChildren)}`] : []),
    ...(self.status?.executionRef && !own ? ['Execution is missing'] : []),
  ];
}

/** Upstream's sentences, followed by the messages of the failed objects. */
function failed({ self, children, execution }: Below): string[] {
  const failedChildren = children.filter((c) => c.status?.phase !== 'Succeeded');
  const failedExecutions = ownExecution({ self, execution }).filter((e) => e.status?.phase !== 'Succeeded');
  return [
    ...(failedChildren.length > 0
      ? [
          `Failed sub-installation(s): ${listed(failedChildren.map((c) => c.metadata.name))}${causes(failedChildren)}`,
        ]
      : []),
    ...(failedExecutions.length > 0 ? [`Execution is failed${causes(failedExecutions)}`] : []),
  ];
}

function causes(objects: readonly SubObject[]): string {
  const found = objects
    .filter((o) => o.status?.lastError?.message)
    .map((o) => causeOf(o.metadata.name, o.status?.lastError));
  return found.length > 0 ? ` (${causesText(found)})` : '';
}
