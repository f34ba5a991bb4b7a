/** Assertions whose messages contain the observed state. */
import { exactJson } from '../../src/lib/exact-json.ts';
import { equal } from '../../src/lib/json.ts';
import { ContractBroken } from './stage.ts';

/** @throws ContractBroken unless both are the same JSON */
export function same(what: string, found: unknown, expected: unknown): void {
  if (equal(found, expected)) return;
  throw new ContractBroken(`${what} is ${shown(found)}, expected ${shown(expected)}`);
}

/** @throws ContractBroken */
export function holds(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new ContractBroken(sentence);
}

const shown = (value: unknown): string => (value === undefined ? 'absent' : exactJson(value));
