/** Results of the published conformance suite for deployers, for tests that run it. */
import type { CheckResult } from '../../deployers/testing/index.ts';

/** Checks that did not pass, with the reason; skipped ones count. */
export const failures = (results: readonly CheckResult[]): string[] =>
  results.filter(({ verdict }) => verdict !== 'passed').map(({ name, why }) => `${name}: ${why ?? ''}`);
