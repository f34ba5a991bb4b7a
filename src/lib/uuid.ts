/** Random UUIDs (version 4) from an injected generator, so that a simulation can be repeated. */
import { v4 } from 'uuid';
import type { Rng } from './rng.ts';

export const randomUuid = (rng: Rng): string =>
  v4({ random: Uint8Array.from({ length: 16 }, () => Math.floor(rng.next() * 256)) });
