/**
 * Records a span for the job of each installation, execution and deploy item when it ends. Follows the
 * events of the caches, so deployers of other programs are included, and nothing is read or written.
 *
 * Every replica observes all objects, but only the one that is responsible for a tree records its spans. What ends while
 * no replica is responsible, for example during a restart, is recorded when the root ends. A span that an earlier
 * process has recorded in the same job may then be recorded again, with the same id.
 */
import { hasFinalizer, isBeingDeleted, isFinished } from '../../api/job.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Place } from '../../observability/tracing/ids.ts';
import type { SpanEvent, Tracer } from '../../observability/tracing/span.ts';
import { joinKey } from '../../runtime/keys.ts';
import type { Cache, Change, Obj, View } from '../../runtime/types.ts';
import { MAX_OWNERS, ownerKeyOf, rootOf } from '../tree.ts';
import { index, type World } from '../world.ts';
import {
  jobSpan,
  msOf,
  phaseEvent,
  placeOf,
  storedTimes,
  waitOf,
  waitSpan,
  type End,
  type JobObject,
  type Observed,
  type Wait,
} from './job-spans.ts';

interface Running {
  readonly jobID: string;
  readonly startMs: number;
  readonly events: SpanEvent[];
  wait: Wait | undefined;
}

interface ObserverPorts {
  readonly tracer: Tracer;
  readonly clock: Clock;
  /** Whether this process is responsible for the tree with this root, `namespace/name`. */
  readonly holds: (root: string) => boolean;
}

/** A job changes its phase a few times; only one that never ends exceeds this. */
const MAX_EVENTS = 50;
/** A wait that is not older begins now; times of a status have whole seconds. */
const NEW_WAIT_MS = 2000;

export function observeJobSpans(world: World, ports: ObserverPorts): void {
  const observer = new JobSpans(world, ports);
  for (const cache of [world.installations, world.executions, world.deployItems]) {
    (cache as unknown as Cache<JobObject>).subscribe({
      name: 'traces',
      ownEvents: 'deliver',
      on: (change) => {
        observer.on(change);
      },
    });
  }
}

/** A deleted object that no controller keeps any longer: its job ended with the write of a controller. */
const isReleased = ({ metadata }: View<JobObject>): boolean =>
  isBeingDeleted(metadata) && !hasFinalizer(metadata);

class JobSpans {
  readonly #world: World;
  readonly #ports: ObserverPorts;
  /** By uid. */
  readonly #running = new Map<string, Running>();
  /** The uids whose span was recorded, by job id, until the job of the root ends. */
  readonly #recorded = new Map<string, Set<string>>();

  constructor(world: World, ports: ObserverPorts) {
    this.#world = world;
    this.#ports = ports;
  }

  on(change: Change<JobObject>): void {
    const { obj } = change;
    const uid = obj.metadata.uid ?? '';
    if (change.type === 'delete' || isReleased(obj)) {
      if (this.#running.has(uid)) this.#end(obj, { jobID: obj.status?.jobID ?? '', phase: 'Deleted' });
      return;
    }
    const old = change.type === 'update' ? change.old : undefined;
    if (!isFinished(obj)) {
      this.#follow(uid, obj, old);
    } else if (old && !isFinished(old)) {
      this.#follow(uid, obj, old);
      this.#end(obj, { jobID: obj.status?.jobID ?? '', phase: obj.status?.phase ?? '' });
    }
  }

  /** Notes a phase or a wait that has begun or ended. */
  #follow(uid: string, obj: View<JobObject>, old: View<JobObject> | undefined): void {
    const now = this.#ports.clock.wall();
    const { jobID = '', phase } = obj.status ?? {};
    let running = this.#running.get(uid);
    if (running?.jobID !== jobID) {
      // A job that this process has not seen starting has only the times of its status.
      const hasStarted = old !== undefined && old.status?.jobID !== jobID;
      const { startMs, events } = hasStarted ? { startMs: now, events: [] } : storedTimes(obj, now);
      running = { jobID, startMs, events: [...events], wait: undefined };
      this.#running.set(uid, running);
    }
    if (phase !== undefined && old && phase !== old.status?.phase && running.events.length < MAX_EVENTS)
      running.events.push(phaseEvent(phase, now));
    this.#followWait(running, obj, { now, isNew: old !== undefined });
  }

