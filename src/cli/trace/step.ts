/** One step of a trace, with the steps before or after it. */
export interface TraceStep {
  readonly text: string;
  /** Whether the value is secret from here on: it is from a Secret, or may be, because it is an export. */
  readonly isSecret?: true;
  /** Whether an object does not exist. */
  readonly isMissing?: true;
  readonly steps: readonly TraceStep[];
}

/** In place of steps that are left out; they may have led to a Secret. */
export const OMITTED: TraceStep = { text: 'more steps, which are not shown', isSecret: true, steps: [] };

/** Ends a walk in time if every import is computed from several others, and those again. */
export class StepBudget {
  #left: number;

  constructor(steps = 2_000) {
    this.#left = steps;
  }

  take(): boolean {
    return this.#left-- > 0;
  }
}

export const someStep = (steps: readonly TraceStep[], test: (step: TraceStep) => boolean): boolean =>
  steps.some((step) => test(step) || someStep(step.steps, test));

/** Whether a mapping refers to a name: a word of its document, so it may find more than the mapping uses. */
export const refersTo = (mapping: unknown, name: string): boolean =>
  JSON.stringify(mapping)
    .split(/[^\w-]+/)
    .includes(name);
