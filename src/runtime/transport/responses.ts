/** How large the answers of servers may be, by what the servers are to us, and how much of them is in memory at a time. */
import { ByteBudget, type DownloadLimits } from '../../lib/byte-budget.ts';
import type { StructureLimits } from '../../lib/json-scan.ts';
import { PacedTurns } from '../../lib/paced-turns.ts';
import { sizeText } from '../../lib/sizes.ts';
import { ResponseTooLarge } from '../errors.ts';

const MIB = 2 ** 20;

const DEFAULT_TARGET_MIB = 16;
const DEFAULT_HOST_MIB = 64;
const DEFAULT_DOWNLOAD_MIB = 64;
const DEFAULT_TARGET_DEPTH = 500;
/** What the decoders of Kubernetes accept: nothing deeper can be stored in a cluster. */
const HOST_DEPTH = 10_000;
/**
 * Values in one answer. V8 needs up to a microsecond and 130 bytes for each of those it finds hardest, which are objects
 * with many different keys; that is 80 ms and 16 MiB for a target's answer.
 */
const TARGET_BYTES_PER_ELEMENT = 128;
/** An object of 1.5 MiB, as much as etcd stores, may have a million; it must not keep its whole kind from being read. */
const HOST_BYTES_PER_ELEMENT = 32;
const MAX_PAGE_ELEMENTS = 2 ** 19;
const FRAME_SHARE = 4;
const LIST_SHARE = 2;

/** Of the connections of one kind. */
export interface ResponseLimits extends StructureLimits {
  /** Whose servers these are: the cluster that we work for, or those that tenants name. */
  readonly of: 'host' | 'target';
  /** Of one answer, unpacked. */
  readonly maxBytes: number;
  /** Of one event of a watch. */
  readonly maxFrameBytes: number;
  /** Of all pages of a list together, which whoever asks may keep. */
  readonly maxListBytes: number;
  /** Instead of `maxElements` for a page of a list, which may be asked for again in smaller pieces. */
  readonly maxPageElements: number;
  /** Shared by all connections of the kind. */
  readonly budget: ByteBudget;
  /** Large answers are parsed in turns; absent: at once. */
  readonly turns?: PacedTurns;
}

/** What a process keeps to. */
export interface Responses {
  readonly host: ResponseLimits;
  readonly target: ResponseLimits;
  readonly downloads: DownloadLimits;
}

/** What can be set of the limits; the rest follows from it. */
export interface ResponseSettings {
  /** MiB of one answer of the cluster that we work for; default 64. */
  readonly hostResponseMiB?: number | undefined;
  /** MiB of one answer of a cluster that a tenant names; default 16. */
  readonly targetResponseMiB?: number | undefined;
  /** Levels of nesting in an answer of such a cluster; default 500. */
  readonly targetResponseDepth?: number | undefined;
  /** MiB of one blob, chart or index; default 64. */
  readonly downloadMiB?: number | undefined;
}

/** Each kind has a budget of its own, so that no tenant delays the connection to the host cluster. */
export function createResponses(settings: ResponseSettings = {}): Responses {
  const { hostResponseMiB = DEFAULT_HOST_MIB, targetResponseMiB = DEFAULT_TARGET_MIB } = settings;
  const { targetResponseDepth = DEFAULT_TARGET_DEPTH, downloadMiB = DEFAULT_DOWNLOAD_MIB } = settings;
  const [hostBytes, targetBytes] = [hostResponseMiB * MIB, targetResponseMiB * MIB];
  const targetElements = targetBytes / TARGET_BYTES_PER_ELEMENT;
  return {
    host: {
      of: 'host',
      maxBytes: hostBytes,
      maxFrameBytes: hostBytes / FRAME_SHARE,
      maxListBytes: Infinity,
      maxDepth: HOST_DEPTH,
      maxElements: hostBytes / HOST_BYTES_PER_ELEMENT,
      maxPageElements: Math.min(MAX_PAGE_ELEMENTS, hostBytes / HOST_BYTES_PER_ELEMENT),
      budget: new ByteBudget(2 * hostBytes),
    },
    target: {
      of: 'target',
      maxBytes: targetBytes,
      maxFrameBytes: targetBytes / FRAME_SHARE,
      maxListBytes: targetBytes * LIST_SHARE,
      maxDepth: targetResponseDepth,
      maxElements: targetElements,
      maxPageElements: targetElements,
      budget: new ByteBudget(4 * targetBytes),
      turns: new PacedTurns(),
    },
    downloads: { maxBytes: downloadMiB * MIB, budget: new ByteBudget(2 * downloadMiB * MIB) },
  };
}

/** For whoever sets none: one budget for the whole process. */
export const defaultResponses: Responses = createResponses();

/** The limit that an answer has passed. */
export type ResponseExcess = ResponseTooLarge['excess'];

const KEYS = {
  host: { size: 'limits.hostResponseMiB', depth: undefined },
  target: { size: 'limits.targetResponseMiB', depth: 'limits.targetResponseDepth' },
} as const;

const WHOSE = { host: 'the host cluster', target: 'a target cluster' } as const;

/** @param request such as `get ConfigMap default/a` */
export function tooLarge(
  excess: ResponseExcess,
  limits: ResponseLimits,
  server: string,
  request: string,
  isPage = false,
): ResponseTooLarge {
  const keys = KEYS[limits.of];
  const key = excess === 'depth' ? keys.depth : keys.size;
  const remedy = key === undefined ? '' : `; ${key} in the configuration raises it`;
  const message = `${server} answered the request to ${request} with ${said(excess, limits, isPage)}, the limit for ${WHOSE[limits.of]}${remedy}`;
  return new ResponseTooLarge({ message, excess, isFinal: limits.of === 'target' });
}

function said(excess: ResponseExcess, limits: ResponseLimits, isPage: boolean): string {
  switch (excess) {
    case 'bytes':
      return `more than ${sizeText(limits.maxBytes)}`;
    case 'frame':
      return `an event of more than ${sizeText(limits.maxFrameBytes)}`;
    case 'list':
      return `lists of more than ${sizeText(limits.maxListBytes)}`;
    case 'depth':
      return `data nested more than ${String(limits.maxDepth)} levels deep`;
    case 'elements':
      return `more than ${String(isPage ? limits.maxPageElements : limits.maxElements)} values`;
  }
}
