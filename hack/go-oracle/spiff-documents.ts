/** Compares whole documents; that needs the evaluator. */
import type { Rng } from '../../src/lib/rng.ts';
import type { SpiffAnswer, SpiffRequest } from './spiff.ts';

export const compareDocuments = (
  _rng: Rng,
  _ask: (requests: readonly SpiffRequest[]) => readonly SpiffAnswer[],
): Promise<readonly (string | undefined)[]> => Promise.resolve([]);
