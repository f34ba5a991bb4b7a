/** Limits for the size of responses, by the kind of server, and for the bytes in memory at a time. */
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
/** The maximum of the Kubernetes decoders: deeper data cannot be stored in a cluster. */
const HOST_DEPTH = 10_000;
/**
 * Limits the number of values in one response. V8 needs up to a microsecond and 130 bytes for a value of the most
 * expensive kind, objects with many different keys; so a response of a target takes at most 80 ms and 16 MiB.
 */
const TARGET_BYTES_PER_ELEMENT = 128;
/**
 * An object of 1.5 MiB, the maximum of etcd, can have a million values; it must not prevent its whole kind from being
 * read.
 */
const HOST_BYTES_PER_ELEMENT = 32;
const MAX_PAGE_ELEMENTS = 2 ** 19;
const FRAME_SHARE = 4;
const LIST_SHARE = 2;

/** The limits of one kind of connections. */
export interface ResponseLimits extends StructureLimits {
  /** The kind of server: the host cluster, or clusters that tenants name. */
  readonly of: 'host' | 'target';
  /** Maximum of one response, uncompressed. */
  readonly maxBytes: number;
  /** Maximum of one event of a watch. */
  readonly maxFrameBytes: number;
  /** Maximum of all pages of a list, because the caller may keep them. */
  readonly maxListBytes: number;
  /** Used instead of `maxElements` for a page of a list, which can be requested again in smaller pages. */
  readonly maxPageElements: number;
  /** Shared by all connections of the kind. */
  readonly budget: ByteBudget;
  /** Large responses are parsed one after the other, with pauses; absent: immediately. */
  readonly turns?: PacedTurns;
}

/** The limits of a process. */
export interface Responses {
  readonly host: ResponseLimits;
  readonly target: ResponseLimits;
  readonly downloads: DownloadLimits;
}

/** Configurable limits; the others are derived from them. */
export interface ResponseSettings {
  /** Maximum size of a response of the host cluster in MiB; default 64. */
  readonly hostResponseMiB?: number | undefined;
  /** Maximum size of a response of a target cluster in MiB; default 16. */
  readonly targetResponseMiB?: number | undefined;
  /** Maximum levels of nesting in a response of a target cluster; default 500. */
  readonly targetResponseDepth?: number | undefined;
  /** Maximum size of a blob, chart or index in MiB; default 64. */
  readonly downloadMiB?: number | undefined;
}

/** Each kind of server has its own budget, so that tenants do not delay the connection to the host cluster. */
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

/** The default, with one budget for the whole process. */
export const defaultResponses: Responses = createResponses();

/** The exceeded limit. */
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
