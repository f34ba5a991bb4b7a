/** Cryptographically secure random numbers, for passwords and keys; `systemRng` is not. */
import { randomBytes } from 'node:crypto';
import type { Rng } from './rng.ts';

const POOL_BYTES = 4096;
const STEP = 7;

let pool = Buffer.alloc(0);
let at = 0;

export const secureRng: Rng = {
  next() {
    if (at + STEP > pool.length) {
      pool = randomBytes(POOL_BYTES);
      at = 0;
    }
    const high = pool.readUIntBE(at, 3) & 0x1fffff;
    const low = pool.readUInt32BE(at + 3);
    pool.fill(0, at, at + STEP);
    at += STEP;
    return (high * 2 ** 32 + low) / 2 ** 53;
  },
};
