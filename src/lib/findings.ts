/** Combines many findings into one message of limited size. */
import { shorten } from './masking.ts';

/** Maximum number of listed findings. Producers may stop after one more. */
export const MAX_FINDINGS = 20;

/** @param write the text of a listed finding; it is shortened if it is too long for a status */
export function findingsText<T>(findings: readonly T[], write: (listed: readonly T[]) => string): string {
  const rest = findings.length > MAX_FINDINGS ? `\nOnly the first ${MAX_FINDINGS} findings are listed.` : '';
  return shorten(`${write(findings.slice(0, MAX_FINDINGS))}${rest}`);
}
