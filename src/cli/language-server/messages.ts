/** Messages of the language server protocol: JSON with a header that has its length, in both directions. */
import { parseExactJson } from '../../lib/exact-json.ts';
import { isObject } from '../../lib/objects.ts';

/** A request, a notification, or a response. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
}

const SEPARATOR = '\r\n\r\n';
/** Larger than any file that an editor sends. */
const MAX_BYTES = 64 * 2 ** 20;

/** The input does not follow the protocol. */
export class ProtocolError extends Error {}

/** @throws ProtocolError */
export async function* readMessages(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Message> {
  let rest = Buffer.alloc(0);
  for await (const part of parts) {
    rest = Buffer.concat([rest, part]);
    for (;;) {
      const headEnd = rest.indexOf(SEPARATOR);
      if (headEnd < 0) break;
      const start = headEnd + SEPARATOR.length;
      const end = start + lengthIn(rest.subarray(0, headEnd).toString('latin1'));
      if (rest.length < end) break;
      yield messageIn(rest.subarray(start, end).toString('utf8'));
      rest = rest.subarray(end);
    }
    if (rest.length > MAX_BYTES) throw new ProtocolError('a message is too long');
  }
}

function lengthIn(head: string): number {
  const [, digits] = /^content-length: *(\d+)$/im.exec(head) ?? [];
  const length = Number(digits);
  if (digits === undefined || length > MAX_BYTES)
    throw new ProtocolError('a message has no valid Content-Length');
  return length;
}

function messageIn(text: string): Message {
  try {
    const value = parseExactJson(text);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ProtocolError('a message is not a JSON object');
}

export function messageText(message: object): string {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${String(Buffer.byteLength(text))}${SEPARATOR}${text}`;
}
