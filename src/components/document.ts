/** Parses JSON documents of registries and archives, for example manifests, with limits for size and nesting. */
import { structureExcess } from '../lib/json-scan.ts';
import { ContentInvalid } from './errors.ts';

const MAX_BYTES = 4 * 2 ** 20;
/** A manifest with a thousand layers has about 5,000 values. */
const STRUCTURE = { maxDepth: 100, maxElements: 100_000 };

/** @param what for messages. @throws ContentInvalid */
export function parseDocument(bytes: Uint8Array, what: string): unknown {
  const excess = bytes.length > MAX_BYTES ? 'bytes' : structureExcess(bytes, STRUCTURE);
  if (excess) {
    const { maxDepth, maxElements } = STRUCTURE;
    throw new ContentInvalid(
      `${what} is too large: at most ${String(MAX_BYTES)} bytes, ${String(maxElements)} values and ${String(maxDepth)} levels are read`,
    );
  }
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown;
  } catch (cause) {
    throw new ContentInvalid(`${what} is not JSON`, { cause });
  }
}