  #followWait(
    running: Running,
    obj: View<JobObject>,
    { now, isNew }: { readonly now: number; readonly isNew: boolean },
  ): void {
    const wait = isFinished(obj) ? undefined : waitOf(obj, now);
    if (running.wait?.reason === wait?.reason) return;
    if (running.wait) this.#recordWait(obj, running.jobID, running.wait, now);
    const isExact = isNew && wait !== undefined && now - wait.sinceMs < NEW_WAIT_MS;
    running.wait = isExact ? { ...wait, sinceMs: now } : wait;
  }

  #recordWait(obj: View<JobObject>, jobID: string, wait: Wait, now: number): void {
    if (this.#ports.holds(rootOf(this.#world, obj)))
      this.#ports.tracer.record([waitSpan(obj, jobID, wait, now)]);
  }

  #end(obj: View<JobObject>, { jobID, phase }: Omit<End, 'endMs'>): void {
    const now = this.#ports.clock.wall();
    const running = this.#running.get(obj.metadata.uid ?? '');
    const observed = running?.jobID === jobID ? running : storedTimes(obj, now);
    this.#running.delete(obj.metadata.uid ?? '');
    if (!this.#ports.holds(rootOf(this.#world, obj))) return;
    if (running?.wait) this.#recordWait(obj, jobID, running.wait, now);
    this.#record(obj, { jobID, phase, endMs: now }, observed);
    if (this.#parentOf(obj, jobID)) return;
    this.#recordMissed(obj, jobID);
    this.#recorded.delete(jobID);
  }

  #record(obj: View<JobObject>, end: End, observed: Observed): void {
    const { uid = '' } = obj.metadata;
    const parent = this.#parentOf(obj, end.jobID);
    this.#ports.tracer.record([jobSpan(obj, end, observed, { tree: rootOf(this.#world, obj), parent })]);
    const recorded = this.#recorded.get(end.jobID) ?? new Set();
    this.#recorded.set(end.jobID, recorded.add(uid));
  }

  /** The object above, if it has the same job: deploy items also have jobs of their own. */
  #parentOf(obj: View<JobObject>, jobID: string): Place | undefined {
    const owner = ownerKeyOf(obj);
    if (!owner) return undefined;
    const { installations, executions } = this.#world;
    const parent = owner.kind === 'Installation' ? installations.get(owner.key) : executions.get(owner.key);
    return parent && parent.status?.jobID === jobID ? placeOf(parent) : undefined;
  }

  /** Records the objects below that have finished the job, and that this process has not recorded. */
  #recordMissed(above: View<JobObject>, jobID: string, depth = 0): void {
    // Owner references may be cyclic.
    if (depth > MAX_OWNERS) return;
    for (const child of this.#childrenOf(above)) {
      const { status } = child;
      if (status?.jobIDFinished !== jobID) continue;
      const now = this.#ports.clock.wall();
      const endMs = msOf(status.transitionTimes?.finishedTime) ?? now;
      if (!this.#recorded.get(jobID)?.has(child.metadata.uid ?? ''))
        this.#record(child, { jobID, phase: status.phase ?? '', endMs }, storedTimes(child, now));
      this.#recordMissed(child, jobID, depth + 1);
    }
  }

  #childrenOf({ kind, metadata }: View<Obj>): readonly View<JobObject>[] {
    const { uid = '', namespace, name } = metadata;
    const { installations, executions, deployItems } = this.#world;
    const children =
      kind === 'Installation'
        ? [...installations.byIndex(index.owner, uid), ...executions.byIndex(index.owner, uid)]
        : kind === 'Execution'
          ? deployItems.byIndex(index.managedBy, joinKey(namespace, name))
          : [];
    return children as unknown as readonly View<JobObject>[];
  }
}
