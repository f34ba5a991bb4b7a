/** Jobs that no controller or deployer starts or continues. Pure. */
import { isFinalPhase, isFinished, isSuspended } from '../../api/job.ts';
import { annotations, operations } from '../../api/labels.ts';
import { isPickedUp } from '../../landscape/pickup.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import type { Obj, View } from '../../runtime/types.ts';
import { notPickedUpIn } from './not-picked-up.ts';
import { nameOf, objectsIn, someOf, type Findable, type Finding } from './findable.ts';
import { rootFinder } from './roots.ts';
import { selfCommand } from '../self-command.ts';

/** No job runs, but the phase is one of a running job: no controller continues it. */
export function phaseWithoutJob(all: Findable): readonly Finding[] {
  const rootOf = rootFinder(all);
  return objectsIn(all)
    .filter((one) => isFinished(one) && Boolean(one.status?.phase) && !isFinalPhase(one.status?.phase))
    .map((one) => ({
      check: 'phase-without-job',
      object: nameOf(one),
      evidence: `phase is "${one.status?.phase ?? ''}", but jobIDFinished equals jobID "${one.status?.jobID ?? ''}"`,
      risk: 'starts a job of the whole tree',
      command: `${selfCommand()} installations reconcile ${rootOf(one)} -n ${one.metadata.namespace ?? ''}`,
    }));
}

/** The operation that a user requests and no controller has begun; undefined if there is none. */
export function requestedOperation({ metadata }: View<Obj>): string | undefined {
  const operation = metadata.annotations?.[annotations.operation];
  return operation === operations.reconcile || operation === operations.interrupt ? operation : undefined;
}

/** Controllers begin a requested job within seconds, even if many others run. */
const PATIENCE_MS = 30_000;

/** Jobs that were requested, but that no controller has begun: one finding for all of them. */
export function jobNotBegun(all: Findable): readonly Finding[] {
  const late = all.installations.flatMap((one) => {
    if (isSuspended(one.metadata)) return [];
    const operation = requestedOperation(one);
    const since = operation === undefined ? undefined : requestedAt(one);
    const isLate = since !== undefined && all.now - Date.parse(since) > PATIENCE_MS;
    return isLate ? [{ one, operation, since }] : [];
  });
  const [first] = late;
  if (!first) return [];
  const { name, namespace = '' } = first.one.metadata;
  const others = late.slice(1).map(({ one }) => nameOf(one));
  return [
    {
      check: 'job-not-begun',
      object: nameOf(first.one),
      evidence:
        `"${first.operation ?? ''}" was requested at ${first.since}, and no controller has begun it` +
        (others.length > 0 ? `; the same holds for ${someOf(others)}` : ''),
      risk: 'none; the command only shows the log. Check whether the controllers run, may write, and work on this namespace',
      command: `${selfCommand()} logs ${name} -n ${namespace} --since 10m`,
      affects: others,
    },
  ];
}

/** When the annotation was set, from the managed fields; undefined if they do not show it. */
function requestedAt({ metadata }: View<Obj>): string | undefined {
  const entries: unknown = (metadata as { readonly managedFields?: unknown }).managedFields;
  const entry = (Array.isArray(entries) ? entries : []).find((one: unknown) => {
    const set = ownField(ownField(ownField(one, 'fieldsV1'), 'f:metadata'), 'f:annotations');
    return isObject(set) && Object.hasOwn(set, `f:${annotations.operation}`);
  }) as unknown;
  const time = ownField(entry, 'time');
  return typeof time === 'string' ? time : undefined;
}

/** Deploy items that no deployer handles: one finding for each type. */
export function notTakenUp(all: Findable): readonly Finding[] {
  const messageOf = notPickedUpIn(all);
  // An execution names one of its items at a time, so the others of the type are found by their own status.
  const waiting = all.deployItems.filter((item) => !isFinished(item) && !isPickedUp(item));
  const byType = new Map<string, { readonly object: View<Obj>; readonly message: string }>();
  for (const item of waiting) {
    const message = byType.has(item.spec.type) ? undefined : messageOf(item);
    if (message !== undefined) byType.set(item.spec.type, { object: item, message });
  }
  return [...byType].map(([type, { object, message }]) => {
    const { name, namespace = '' } = object.metadata;
    const affects = waiting.filter((item) => item.spec.type === type && item !== object).map(nameOf);
    return {
      check: 'not-taken-up',
      object: nameOf(object),
      evidence:
        message + (affects.length > 0 ? `; so wait other items of type ${type}: ${someOf(affects)}` : ''),
      risk: 'none; starting the deployer is better if the type is meant to be supported',
      command: `kubectl get deployitem ${name} -n ${namespace} -o jsonpath={.spec.type}`,
      affects,
    };
  });
}
