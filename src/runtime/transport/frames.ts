/**
 * Splits the body of a watch into events. Lines are found as bytes, so a character may be split between two chunks.
 * Only the unfinished last line is kept. After some milliseconds of work, other tasks of the event loop run; the
 * socket is not read meanwhile, so no data accumulates.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { structureExcess } from '../../lib/json-scan.ts';
import { describe, TransportError, type RequestRef } from '../errors.ts';
import { tooLarge, type ResponseExcess, type ResponseLimits } from './responses.ts';
import type { Frame } from '../types.ts';

const SLICE_MS = 8;
const NEWLINE = 0x0a;

/** The origin of a body, for messages, and the maximum size of its events. */
interface FrameSource {
  readonly ref: RequestRef;
  readonly server: string;
  readonly limits: ResponseLimits;
  readonly clock: Clock;
}

/**
 * @throws TransportError when a line is not an event, or the body ends within one; ResponseTooLarge for an event
 * beyond
 *   the limits, as soon as it exceeds them
 */
export async function* decodeFrames<T>(
  body: AsyncIterable<Uint8Array>,
  source: FrameSource,
): AsyncGenerator<Frame<T>> {
  const { clock, limits } = source;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let sliceEnd = clock.now() + SLICE_MS;
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const piece = bytes.subarray(start, end);
      const line = tail.length > 0 ? Buffer.concat([...tail, piece]) : piece;
      tail = [];
      tailBytes = 0;
      start = end + 1;
      if (line.length > limits.maxFrameBytes) throw beyond(source, 'frame');
      if (line.length > 1) yield parseFrame<T>(line, source);
      if (clock.now() >= sliceEnd) {
        await turn();
        sliceEnd = clock.now() + SLICE_MS;
      }
    }
    if (start < bytes.length) {
      tail.push(bytes.subarray(start));
      tailBytes += bytes.length - start;
      if (tailBytes > limits.maxFrameBytes) throw beyond(source, 'frame');
    }
  }
  // Some servers do not end the last line with a newline.
  if (tailBytes > 0) yield parseFrame<T>(Buffer.concat(tail), source);
}

interface RawFrame {
  readonly type: string;
  readonly object: {
    readonly metadata?: { readonly resourceVersion?: string; readonly annotations?: object };
  };
}

function parseFrame<T>(line: Buffer, source: FrameSource): Frame<T> {
  const { ref } = source;
  const excess = structureExcess(line, source.limits);
  if (excess) throw beyond(source, excess);
  let raw: RawFrame;
  try {
    raw = parseExactJson(line.toString('utf8')) as RawFrame;
  } catch (error) {
    throw broken(ref, 'a line was cut off', error);
  }
  if (typeof raw !== 'object' || raw === null || typeof raw.object !== 'object' || raw.object === null) {
    throw broken(ref, 'a line is not a watch event');
  }
  switch (raw.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type: raw.type, object: raw.object as T };
    case 'BOOKMARK': {
      const { resourceVersion = '', annotations } = raw.object.metadata ?? {};
      const isEnd =
        (annotations as Record<string, string> | undefined)?.['k8s.io/initial-events-end'] === 'true';
      return { type: 'BOOKMARK', resourceVersion, initialEventsEnd: isEnd };
    }
    case 'ERROR':
      return { type: 'ERROR', status: raw.object };
    default:
      throw broken(ref, `an event of unknown type ${raw.type}`);
  }
}

const beyond = ({ limits, server, ref }: FrameSource, excess: ResponseExcess): Error =>
  tooLarge(excess, limits, server, describe(ref));

/** The message of the cause may contain parts of the object, so only its class is kept. */
const broken = (ref: RequestRef, what: string, cause?: unknown): TransportError =>
  new TransportError({
    message: `the answer to ${describe(ref)} is broken: ${what}`,
    safeToRepeat: true,
    ...(cause instanceof Error ? { cause: cause.name } : undefined),
  });
