/** Masks secrets in the output: replaces every string that equals or contains a secret value by `***`. */
import { maskOf } from '../../../../lib/masking.ts';
import { isObject } from '../../../../lib/objects.ts';

export const MASK = '***';

export interface Mask {
  text(text: string): string;
  /** Masks all strings and numbers in a value, but not field names. */
  value(value: unknown): unknown;
}

export const noMask: Mask = { text: (text) => text, value: (value) => value };

/** @param secrets values of any shape: every string and number in them is secret */
export function maskOver(secrets: readonly unknown[]): Mask {
  const text = maskOf(secrets, MASK);
  const value = (plain: unknown): unknown => {
    if (typeof plain === 'string') return text(plain);
    if (typeof plain === 'number' || typeof plain === 'bigint') {
      const shown = text(String(plain));
      return shown === String(plain) ? plain : shown;
    }
    if (Array.isArray(plain)) return plain.map(value);
    if (!isObject(plain)) return plain;
    return Object.fromEntries(Object.entries(plain).map(([key, item]) => [key, value(item)]));
  };
  return { text, value };
}
