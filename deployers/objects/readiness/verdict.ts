/** The result of a readiness check: ready, or not ready with a reason. */
export type Verdict =
  | {
      readonly isReady: true;
      /** The object has no status yet: its controller may not have seen it. */
      readonly isUnsettled?: true;
    }
  | {
      readonly isReady: false;
      readonly why: string;
      /** The object will not become ready by itself. */
      readonly isFailed?: true;
      /** The status may describe an earlier spec. */
      readonly isUnsettled?: true;
    };

export const ready: Verdict = { isReady: true };
export const notReady = (why: string): Verdict => ({ isReady: false, why });
export const failed = (why: string): Verdict => ({ isReady: false, why, isFailed: true });
/** The same, but the object may not have been observed by its controller. */
export const unsettled = (verdict: Verdict): Verdict => ({ ...verdict, isUnsettled: true });

/** The first result that is not ready. */
export const allOf = (...verdicts: readonly Verdict[]): Verdict => verdicts.find((v) => !v.isReady) ?? ready;

export const enoughReplicas = (have: number, wanted: number): Verdict =>
  have >= wanted ? ready : notReady(`not enough ready replicas (${String(have)}/${String(wanted)})`);
