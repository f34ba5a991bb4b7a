/**
 * The last part of the names of objects that a job makes. It looks random and is the same in every attempt of the job: a
 * create whose answer was lost, or which a cache has not heard of, is refused the second time instead of making a double.
 * @see docs/adr/0001-gather-decide-apply.md for why names are chosen before the write
 */
import { createHash } from 'node:crypto';
import { randomSuffix, seededRng } from '../lib/rng.ts';
import type { Obj, View } from '../runtime/types.ts';

/**
 * @param self the object whose job it is
 * @param neighbours objects whose names may be in the way: those of the same kind and namespace
 * @param isReused whether a neighbour of that name would be kept instead of being made anew
 */
export function suffixFor<T extends Obj>(
  self: View<Obj> & { readonly status?: { readonly jobID?: string | undefined } | undefined },
  neighbours: Iterable<View<T>>,
  isReused: (neighbour: View<T>) => boolean,
): string {
  const taken = new Set<string>();
  for (const neighbour of neighbours) {
    if (!isReused(neighbour)) taken.add(neighbour.metadata.name.split('-').at(-1) ?? '');
  }
  const job = `${self.metadata.uid ?? self.metadata.name}/${self.status?.jobID ?? ''}`;
  for (let attempt = 0; ; attempt++) {
    const seed = createHash('sha256')
      .update(`${job}/${String(attempt)}`)
      .digest()
      .readUInt32BE(0);
    const suffix = randomSuffix(seededRng(seed));
    if (!taken.has(suffix)) return suffix;
  }
}
