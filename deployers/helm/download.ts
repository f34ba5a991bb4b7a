/** HTTP for charts: archives and repositories, with a limit on what is read. */
import { Agent, fetch } from 'undici';
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

/** @param what begins the message, such as `unable to fetch helm chart`. @throws DownloadFailed */
export async function download(
  what: string,
  { url, authorization, ca, signal }: Download,
): Promise<Uint8Array> {
  const fail = (why: string, cause?: unknown): DownloadFailed =>
    new DownloadFailed(`${what} from "${shownUrl(url)}": ${why}`, { cause });
  const agent = new Agent({
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: { timeout: SILENCE_MS, ...(ca !== undefined && { ca }) },
  });
  try {
    const answer = await fetch(url, {
      dispatcher: agent,
      signal,
      headers: { 'user-agent': 'espalier', ...(authorization !== undefined && { authorization }) },
    });
    if (!answer.ok) throw fail(`${String(answer.status)} ${answer.statusText}`.trim());
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of answer.body ?? []) {
      size += (part as Uint8Array).length;
      if (size > MAX_BYTES) throw fail(`more than ${String(MAX_BYTES)} bytes`);
      parts.push(part as Uint8Array);
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (signal.aborted || error instanceof DownloadFailed) throw error;
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw fail(messageOf(cause), error);
  } finally {
    await agent.destroy();
  }
}
