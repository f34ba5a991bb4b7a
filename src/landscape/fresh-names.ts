/**
 * Generates name suffixes for the objects that a job creates. A suffix looks random but is the same in every
 * attempt of the job. If a create request is repeated because its response was lost or the cache is stale, the API
 * server refuses it and no duplicate is created.
 * @see docs/adr/0001-gather-decide-apply.md for why names are chosen before the write
 */
import { createHash } from 'node:crypto';
import { randomSuffix, seededRng } from '../lib/rng.ts';
import type { Obj, View } from '../runtime/types.ts';

/** Returns the full name for a prefix. A name conflict changes only the name in question. */
export type FreshName = (prefix: string) => string;

/**
 * @param self the object that has the job
 * @param lookUp finds an existing object of the same kind and namespace by its name
 * @param isReused whether an existing object of that name is kept instead of being replaced
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
