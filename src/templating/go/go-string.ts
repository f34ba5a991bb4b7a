/**
 * Go strings are bytes, ours are UTF-16. A byte that is not part of valid UTF-8 is stored as a lone surrogate
 * U+DC80…U+DCFF, so that `trunc 1 "ä"` or `b64dec` of binary data is lossless and can be joined again.
 */

const LONE = /\p{Surrogate}/u;
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes of a Go string. */
export function bytesOf(text: string): Buffer {
  if (!LONE.test(text)) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  let start = 0;
  for (const match of text.matchAll(/\p{Surrogate}/gu)) {
    parts.push(Buffer.from(text.slice(start, match.index), 'utf8'));
    const unit = match[0].charCodeAt(0);
    parts.push(unit >= 0xdc80 && unit <= 0xdcff ? Buffer.of(unit - 0xdc00) : Buffer.of(0xef, 0xbf, 0xbd));
    start = match.index + 1;
  }
  parts.push(Buffer.from(text.slice(start), 'utf8'));
  return Buffer.concat(parts);
}

/** The Go string of these bytes; invalid bytes become lone surrogates. */
export function stringOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return decodeLossless(bytes);
  }
}

function decodeLossless(bytes: Uint8Array): string {
  let out = '';
  let i = 0;
  while (i < bytes.length) {
    const size = sequenceLength(bytes, i);
    if (size === 0) {
      out += String.fromCharCode(0xdc00 + (bytes[i] as number));
      i += 1;
    } else {
      out += strict.decode(bytes.subarray(i, i + size));
      i += size;
    }
  }
  return out;
}

/** Length of the valid UTF-8 sequence at `at`, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + size > bytes.length) return 0;
  try {
    strict.decode(bytes.subarray(at, at + size));
    return size;
  } catch {
    return 0;
  }
}

/** Converts lone bytes that have become valid UTF-8 to characters. */
export const rejoin = (text: string): string => (LONE.test(text) ? stringOf(bytesOf(text)) : text);

/** Go's `len` of a string. */
export function byteLength(text: string): number {
  return LONE.test(text) ? bytesOf(text).length : Buffer.byteLength(text, 'utf8');
}

const ASCII = /^[\x00-\x7f]*$/;

/** Go's `s[start:end]`; the offsets count bytes. */
export function byteSlice(text: string, start: number, end?: number): string {
  if (ASCII.test(text)) return text.slice(start, end);
  return stringOf(bytesOf(text).subarray(start, end));
}

/** The characters (runes) of a Go string; an invalid byte becomes U+FFFD. */
export const runesOf = (text: string): string[] => Array.from(text, (c) => (LONE.test(c) ? '\ufffd' : c));

/** Replaces invalid UTF-8 by U+FFFD, as `encoding/json` does. */
export const toValidText = (text: string): string => (LONE.test(text) ? runesOf(text).join('') : text);

export const isValidText = (text: string): boolean => !LONE.test(text);

/** Go's string order: by bytes, which is the order of code points. */
export function compareStrings(a: string, b: string): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const xs = x >= 0xd800 && x <= 0xdfff;
      const ys = y >= 0xd800 && y <= 0xdfff;
      return xs === ys ? x - y : xs ? 1 : -1;
    }
  }
  return a.length - b.length;
}
