/** Compressed bytes, told by their first two, with a limit on what they unpack to. */
import { gunzip, gunzipSync, gzipSync } from 'node:zlib';

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Unpacked they are more than what was allowed. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/**
 * The bytes themselves when they are not compressed.
 * @throws TooLarge; Error when the compressed bytes are damaged
 */
export function unpacked(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  if (!isGzip(bytes)) return Promise.resolve(bytes);
  return new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: maxBytes }, (error, result) => {
      if (!error) resolve(result);
      else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
        reject(new TooLarge(`more than ${String(maxBytes)} bytes when unpacked`, { cause: error }));
      } else reject(error);
    });
  });
}

/** The same for something small, at once. @throws Error when the bytes are damaged or too many */
export const unpackedSmall = (bytes: Uint8Array, maxBytes: number): Uint8Array =>
  isGzip(bytes) ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes;

/** The same bytes for the same contents: no name, no time. */
export const packed = (bytes: Uint8Array): Uint8Array => gzipSync(bytes);
