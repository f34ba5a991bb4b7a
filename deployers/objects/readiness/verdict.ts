/** How a readiness check answers: ready, or not and why. */
export type Verdict = { readonly isReady: true } | { readonly isReady: false; readonly why: string };

export const ready: Verdict = { isReady: true };
export const notReady = (why: string): Verdict => ({ isReady: false, why });

/** The first verdict that is not ready. */
export const allOf = (...verdicts: readonly Verdict[]): Verdict => verdicts.find((v) => !v.isReady) ?? ready;

export const enough = (have: number, wanted: number): Verdict =>
  have >= wanted ? ready : notReady(`not enough ready replicas (${String(have)}/${String(wanted)})`);
