/**
 * Reads the body of a response within limits, which are checked while it arrives: if it exceeds them, the connection
 * is closed. Small bodies are read at once. Larger ones wait for a share of the budget; the socket is not read
 * meanwhile, so the sender waits.
 */
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ByteBudget, ByteShare } from './byte-budget.ts';
import type { Clock } from './clock.ts';
import { JsonScan, type StructureExcess, type StructureLimits } from './json-scan.ts';

/** A response whose body has not been read. */
export interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

interface BodyLimits {
  /** Uncompressed. */
  readonly maxBytes: number;
  /** Absent: the body is not JSON, or is not parsed. */
  readonly structure?: StructureLimits;
  /** For archives, which some servers declare as compressed because they are: the bytes unchanged. */
  readonly keepsEncoding?: boolean;
  readonly budget: ByteBudget;
  /** Whose share of the budget it is: the namespace, or the server if that is not known. */
  readonly key: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The error for an exceeded limit. */
  readonly tooLarge: (excess: StructureExcess | 'bytes') => Error;
}

/** Bodies up to this size are read without a reservation: they are most of the responses, and few of the bytes. */
export const FREE_BYTES = 256 * 1024;
/** Time limit for a body of any size, because it may hold a reservation. */
const MAX_ARRIVAL_MS = 60_000;

/** The body arrived too slowly, or in an unknown encoding. */
export class BodyUnreadable extends Error {
  readonly code: 'ERR_BODY_TIMEOUT' | 'ERR_CONTENT_ENCODING';

  constructor(code: BodyUnreadable['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The result of `use` for the bytes, which stay reserved until then.
 * @throws the error of `tooLarge`; BodyUnreadable; errors of the connection; the reason of the signal
 */
export async function withBody<R>(
  response: Answer,
  limits: BodyLimits,
  use: (bytes: Buffer) => R | Promise<R>,
): Promise<R> {
  const reading = new Reading(response, limits);
  try {
    return await use(await reading.bytes());
  } finally {
    reading.end();
  }
}

class Reading {
  readonly #limits: BodyLimits;
  readonly #body: Readable;
  readonly #declared: number | undefined;
  #share: ByteShare | undefined;
  #cancelDeadline: () => void = () => undefined;

  constructor(response: Answer, limits: BodyLimits) {
    this.#limits = limits;
    this.#body = limits.keepsEncoding ? quietly(response.body) : unpackedBody(response);
    this.#declared = this.#body === response.body ? lengthOf(response) : undefined;
  }

  async bytes(): Promise<Buffer> {
    const { maxBytes, structure, tooLarge } = this.#limits;
    if ((this.#declared ?? 0) > maxBytes) throw tooLarge('bytes');
    const scan = structure && new JsonScan(structure);
    this.#startDeadline();
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.#body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge('bytes');
      const excess = scan?.feed(chunk);
      if (excess) throw tooLarge(excess);
      chunks.push(chunk);
      if (size > FREE_BYTES && !this.#share) await this.#takeShare();
    }
    this.#cancelDeadline();
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
  }

  async #takeShare(): Promise<void> {
    const { budget, maxBytes, key, signal } = this.#limits;
    // The time limit does not include the wait for the budget.
    this.#cancelDeadline();
    this.#share = await budget.take(this.#declared ?? maxBytes, key, signal);
    this.#startDeadline();
  }

  #startDeadline(): void {
    this.#cancelDeadline = deadlineOf(this.#body, this.#limits.clock);
  }

  /** The connection of a body that was not read completely is closed. */
  end(): void {
    this.#cancelDeadline();
    this.#share?.release();
    this.#share = undefined;
    this.#body.destroy();
  }
}

/** Ends a body that takes too long. @returns a function that cancels it */
const deadlineOf = (body: Readable, clock: Clock): (() => void) =>
  clock.at(clock.now() + MAX_ARRIVAL_MS, () => {
    const seconds = String(MAX_ARRIVAL_MS / 1000);
    body.destroy(new BodyUnreadable('ERR_BODY_TIMEOUT', `the answer took more than ${seconds} s to arrive`));
  });

/** The beginning of a body of which no more is needed, such as an error message. @throws BodyUnreadable */
export async function beginningOf(response: Answer, maxBytes: number, clock: Clock): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const body = unpackedBody(response);
  const cancelDeadline = deadlineOf(body, clock);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } finally {
    cancelDeadline();
  }
  return Buffer.concat(chunks);
}

/** The uncompressed body. @throws BodyUnreadable for an unknown encoding */
export function unpackedBody({ headers, body }: Answer): Readable {
  quietly(body);
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || encoding === '') return body;
  if (encoding === 'gzip' || encoding === 'x-gzip') {
    // If one of the two ends early, it ends the other; the reader receives the error.
    return pipeline(body, createGunzip(), () => undefined);
  }
  body.destroy();
  throw new BodyUnreadable(
    'ERR_CONTENT_ENCODING',
    `the answer has the content-encoding "${encoding.slice(0, 40)}", which was not asked for`,
  );
}

/** Readers receive errors in another way; the error of a body without a reader is ignored. */
const quietly = (body: Readable): Readable => body.on('error', () => undefined);

function lengthOf({ headers }: Answer): number | undefined {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return Number.isFinite(length) ? length : undefined;
}
