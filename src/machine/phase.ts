/**
 * Phases and the phase table. A phase is a list of steps; a step names the facts that it needs. A step runs only if the steps
 * before it returned no decision, so facts are gathered only when they are needed.
 */
import type { Decision } from './decision.ts';
import type { Status } from './status.ts';

/** The status of the object that a snapshot is about. */
export type StatusOf<Snapshot> = Snapshot extends { readonly self: { readonly status?: infer S } }
  ? NonNullable<S> & Status
  : Status;

export interface Step<Snapshot, Next extends string = string> {
  readonly needs: readonly (keyof Snapshot)[];
  decide(snapshot: Snapshot): Decision<Next, StatusOf<Snapshot>> | undefined;
}

export interface Phase<Snapshot, Next extends string = string> {
  readonly next: readonly Next[];
  readonly steps: readonly Step<Snapshot, Next>[];
}

/** Facts that every phase gets: the object and the time of the reconcile. */
type Always = 'self' | 'now';

/** One step of a phase; if it returns undefined, the next step decides. */
export const stepOf =
  <Snapshot>() =>
  <const Need extends keyof Snapshot, Next extends string = never>(
    needs: readonly Need[],
    decide: (
      snapshot: Pick<Snapshot, Need | (Always & keyof Snapshot)>,
    ) => Decision<Next, StatusOf<Snapshot>> | undefined,
  ): Step<Snapshot, Next> & { readonly decide: typeof decide } => ({ needs, decide });

/** A phase with one step. */
export const phaseOf =
  <Snapshot>() =>
  <const Need extends keyof Snapshot, const Next extends string>(spec: {
    readonly needs: readonly Need[];
    readonly next: readonly Next[];
    readonly decide: (
      snapshot: Pick<Snapshot, Need | (Always & keyof Snapshot)>,
    ) => Decision<NoInfer<Next>, StatusOf<Snapshot>>;
  }): Phase<Snapshot, Next> & { readonly decide: typeof spec.decide } => ({
    next: spec.next,
    steps: [{ needs: spec.needs, decide: spec.decide }],
    decide: spec.decide,
  });

/** A phase with several steps in a fixed order; the last one must return a decision. */
export const phaseInSteps =
  <Snapshot>() =>
  <const Next extends string>(
    next: readonly Next[],
    ...steps: readonly Step<Snapshot, NoInfer<Next>>[]
  ): Phase<Snapshot, Next> => ({ next, steps });

export interface PhaseRow<Snapshot, Name extends string> {
  readonly phase: Phase<Snapshot, Name>;
  /** The final phase if this phase fails. */
  readonly onFail: Name;
  /**
   * When the phase must be stored before the job leaves it. `always`: other programs look for it. `before-effects`: its effects
   * must not be computed a second time after a crash. Default: only if the phase waits.
   */
  readonly seen?: 'always' | 'before-effects';
  /**
   * What happens if a write is refused permanently. `retry` where children may already be working: the job must not end before
   * they do. Default: the job fails.
   */
  readonly onRefusal?: 'retry';
  /** The phase reads the spec: whatever its result, the status names the generation that it has read. */
  readonly readsSpec?: true;
}

/** One line per working phase, in the order of a job. */
export type PhaseTable<Snapshot, Working extends string, Final extends string> = Readonly<
  Record<Working, PhaseRow<Snapshot, Working | Final>>
>;

/** How to gather each fact of a snapshot; called once, when the fact is first needed. */
export type Gatherers<Snapshot> = {
  readonly [K in keyof Snapshot]: (get: Get<Snapshot>) => Snapshot[K] | Promise<Snapshot[K]>;
};
export type Get<Snapshot> = <K extends keyof Snapshot>(key: K) => Promise<Snapshot[K]>;

/** Gathers every fact at most once, even if several steps or other facts need it. */
export function gatherOnce<Snapshot extends object>(gatherers: Gatherers<Snapshot>): Get<Snapshot> {
  const known = new Map<keyof Snapshot, Promise<unknown>>();
  const get = <K extends keyof Snapshot>(key: K): Promise<Snapshot[K]> => {
    let value = known.get(key);
    if (value === undefined) {
      value = Promise.resolve().then(() => gatherers[key](get));
      known.set(key, value);
    }
    return value as Promise<Snapshot[K]>;
  };
  return get;
}

/** Runs the steps of a phase in order. @throws whatever a gatherer throws */
export async function decide<Snapshot extends object, Next extends string>(
  phase: Phase<Snapshot, Next>,
  get: Get<Snapshot>,
  always: readonly (keyof Snapshot)[],
): Promise<Decision<Next, StatusOf<Snapshot>>> {
  const decision = await firstDecision(phase.steps, get, always);
  if (decision) return decision;
  throw new TypeError('the last step of a phase must decide');
}

/** The decision of the first step that returns one. @throws whatever a gatherer throws */
export async function firstDecision<Snapshot extends object, Next extends string>(
  steps: readonly Step<Snapshot, Next>[],
  get: Get<Snapshot>,
  always: readonly (keyof Snapshot)[],
): Promise<Decision<Next, StatusOf<Snapshot>> | undefined> {
  const snapshot: Partial<Snapshot> = {};
  for (const step of steps) {
    for (const key of [...always, ...step.needs]) snapshot[key] = await get(key);
    const decision = step.decide(snapshot as Snapshot);
    if (decision) return decision;
  }
  return undefined;
}
