/** Hands a job down to sub-installations and the execution, with the same write. Pure. */
import { isBeingDeleted, isTriggeredFor } from '../../src/api/job.ts';
import { TRUE, annotations } from '../../src/api/labels.ts';
import { executionKind, type Execution } from '../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { hasAnnotation } from '../../src/api/job.ts';
import { jobFor } from '../../src/landscape/job-start.ts';
import { patch, patchStatus, remove, touch, type Effect } from '../../src/machine/decision.ts';
import type { Kind, View } from '../../src/runtime/types.ts';

export type SubObject = View<Installation> | View<Execution>;

const kindOf = (object: SubObject): Kind =>
  object.kind === executionKind.kind ? executionKind : installationKind;

interface Parent {
  readonly self: View<Installation>;
  readonly now: string;
}

/**
 * Writes the job of `self` to the objects that do not have it yet. That write stores their first phase and starts
 * them.
 */
export function handDown({ self, now }: Parent, objects: readonly SubObject[]): Effect[] {
  const jobID = self.status?.jobID ?? '';
  return objects
    .filter((object) => !isTriggeredFor(object, jobID))
    .map((object) => patchStatus(kindOf(object), object, jobFor(object, jobID, now)));
}

/** Objects under deletion may have received the job in Init already, by a write that is still in flight. */
export const fence = (self: View<Installation>, objects: readonly SubObject[]): Effect[] =>
  objects
    .filter((o) => isBeingDeleted(o.metadata) && !isTriggeredFor(o, self.status?.jobID ?? ''))
    .map((o) => touch(kindOf(o), o));

/** Deletes objects that are not under deletion. The annotation that skips the uninstall is inherited. */
export function deleteAll({ self }: Parent, objects: readonly SubObject[]): Effect[] {
  const key = annotations.deleteWithoutUninstall;
  const skipsUninstall = hasAnnotation(self.metadata, key);
  return objects.flatMap((object): Effect[] => [
    ...(skipsUninstall && !hasAnnotation(object.metadata, key)
      ? [patch(kindOf(object), object, { metadata: { annotations: { [key]: TRUE } } })]
      : []),
    ...(isBeingDeleted(object.metadata) ? [] : [remove(kindOf(object), object)]),
  ]);
}

/** @param more annotations to set with it */
export const setOperation = (
  object: SubObject,
  operation: string,
  more: Readonly<Record<string, string>> = {},
): Effect =>
  patch(kindOf(object), object, {
    metadata: { annotations: { [annotations.operation]: operation, ...more } },
  });
