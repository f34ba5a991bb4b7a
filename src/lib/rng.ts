/** Random numbers, injected like time: tests use a seed. */

export interface Rng {
  /** A number in [0, 1). */
  next(): number;
}

/** Random numbers of the system; not for secrets. */
export const systemRng: Rng = { next: () => Math.random() };

/** A small reproducible generator (mulberry32) for tests and simulations. */
export function seededRng(seed: number): Rng {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    },
  };
}

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** A random suffix with the alphabet of generated names in Kubernetes. */
export const randomSuffix = (rng: Rng, length = 5): string =>
  Array.from({ length }, () => SUFFIX_ALPHABET[Math.floor(rng.next() * SUFFIX_ALPHABET.length)]).join('');
