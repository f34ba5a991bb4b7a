/** What the published conformance suite for deployers has found, for tests that put deployers through it. */
import type { CheckResult } from '../../deployers/testing/index.ts';

/** Checks that were not passed, with the reason; skipped ones count. */
export const failures = (results: readonly CheckResult[]): string[] =>
  results.filter(({ verdict }) => verdict !== 'passed').map(({ name, why }) => `${name}: ${why ?? ''}`);
