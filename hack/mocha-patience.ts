/**
 * Multiplies the time limits of all tests and hooks by ESPALIER_TEST_PATIENCE. None is so short that a busy machine
 * exceeds it, or that it ends a test before a wait of test/support/waiting.ts has named the missing event.
 */
import { Runnable } from 'mocha';
import { patience } from '../test/support/patience.ts';

const LEAST_MS = 120_000;

type Timeout = typeof Runnable.prototype.timeout;
const original = Runnable.prototype.timeout as (this: Runnable, ms?: number) => unknown;

Runnable.prototype.timeout = function (this: Runnable, ms?: number) {
  return ms === undefined
    ? original.call(this)
    : original.call(this, ms === 0 ? 0 : patience(Math.max(ms, LEAST_MS)));
} as Timeout;
