/** HTTP for charts: archives and repositories, with a limit on what is read. */
import { STATUS_CODES } from 'node:http';
import { Agent, request } from 'undici';
import { messageOf } from '../sdk/errors.ts';

export interface Download {
  readonly url: string;
  /** Value of the Authorization header, for the origin of the URL only. */
  readonly authorization?: string | undefined;
  /** PEM; trusted besides what the system trusts. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
}

/** There was no usable answer; the message names the URL without its query, which may hold a signature. */
export class DownloadFailed extends Error {
  override readonly name = 'DownloadFailed';
}

const MAX_BYTES = 100 * 2 ** 20;
const SILENCE_MS = 30_000;

/** The URL without what may be secret in it. */
export function shownUrl(text: string): string {
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}

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
    return await followed(from, agent);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new DownloadFailed(`${what} from "${shownUrl(url)}": ${messageOf(error)}`, { cause: error });
  } finally {
    await agent.destroy();
  }
}

async function followed({ url, authorization, signal }: Download, dispatcher: Agent): Promise<Uint8Array> {
  let at = new URL(url);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const isHome = at.origin === new URL(url).origin;
    const { statusCode, headers, body } = await request(at, {
      dispatcher,
      signal,
      headers: {
        'user-agent': 'espalier',
        ...(authorization !== undefined && isHome && { authorization }),
      },
    });
    const { location } = headers;
    if (statusCode < 300) return readAll(body);
    if (statusCode >= 400 || typeof location !== 'string') {
      throw new Error(`${String(statusCode)} ${STATUS_CODES[statusCode] ?? ''}`.trim());
    }
    await body.dump();
    at = new URL(location, at);
    if (!/^https?:$/.test(at.protocol)) throw new Error('redirected to something that is not HTTP');
  }
  throw new Error('too many redirects');
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > MAX_BYTES) throw new Error(`more than ${String(MAX_BYTES)} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
