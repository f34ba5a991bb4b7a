/**
 * The last part of the names of objects that a job makes. It looks random and is the same in every attempt of the job: a
 * create whose answer was lost, or which a cache has not heard of, is refused the second time instead of making a double.
 * @see docs/adr/0001-gather-decide-apply.md for why names are chosen before the write
 */
import { createHash } from 'node:crypto';
import { randomSuffix, seededRng } from '../lib/rng.ts';
import type { Obj, View } from '../runtime/types.ts';

/** Completes the beginning of a name, each by itself: what stands in the way of one leaves the others as they are. */
export type FreshName = (prefix: string) => string;

/**
 * @param self the object whose job it is
 * @param lookUp finds the object of the same kind and namespace whose name may be in the way
 * @param isReused whether a neighbour of that name would be kept instead of being made anew
 */
export function freshNames<T extends Obj>(
  self: View<Obj> & { readonly status?: { readonly jobID?: string | undefined } | undefined },
  lookUp: (name: string) => View<T> | undefined,
  isReused: (neighbour: View<T>) => boolean,
): FreshName {
  const job = `${self.metadata.uid ?? self.metadata.name}/${self.status?.jobID ?? ''}`;
  return (prefix) => {
    for (let attempt = 0; ; attempt++) {
      const name = `${prefix}${suffixOf(`${job}/${String(attempt)}`)}`;
      const neighbour = lookUp(name);
      if (!neighbour || isReused(neighbour)) return name;
    }
  };
}

const suffixOf = (seed: string): string =>
  randomSuffix(seededRng(createHash('sha256').update(seed).digest().readUInt32BE(0)));
