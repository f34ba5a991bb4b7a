/** Downloads chart archives and repository indexes by HTTP, with a size limit. */
import { STATUS_CODES } from 'node:http';
import type { Agent } from 'undici';
import { loadAgent } from '../../src/lib/undici.ts';
import { ByteBudget, shareOf, type DownloadLimits } from '../../src/lib/byte-budget.ts';
import { Trust } from '../../src/components/trust.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { withBody, type Answer } from '../../src/lib/response-body.ts';
import { outlookOfStatus, type Outlook } from '../../src/lib/outlook.ts';
import { sizeText } from '../../src/lib/sizes.ts';
import { connectionAdvice, connectionCode } from '../../src/lib/connection.ts';
import { messageOf } from '../sdk/errors.ts';

export interface Download {
  readonly url: string;
  /** The URL of the server that named it, if a user did not. */
  readonly namedBy?: string | undefined;
  /** Value of the Authorization header; only sent to the origin of the URL. */
  readonly authorization?: string | undefined;
  /** Certificate authorities in PEM; trusted in addition to those of `trust`. */
  readonly ca?: string | undefined;
  /** Certificate authorities of the configuration; default: those of Node. */
  readonly trust?: Pick<Trust, 'connect' | 'chooserOf'> | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Default: 64 MiB for one download, and twice as much for all parallel downloads of the process. */
  readonly limits?: DownloadLimits | undefined;
  /** Of the deploy item: namespaces share the memory for downloads. */
  readonly namespace: string | undefined;
}

/** The download failed. The message contains the URL without its query, which may hold a signature. */
export class DownloadFailed extends Error {
  override readonly name = 'DownloadFailed';
  /** Of the response; undefined if there was none, or it was not an error. */
  readonly statusCode: number | undefined;

  constructor(message: string, options: ErrorOptions & { readonly statusCode?: number | undefined } = {}) {
    super(message, options);
    this.statusCode = options.statusCode;
  }

  /** Without a response, the connection decides. */
  get outlook(): Outlook | undefined {
    return this.statusCode === undefined ? undefined : outlookOfStatus('files', this.statusCode);
  }
}

class ErrorResponse extends Error {
  readonly statusCode: number;

  constructor(statusCode: number) {
    super(`${String(statusCode)} ${STATUS_CODES[statusCode] ?? ''}`.trim());
    this.statusCode = statusCode;
  }
}

/** The response exceeds the size limit; a retry cannot help. */
export class DownloadTooLarge extends DownloadFailed {
  override get outlook(): Outlook {
    return 'final';
  }
}

const defaultLimits: DownloadLimits = {
  maxBytes: 64 * 2 ** 20,
  budget: new ByteBudget(128 * 2 ** 20),
};
const SILENCE_MS = 30_000;

/** The URL without credentials and query, for messages. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}

const TRUST =
  'give its certificate authority as customCAData of the repository in helmChartRepoCredentials of the Context, or add it to registry.caFiles in the configuration';

const MAX_REDIRECTS = 5;

/** @param what start of the message, for example `unable to fetch helm chart`. @throws DownloadFailed */
export async function download(what: string, from: Download): Promise<Uint8Array> {
  const { url, signal } = from;
  try {
    return await followed(what, from);
  } catch (error) {
    if (signal.aborted || error instanceof DownloadTooLarge) throw error;
    const advice = connectionAdvice(error, TRUST);
    const why = advice ? `${connectionCode(error)}: ${advice}` : messageOf(error);
    const statusCode = error instanceof ErrorResponse ? error.statusCode : undefined;
    throw new DownloadFailed(`${what} from "${shownUrl(url)}": ${why}`, { cause: error, statusCode });
  }
}

async function followed(what: string, from: Download): Promise<Uint8Array> {
  const { trust = new Trust(), ca } = from;
  const first = new URL(from.namedBy ?? from.url);
  let at = new URL(from.url);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const { connect } = trust.connect(ca, trust.chooserOf(at, first));
    const agent = new (loadAgent())({
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
      connect: { timeout: SILENCE_MS, ...connect },
    });
    try {
      const answer = await step(what, from, at, agent);
      if (!(answer instanceof URL)) return answer;
      at = answer;
    } finally {
      await agent.destroy();
    }
  }
  throw new Error('too many redirects');
}

/** Returns what the server sends, or where it redirects to. */
async function step(what: string, from: Download, at: URL, agent: Agent): Promise<Uint8Array | URL> {
  const { authorization, signal } = from;
  const isHome = at.origin === new URL(from.url).origin;
  const response = await agent.request({
    origin: at.origin,
    path: at.pathname + at.search,
    method: 'GET',
    signal,
    headers: {
      'user-agent': 'espalier',
      ...(authorization !== undefined && isHome && { authorization }),
    },
  });
  const { statusCode, headers, body } = response;
  if (statusCode < 300) return readAll(response, what, from);
  const { location } = headers;
  if (statusCode >= 400 || typeof location !== 'string') throw new ErrorResponse(statusCode);
  await body.dump();
  const next = new URL(location, at);
  if (!/^https?:$/.test(next.protocol)) throw new Error('redirected to something that is not HTTP');
  return next;
}

/** Servers may declare a compressed archive as content encoding, so the bytes are not decoded. */
function readAll(
  answer: Answer,
  what: string,
  { url, clock, signal, namespace, limits = defaultLimits }: Download,
): Promise<Uint8Array> {
  const { maxBytes, budget } = limits;
  const tooLarge = (): Error =>
    new DownloadTooLarge(
      `${what} from "${shownUrl(url)}": the server answered with more than ${sizeText(maxBytes)}; limits.downloadMiB in the configuration raises this limit`,
    );
  const key = shareOf(namespace, new URL(url).host);
  return withBody(
    answer,
    { maxBytes, budget, key, keepsEncoding: true, clock, signal, tooLarge },
    (bytes) => bytes,
  );
}
