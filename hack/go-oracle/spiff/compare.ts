/**
 * Compares our Spiff with the original: generated calls of every function, documents of expressions, and executions
 * with state.
 */
import { seededRng } from '../../../src/lib/rng.ts';
import { compared, type Comparison } from '../comparison.ts';
import type { Oracle } from '../oracle.ts';
import { compareDocuments } from './documents.ts';
import { compareFunctions } from './functions.ts';
import { knownSpiffDifferences } from './known.ts';
import { compareMerges } from './merges.ts';

/** @param size number of documents of either kind; the number of calls is about twice as high */
export function compareSpiff(ask: Oracle, seed: number, size: number): Comparison {
  const functions = compareFunctions(ask, seededRng(seed), Math.ceil(size / 50));
  const documents = compareDocuments(ask, seededRng(seed), size);
  const merges = compareMerges(ask, seededRng(seed), size);
  const all = [...functions, ...documents, ...merges];
  return compared(
    all.length,
    all.filter((text) => text !== undefined),
    knownSpiffDifferences,
  );
}
