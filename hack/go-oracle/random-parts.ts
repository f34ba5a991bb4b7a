/** Draws random parts of generated cases. */
import type { Rng } from '../../src/lib/rng.ts';

export const words = (text: string): string[] => text.split(' ~ ');
export const pick = <T>(rng: Rng, from: readonly T[]): T => from[Math.floor(rng.next() * from.length)] as T;
export const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
