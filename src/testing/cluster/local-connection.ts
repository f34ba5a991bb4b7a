/** A connection to an API server in this process, without sockets. */
import type { LocalApiServer } from '../../apiserver/local.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseExactJson } from '../../lib/exact-json.ts';
import { apiErrorFrom } from '../../runtime/errors.ts';
import type { Connection, HttpRequest } from '../../runtime/transport/http.ts';
import { defaultResponses } from '../../runtime/transport/responses.ts';

const SERVER = 'http://simulated';

export function localConnection({ handler }: LocalApiServer, name: string, clock: Clock): Connection {
  const user = { username: `simulated:${name}`, groups: ['system:masters', 'system:authenticated'] };
  const handle = (request: Omit<HttpRequest, 'lane' | 'isIdempotent'>) => {
    const { method, path, body = '', contentType = 'application/json', accept } = request;
    return handler.handle({
      method,
      url: path,
      headers: { 'content-type': contentType, accept: accept ?? 'application/json', 'user-agent': name },
      body: Buffer.from(body),
      remote: '127.0.0.1',
      user,
    });
  };
  return {
    server: SERVER,
    address: () => Promise.resolve({ server: SERVER }),
    namespace: 'default',
    fieldManager: name,
    clock,
    responses: defaultResponses.host,
    async request(request) {
      request.signal?.throwIfAborted();
      const answer = await handle(request);
      if (answer.type !== 'bytes') throw new TypeError(`${request.path} is a watch`);
      request.onRead?.(answer.body.length);
      const body = bodyOf(answer);
      if (answer.code < 200 || answer.code > 299) throw apiErrorFrom(answer.code, body, request.ref);
      return body;
    },
    async stream(request) {
      const answer = await handle(request);
      if (answer.type === 'watch') return chunksOf(answer.open, request.signal);
      throw apiErrorFrom(answer.code, bodyOf(answer), request.ref);
    },
    close: () => Promise.resolve(),
  };
}

type Answer = Awaited<ReturnType<LocalApiServer['handler']['handle']>>;
type Open = Extract<Answer, { type: 'watch' }>['open'];

/** The parsed JSON, or the text if it is not JSON; undefined if it is empty. */
function bodyOf({ body, headers }: Extract<Answer, { type: 'bytes' }>): unknown {
  const text = body.toString('utf8');
  if (text === '') return undefined;
  return String(headers['content-type']).includes('json') ? parseExactJson(text) : text;
}

/** The body of a watch. It is opened at once, so that no event is missed before the first chunk is read. */
function chunksOf(open: Open, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  const chunks: Buffer[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  const end = (): void => {
    isOver = true;
    wake();
  };
  const close = open({
    queued: 0,
    write: (chunk) => {
      chunks.push(chunk);
      wake();
    },
    end,
  });
  signal?.addEventListener('abort', end, { once: true });
  return (async function* read() {
    try {
      for (;;) {
        yield* chunks.splice(0);
        if (chunks.length > 0) continue;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      close();
    }
  })();
}
