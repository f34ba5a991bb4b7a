/** The spans of a job, from the status of an object and the observations of this process. Pure. */
import { conditionTypes } from '../../api/conditions.ts';
import { isBeingDeleted, isJobUnstarted, type JobView } from '../../api/job.ts';
import { annotations, labels } from '../../api/labels.ts';
import type { JobStatus } from '../../api/shared.ts';
import { spanIdOf, traceIdOf, type Place } from '../../observability/tracing/ids.ts';
import type { Attributes, Span, SpanEvent } from '../../observability/tracing/span.ts';
import type { Obj, View } from '../../runtime/types.ts';

/** An installation, an execution or a deploy item. */
export type JobObject = Obj &
  JobView & {
    readonly spec?: { readonly type?: string; readonly target?: { readonly name: string } };
    readonly status?:
      | (View<JobStatus> & { readonly deployer?: { readonly name?: string; readonly version?: string } })
      | undefined;
  };

/** What a job waits for. */
export interface Wait {
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
}

/** What a process has seen of a job of one object. */
export interface Observed {
  readonly startMs: number;
  readonly events: readonly SpanEvent[];
}

/** The end of a job; `phase` is `Deleted` if the object was deleted. */
export interface End {
  readonly jobID: string;
  readonly phase: string;
  readonly endMs: number;
}

/** Where an object belongs: its root, and the object above it with the same job. */
interface Position {
  readonly tree: string;
  readonly parent: Place | undefined;
}

export const placeOf = ({ kind, metadata }: View<Obj>): Place => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});

/** The standard attributes that identify an object. */
export const objectAttributes = ({ kind, metadata }: View<Obj>): Attributes => ({
  'k8s.namespace.name': metadata.namespace,
  'k8s.object.kind': kind,
  'k8s.object.name': metadata.name,
  'k8s.object.uid': metadata.uid,
});

/** The span of a job of one object, from the moment it got the job id to its end. */
export function jobSpan(
  object: View<JobObject>,
  { jobID, phase, endMs }: End,
  { startMs, events }: Observed,
  { tree, parent }: Position,
): Span {
  const { spec, status } = object;
  const hasFailed = phase === 'Failed' || phase === 'DeleteFailed';
  const { reason, message = '', codes = [] } = (hasFailed && status?.lastError) || {};
  return {
    traceId: traceIdOf(jobID),
    spanId: spanIdOf(jobID, placeOf(object)),
    parentSpanId: parent && spanIdOf(jobID, parent),
    name: nameOf(object),
    kind: 'internal',
    startMs,
    endMs,
    attributes: {
      ...objectAttributes(object),
      'espalier.tree': tree,
      'espalier.job.id': jobID,
      'espalier.job.operation': isBeingDeleted(object.metadata) ? 'delete' : 'apply',
      'espalier.phase': phase,
      'espalier.deployitem.type': spec?.type,
      'espalier.deployitem.target': spec?.target?.name,
      'espalier.deployer.name': status?.deployer?.name,
      'espalier.deployer.version': status?.deployer?.version,
      'error.type': reason,
      'espalier.error.codes': codes.length > 0 ? codes : undefined,
    },
    events,
    error: hasFailed ? message : undefined,
  };
}

/** Kind and name in the template, so that the spans of the same template have the same name. */
function nameOf({ kind, metadata }: View<Obj>): string {
  if (kind === 'Execution') return kind;
  const inTemplate =
    kind === 'DeployItem'
      ? metadata.labels?.[labels.executionName]
      : metadata.annotations?.[annotations.subinstallationName];
  return `${kind} ${inTemplate ?? metadata.name}`;
}

/** The span of a wait, below that of the job. */
export function waitSpan(object: View<JobObject>, jobID: string, wait: Wait, endMs: number): Span {
  const place = placeOf(object);
  return {
    traceId: traceIdOf(jobID),
    spanId: spanIdOf(jobID, place, `wait/${wait.reason}/${String(Math.floor(wait.sinceMs / 1000))}`),
    parentSpanId: spanIdOf(jobID, place),
    name: `wait ${wait.reason}`,
    kind: 'internal',
    startMs: wait.sinceMs,
    endMs,
    attributes: {
      ...objectAttributes(object),
      'espalier.job.id': jobID,
      'espalier.wait.reason': wait.reason,
      'espalier.wait.message': wait.message,
    },
  };
}

/** What the job of the object waits for, if it waits. */
export function waitOf(object: View<JobObject>, nowMs: number): Wait | undefined {
  const { status } = object;
  if (object.kind === 'DeployItem' && isJobUnstarted(object)) {
    const message = `waits for a deployer for type ${object.spec?.type ?? ''}`;
    return { reason: 'NotPickedUp', message, sinceMs: msOf(status?.transitionTimes?.triggerTime) ?? nowMs };
  }
  const waiting = status?.conditions?.find(({ type }) => type === conditionTypes.Waiting);
  const shown = waiting ?? (isUnfinished(status) ? status?.lastError : undefined);
  if (!shown) return undefined;
  const { reason, message, lastTransitionTime } = shown;
  return { reason, message, sinceMs: msOf(lastTransitionTime) ?? nowMs };
}

const isUnfinished = (status: View<JobObject>['status']): boolean =>
  status?.lastError?.codes?.includes('ERR_UNFINISHED') ?? false;

/** What the status says about the job, for a process that has not seen its start. Whole seconds. */
export function storedTimes({ status }: View<JobObject>, nowMs: number): Observed {
  const { triggerTime, initTime, waitTime } = status?.transitionTimes ?? {};
  const events = [
    ['Init', msOf(initTime)],
    ['Progressing', msOf(waitTime)],
  ] as const;
  return {
    startMs: msOf(triggerTime) ?? msOf(initTime) ?? nowMs,
    events: events.flatMap(([phase, ms]) => (ms === undefined ? [] : [phaseEvent(phase, ms)])),
  };
}

export const phaseEvent = (phase: string, ms: number): SpanEvent => ({ name: `phase ${phase}`, ms });

/** Milliseconds since 1970 of an RFC 3339 time. */
export function msOf(time: string | undefined): number | undefined {
  const ms = time === undefined ? NaN : Date.parse(time);
  return Number.isNaN(ms) ? undefined : ms;
}
