/** Combines many findings into one message of limited size. */
import { shorten } from './masking.ts';

/** Maximum number of listed findings. Producers may stop after one more. */
export const MAX_FINDINGS = 20;

/** @param write the text of a listed finding; it is shortened if it is too long for a status */
export function findingsText<T>(findings: readonly T[], write: (listed: readonly T[]) => string): string {
  const rest = findings.length > MAX_FINDINGS ? `\nOnly the first ${MAX_FINDINGS} findings are listed.` : '';
  return shorten(`${write(findings.slice(0, MAX_FINDINGS))}${rest}`);
}

/** The path of a field in a message: `spec.imports.data[0].name`. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? String(part) : `.${String(part)}`))
    .join('');
