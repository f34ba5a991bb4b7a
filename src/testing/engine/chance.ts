/**
 * Random numbers with convenience. Each part of a simulation has its own stream, so that one more draw here changes
 * nothing elsewhere.
 */
import { seededRng, type Rng } from '../../lib/rng.ts';

/** Random values that a seed determines. */
export class Chance implements Rng {
  readonly #rng: Rng;

  constructor(seed: number, stream: string) {
    let mixed = seed | 0;
    for (const char of stream) mixed = Math.imul(mixed ^ char.charCodeAt(0), 0x9e3779b1) ^ (mixed >>> 13);
    this.#rng = seededRng(mixed);
  }

  next(): number {
    return this.#rng.next();
  }

  /** True with this probability. */
  happens(probability: number): boolean {
    return probability > 0 && this.#rng.next() < probability;
  }

  /** An integer from `low` to `high`, inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.#rng.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#rng.next() * items.length)];
    if (item === undefined) throw new RangeError('cannot pick from an empty list');
    return item;
  }

  /** Each item with this probability, in order. */
  some<T>(items: readonly T[], probability: number): T[] {
    return items.filter(() => this.happens(probability));
  }

  shuffled<T>(items: readonly T[]): T[] {
    const result = [...items];
    for (let i = result.length - 1; i > 0; i--) {
      const j = this.between(0, i);
      [result[i], result[j]] = [result[j] as T, result[i] as T];
    }
    return result;
  }

  /** One key, with a probability in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.#rng.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries.at(-1);
    if (!found) throw new RangeError('cannot pick from an empty list');
    return found[0];
  }
}
