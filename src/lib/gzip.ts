/** Compressed data, recognised by its first two bytes, with a limit on the uncompressed size. */
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** The data is damaged, or larger than the limit when uncompressed. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError';
}

/**
 * Returns the bytes unchanged if they are not compressed.
 * @throws UnpackError
 */
export function unpacked(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  if (!isGzip(bytes)) return Promise.resolve(bytes);
  return new Promise((resolve, reject) => {
    gunzip(bytes, { maxOutputLength: maxBytes }, (error, result) => {
      if (!error) resolve(result);
      else reject(unpackError(error, maxBytes));
    });
  });
}

/** Whether decompression stopped because of `maxOutputLength`. */
export const isTooLarge = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';

function unpackError(cause: Error, maxBytes: number): UnpackError {
  const message = isTooLarge(cause) ? `more than ${String(maxBytes)} bytes when unpacked` : cause.message;
  return new UnpackError(message, { cause });
}

/** The same for small data, synchronously. @throws Error when the data is damaged or too large */
export const unpackedSmall = (bytes: Uint8Array, maxBytes: number): Uint8Array =>
  isGzip(bytes) ? gunzipSync(bytes, { maxOutputLength: maxBytes }) : bytes;

/** Deterministic: without name and time. */
export const packed = (bytes: Uint8Array): Uint8Array => gzipSync(bytes);

const gzipInBackground = promisify(gzip);

/** The same result as `packed`, in another thread. */
export const packInBackground = (bytes: Uint8Array): Promise<Uint8Array> => gzipInBackground(bytes);
