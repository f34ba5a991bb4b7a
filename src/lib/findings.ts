/** Many findings as one message of a size that people read and an API server takes. */
import { shorten } from './masking.ts';

/** So many are listed. Whoever produces findings may stop when there is one more. */
export const MAX_FINDINGS = 20;

/** @param write puts those that are listed into words; what is too long for a status is cut */
export function findingsText<T>(findings: readonly T[], write: (listed: readonly T[]) => string): string {
  const rest = findings.length > MAX_FINDINGS ? `\nOnly the first ${MAX_FINDINGS} findings are listed.` : '';
  return shorten(`${write(findings.slice(0, MAX_FINDINGS))}${rest}`);
}
