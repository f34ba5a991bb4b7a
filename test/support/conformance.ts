/** Results of the conformance suite for deployers. */
import type { CheckResult } from '../../deployers/testing/index.ts';
import { patience } from './patience.ts';

/** For each action of a deployer that shall pass the suite; all checks run at the same time. */
export const PATIENCE_MS = patience(60_000);

/** Only programs can be asked for plans. */
const NEED_A_PROGRAM: readonly string[] = ['plan', 'plan-deletion'];

const isNotPassed = ({ verdict }: CheckResult): boolean => verdict !== 'passed';
const textOf = ({ name, why }: CheckResult): string => `${name}: ${why ?? ''}`;

/** What a program has not passed. */
export const failuresOfProgram = (results: readonly CheckResult[]): string[] =>
  results.filter(isNotPassed).map(textOf);

/** What a deployer in this process has not passed. */
export const failures = (results: readonly CheckResult[]): string[] =>
  failuresOfProgram(results.filter(({ name }) => !NEED_A_PROGRAM.includes(name)));
