/** Multiplies the time limits of all tests and hooks by ESPALIER_TEST_PATIENCE. */
import { Runnable } from 'mocha';
import { patience } from '../test/support/patience.ts';

type Timeout = typeof Runnable.prototype.timeout;
const original = Runnable.prototype.timeout as (this: Runnable, ms?: number) => unknown;

Runnable.prototype.timeout = function (this: Runnable, ms?: number) {
  return ms === undefined ? original.call(this) : original.call(this, patience(ms));
} as Timeout;
