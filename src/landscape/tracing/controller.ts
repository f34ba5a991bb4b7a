/** Adds a span for each reconcile that belongs to a job, with the spans of what it did. */
import { isFinished } from '../../api/job.ts';
import type { Clock } from '../../lib/clock.ts';
import { spanIdOf, traceIdOf } from '../../observability/tracing/ids.ts';
import { collectSpans, type Collected } from '../../observability/tracing/scope.ts';
import type { Tracer } from '../../observability/tracing/span.ts';
import type { ControllerSpec } from '../../runtime/controller/controller.ts';
import type { Cache, Context, Obj, UpdateControl, View } from '../../runtime/types.ts';
import { objectAttributes, placeOf, type JobObject } from './job-spans.ts';

interface TracingPorts {
  readonly tracer: Tracer;
  readonly clock: Clock;
}

const KINDS: readonly string[] = ['Installation', 'Execution', 'DeployItem'];

/**
 * Wraps a controller of installations, executions or deploy items.
 * @param cache of its objects
 */
export function withTracing<P extends Obj>(
  spec: ControllerSpec<P>,
  cache: Pick<Cache<P>, 'get'>,
  { tracer, clock }: TracingPorts,
): ControllerSpec<P> {
  if (!KINDS.includes(spec.kind.kind)) return spec;
  const { reconciler } = spec;
  const reconcile = (primary: View<P>, ctx: Context<P>): Promise<UpdateControl<P>> => {
    const object: View<JobObject> = primary;
    if (isUnsampled(object, tracer)) return reconciler.reconcile(primary, ctx);
    const find = (): View<JobObject> | undefined => cache.get(ctx.key);
    const attributes = { ...objectAttributes(object), 'espalier.controller': spec.name };
    return collectSpans(
      clock,
      { name: `reconcile ${spec.name}`, attributes },
      async (span) => {
        const control = await reconciler.reconcile(primary, ctx);
        if (control.requeueAfterMs !== undefined)
          span.set({ 'espalier.requeue_after_ms': control.requeueAfterMs });
        return control;
      },
      (collected) => {
        const jobID = jobOf(object, find());
        if (jobID !== undefined) report(collected, object, jobID, tracer);
      },
    );
  };
  return { ...spec, reconciler: { ...reconciler, reconcile } };
}

/** Nothing needs to be collected: the job of the object is known, and is not traced. */
const isUnsampled = (object: View<JobObject>, tracer: Tracer): boolean =>
  !isFinished(object) && !tracer.isSampled(traceIdOf(object.status?.jobID ?? ''));

/** The job that the object had before the reconcile, or that the reconcile started. */
function jobOf(before: View<JobObject>, after: View<JobObject> | undefined): string | undefined {
  if (!isFinished(before)) return before.status?.jobID;
  if (after?.metadata.uid !== before.metadata.uid) return undefined;
  const jobID = after?.status?.jobID;
  return jobID === before.status?.jobID ? undefined : jobID;
}

function report({ spans, dropped }: Collected, object: View<JobObject>, jobID: string, tracer: Tracer): void {
  const traceId = traceIdOf(jobID);
  if (!tracer.isSampled(traceId)) return;
  const parent = spanIdOf(jobID, placeOf(object));
  tracer.dropped(dropped);
  tracer.record(spans.map((span) => ({ ...span, traceId, parentSpanId: span.parentSpanId ?? parent })));
}
