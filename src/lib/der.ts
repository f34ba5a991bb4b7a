/** DER for certificates: writes it, and finds elements in DER of others. */

/** One element: tag, length, content. */
import { append } from './lists.ts';

export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const bytes = size < 0x80 ? 0 : size < 0x100 ? 1 : size < 0x10000 ? 2 : 3;
  const length = Buffer.alloc(1 + bytes);
  if (bytes === 0) length[0] = size;
  else {
    length[0] = 0x80 | bytes;
    length.writeUIntBE(size, 1, bytes);
  }
  return Buffer.concat([Buffer.of(tag), length, content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
export const octets = (content: Uint8Array): Buffer => der(0x04, content);
export const bits = (content: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.of(unused), content);

/** A positive integer from its bytes. */
export const positive = (bytes: Uint8Array): Buffer =>
  der(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);

/** An object identifier: `2.5.29.15`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let n = part >>> 7; n > 0; n >>>= 7) groups.unshift((n & 0x7f) | 0x80);
    append(bytes, groups);
  }
  return der(0x06, Uint8Array.from(bytes));
}

export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content. */
  readonly raw: Buffer;
}

/** The elements in `bytes`, in order. @throws RangeError for invalid DER */
export function elementsOf(bytes: Buffer): readonly DerElement[] {
  const found: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const first = bytes.readUInt8(at + 1);
    const count = first < 0x80 ? 0 : first & 0x7f;
    const size = count === 0 ? first : bytes.readUIntBE(at + 2, count);
    const start = at + 2 + count;
    if (start + size > bytes.length) throw new RangeError('an element is longer than what contains it');
    const raw = bytes.subarray(at, start + size);
    found.push({ tag: bytes.readUInt8(at), content: bytes.subarray(start, start + size), raw });
    at = start + size;
  }
  return found;
}
