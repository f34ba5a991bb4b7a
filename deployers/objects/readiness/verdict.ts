/** The result of a readiness check: ready, or not ready with a reason. */
export type Verdict = { readonly isReady: true } | { readonly isReady: false; readonly why: string };

export const ready: Verdict = { isReady: true };
export const notReady = (why: string): Verdict => ({ isReady: false, why });

/** The first result that is not ready. */
export const allOf = (...verdicts: readonly Verdict[]): Verdict => verdicts.find((v) => !v.isReady) ?? ready;

export const enoughReplicas = (have: number, wanted: number): Verdict =>
  have >= wanted ? ready : notReady(`not enough ready replicas (${String(have)}/${String(wanted)})`);
