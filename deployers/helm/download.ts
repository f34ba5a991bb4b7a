/** HTTP for charts: archives and repositories, with a limit on what is read. */
import { STATUS_CODES } from 'node:http';
import { Agent, request } from 'undici';
import { ByteBudget, type DownloadLimits } from '../../src/lib/byte-budget.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { withBody, type Answer } from '../../src/lib/response-body.ts';
import { sizeText } from '../../src/lib/sizes.ts';
import { connectionAdvice, connectionCode } from '../../src/lib/connection.ts';
import { messageOf } from '../sdk/errors.ts';

interface Download {
  readonly url: string;
  /** Value of the Authorization header, for the origin of the URL only. */
  readonly authorization?: string | undefined;
  /** PEM; trusted besides what the system trusts. */
  readonly ca?: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Default: 64 MiB, and twice as much at a time in the whole process. */
  readonly limits?: DownloadLimits | undefined;
}

/** There was no usable answer; the message names the URL without its query, which may hold a signature. */
export class DownloadFailed extends Error {
  override readonly name = 'DownloadFailed';
}

/** There is more than is read; it will be no less next time. */
export class DownloadTooLarge extends DownloadFailed {}

const defaultLimits: DownloadLimits = {
  maxBytes: 64 * 2 ** 20,
  budget: new ByteBudget(128 * 2 ** 20),
};
const SILENCE_MS = 30_000;

/** The URL without what may be secret in it. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}

const TRUST =
  'give its certificate authority as customCAData of the repository in helmChartRepoCredentials of the Context, or add it to the PEM file that NODE_EXTRA_CA_CERTS names';

const MAX_REDIRECTS = 5;

/** @param what begins the message, such as `unable to fetch helm chart`. @throws DownloadFailed */
export async function download(what: string, from: Download): Promise<Uint8Array> {
  const { url, ca, signal } = from;
  const agent = new Agent({
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: { timeout: SILENCE_MS, ...(ca !== undefined && { ca }) },
  });
  try {
    return await followed(what, from, agent);
  } catch (error) {
    if (signal.aborted || error instanceof DownloadTooLarge) throw error;
    const advice = connectionAdvice(error, TRUST);
    const why = advice ? `${connectionCode(error)}: ${advice}` : messageOf(error);
    throw new DownloadFailed(`${what} from "${shownUrl(url)}": ${why}`, { cause: error });
  } finally {
    await agent.destroy();
  }
}

async function followed(what: string, from: Download, dispatcher: Agent): Promise<Uint8Array> {
  const { url, authorization, signal } = from;
  let at = new URL(url);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const isHome = at.origin === new URL(url).origin;
    const response = await request(at, {
      dispatcher,
      signal,
      headers: {
        'user-agent': 'espalier',
        ...(authorization !== undefined && isHome && { authorization }),
      },
    });
    const { statusCode, headers, body } = response;
    const { location } = headers;
    if (statusCode < 300) return readAll(response, what, from);
    if (statusCode >= 400 || typeof location !== 'string') {
      throw new Error(`${String(statusCode)} ${STATUS_CODES[statusCode] ?? ''}`.trim());
    }
    await body.dump();
    at = new URL(location, at);
    if (!/^https?:$/.test(at.protocol)) throw new Error('redirected to something that is not HTTP');
  }
  throw new Error('too many redirects');
}

/** Servers declare archives to be compressed because they are: the bytes are taken as they come. */
function readAll(
  answer: Answer,
  what: string,
  { url, clock, signal, limits = defaultLimits }: Download,
): Promise<Uint8Array> {
  const { maxBytes, budget } = limits;
  const tooLarge = (): Error =>
    new DownloadTooLarge(
      `${what} from "${shownUrl(url)}": the server answered with more than ${sizeText(maxBytes)}; limits.downloadMiB in the configuration raises this limit`,
    );
  const key = new URL(url).host;
  return withBody(
    answer,
    { maxBytes, budget, key, keepsEncoding: true, clock, signal, tooLarge },
    (bytes) => bytes,
  );
}
