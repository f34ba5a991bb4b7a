/**
 * Phases and the table that joins them. A phase is a list of steps; a step names what it needs to know, and is
 * asked only when the steps before it had no answer, so nothing is gathered for a question that does not come up.
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

/** What every phase may look at: the object itself and the time of the pass. */
type Always = 'self' | 'now';

/** One question within a phase; `undefined` hands over to the next. */
export const stepOf =
  <Snapshot>() =>
  <const Need extends keyof Snapshot, Next extends string = never>(
    needs: readonly Need[],
    decide: (
      snapshot: Pick<Snapshot, Need | (Always & keyof Snapshot)>,
    ) => Decision<Next, StatusOf<Snapshot>> | undefined,
  ): Step<Snapshot, Next> & { readonly decide: typeof decide } => ({ needs, decide });

/** A phase that is one question. */
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

/** A phase that is several questions in a fixed order; the last one must have an answer. */
export const phaseInSteps =
  <Snapshot>() =>
  <const Next extends string>(
    next: readonly Next[],
    ...steps: readonly Step<Snapshot, NoInfer<Next>>[]
  ): Phase<Snapshot, Next> => ({ next, steps });

export interface PhaseRow<Snapshot, Name extends string> {
  readonly phase: Phase<Snapshot, Name>;
  /** The final phase that a failure here leads to. */
  readonly onFail: Name;
  /**
   * When the phase must have been stored before it is left. `always`: others watch for it. `before-effects`: what it
   * does must not be prepared a second time. Default: only when something holds it up.
   */
  readonly seen?: 'always' | 'before-effects';
  /**
   * What a definite refusal of a write amounts to. `retry` where objects below may be at work already: the job must not
   * end before they do. Default: the end of the job.
   */
  readonly onRefusal?: 'retry';
}

/** One line per working phase, in the order of the road. */
export type PhaseTable<Snapshot, Working extends string, Final extends string> = Readonly<
  Record<Working, PhaseRow<Snapshot, Working | Final>>
>;

/** Looks things up once per snapshot, when first asked for. */
export type Gatherers<Snapshot> = {
  readonly [K in keyof Snapshot]: (get: Get<Snapshot>) => Snapshot[K] | Promise<Snapshot[K]>;
};
export type Get<Snapshot> = <K extends keyof Snapshot>(key: K) => Promise<Snapshot[K]>;

/** A memo over gatherers: every fact is gathered at most once, also when several steps or other facts need it. */
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

/** Asks the steps of a phase in order. `get` looks each fact up once. @throws whatever a gatherer throws */
export async function decide<Snapshot extends object, Next extends string>(
  phase: Phase<Snapshot, Next>,
  get: Get<Snapshot>,
  always: readonly (keyof Snapshot)[],
): Promise<Decision<Next, StatusOf<Snapshot>>> {
  const decision = await firstAnswer(phase.steps, get, always);
  if (decision) return decision;
  throw new TypeError('the last step of a phase must decide');
}

/** The answer of the first step that has one. @throws whatever a gatherer throws */
export async function firstAnswer<Snapshot extends object, Next extends string>(
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
