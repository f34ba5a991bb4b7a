/** A stored object together with its new status. Stores the difference in one write. */
import { equal } from '../lib/json.ts';
import { mergeDiff } from '../lib/merge.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';
import { lockedPatch, type ApplyPorts } from './apply.ts';
import type { Awaited, Problem, StatusChange } from './decision.ts';
import {
  changed,
  inPhase,
  statusWriteDelayMs,
  statusOf,
  waitingFor,
  withoutWait,
  withProblem,
  type Status,
} from './status.ts';

export interface DraftPorts extends ApplyPorts {
  /** RFC 3339, whole seconds. */
  readonly now: () => string;
  /** Called for every phase that is entered, for metrics. */
  readonly entered?: (phase: string, from: string | undefined) => void;
}

/** `S`: the status of `Self`. */
export class Draft<Self extends Obj, S extends Status> {
  self: View<Self>;
  status: S;
  /** Uids of the objects that this reconcile has deleted; caches may still have them for a moment. */
  readonly removed = new Set<string>();
  readonly #kind: Kind<Self>;
  readonly #ports: DraftPorts;

  constructor(kind: Kind<Self>, self: View<Self>, status: S, ports: DraftPorts) {
    this.#kind = kind;
    this.self = self;
    this.status = status;
    this.#ports = ports;
  }

  /** The status as it is stored. */
  get stored(): S {
    return statusOf<S>(this.self);
  }

  /** The object with its new status: the view that phases get. */
  get object(): View<Self> {
    return { ...this.self, status: this.status };
  }

  get isPhaseStored(): boolean {
    const { phase, jobID } = this.stored;
    return phase === this.status.phase && jobID === this.status.jobID;
  }

  change(change: StatusChange<S>): void {
    this.status = changed(this.status, change, this.#ports.now());
  }

  /** Notes the generation of the spec that the job works on. */
  observe(): void {
    this.status = { ...this.status, observedGeneration: this.self.metadata.generation };
  }

  /** Notes what the job waits for. The same wait with another message is not written again. */
  wait(why: Problem | undefined, awaited: Awaited | undefined): void {
    const { lastError, conditions } = this.status;
    this.status = waitingFor(this.status, awaited, this.#ports.now());
    const isSameWait = why && lastError?.operation === why.operation && lastError.reason === why.reason;
    if (!isSameWait || !equal(conditions, this.status.conditions)) this.explain(why);
  }

  /** Notes a problem that is retried without waiting for an object. */
  fail(problem: Problem): void {
    this.status = withoutWait(this.status, this.#ports.now());
    this.explain(problem);
  }

  explain(problem: Problem | undefined): void {
    this.status = withProblem(this.status, problem, this.#ports.now());
  }

  enter(phase: string, final: boolean): void {
    this.#ports.entered?.(phase, this.status.phase);
    const now = this.#ports.now();
    this.status = inPhase(waitingFor(this.status, undefined, now), phase, now, { final });
  }

  /** Milliseconds for which the status need not be stored, because only the description of the wait differs. */
  get storableLaterMs(): number {
    return this.isPhaseStored ? statusWriteDelayMs(this.stored, this.status, this.#ports.now()) : 0;
  }

  /** Writes everything that differs in one request; no request if nothing does. */
  async store(): Promise<void> {
    const diff = mergeDiff(this.stored, this.status);
    if (!diff) return;
    this.self = (await lockedPatch(
      this.#kind,
      this.self,
      { status: diff },
      this.#ports,
      'status',
    )) as View<Self>;
    this.status = this.stored;
  }
}
