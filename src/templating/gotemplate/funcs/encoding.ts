/** Base 64 and base 32. For invalid input, decoders return the error message, as sprig's do. */
import type { Env, FunctionTable } from '../env.ts';
import { bytesOf, stringOf } from '../../go/go-string.ts';
import { envFn, fn } from '../signature.ts';

/** Position of the first error in Go's base 64 decoder; undefined if the input is valid. Line breaks are ignored. */
function badBase64(bytes: string): number | undefined {
  const next = (at: number): number => {
    let i = at;
    while (bytes[i] === '\n' || bytes[i] === '\r') i++;
    return i;
  };
  let digits = 0;
  for (let at = next(0); at < bytes.length; at = next(at + 1)) {
    const c = bytes.charAt(at);
    if (/[A-Za-z0-9+/]/.test(c)) digits = (digits + 1) % 4;
    else if (c !== '=' || digits < 2) return at;
    else {
      let end = at + 1;
      if (digits === 2) {
        const second = next(end);
        if (second === bytes.length) return bytes.length;
        if (bytes[second] !== '=') return second - 1;
        end = second + 1;
      }
      const rest = next(end);
      return rest < bytes.length ? rest : undefined;
    }
  }
  return digits === 0 ? undefined : bytes.length - digits;
}

/** The same for base 32, without line breaks. */
function badBase32(bytes: string): number | undefined {
  let digits = 0;
  for (let at = 0; at < bytes.length; at++) {
    const c = bytes.charAt(at);
    const left = bytes.length - at - 1;
    if (c === '=' && digits >= 2 && left < 8) {
      if (left + digits < 7) return bytes.length;
      for (let k = 0; k < 7 - digits; k++) {
        if (at + 1 + k < bytes.length && bytes[at + 1 + k] !== '=') return at + k;
      }
      return [1, 3, 6].includes(digits) ? at : undefined;
    }
    if (!/[A-Z2-7]/.test(c)) return at;
    digits = (digits + 1) % 8;
  }
  return digits === 0 ? undefined : bytes.length - digits;
}

function decodeBase64(text: string): string {
  const bad = badBase64(bytesOf(text).toString('latin1'));
  if (bad !== undefined) return `illegal base64 data at input byte ${String(bad)}`;
  return stringOf(Buffer.from(text.replace(/[\r\n]/g, ''), 'base64'));
}

const BASE_32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function encodeBase32(env: Env, text: string): string {
  env.reserve(text.length * 8);
  let bits = '';
  for (const byte of bytesOf(text)) bits += byte.toString(2).padStart(8, '0');
  const groups = bits.match(/.{1,5}/g) ?? [];
  const letters = groups.map((g) => BASE_32.charAt(Number.parseInt(g.padEnd(5, '0'), 2))).join('');
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, '=');
}

function decodeBase32(env: Env, text: string): string {
  env.reserve(text.length * 8);
  const bad = badBase32(
    bytesOf(text)
      .toString('latin1')
      .replace(/[\r\n]/g, ''),
  );
  if (bad !== undefined) return `illegal base32 data at input byte ${String(bad)}`;
  const bits = Array.from(text.replace(/[\r\n]/g, '').replace(/=.*/s, ''), (c) =>
    BASE_32.indexOf(c).toString(2).padStart(5, '0'),
  ).join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((b) => Number.parseInt(b, 2));
  return stringOf(Uint8Array.from(bytes));
}

export const encodingFunctions: FunctionTable = {
  b64enc: fn('string', (s: string) => bytesOf(s).toString('base64')),
  b64dec: fn('string', decodeBase64),
  b32enc: envFn('string', encodeBase32),
  b32dec: envFn('string', decodeBase32),
};
