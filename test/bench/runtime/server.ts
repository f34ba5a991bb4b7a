/**
 * A server of generated objects in a separate process, so that its work does not count as the client's. It lists in
 * pages or as a stream, keeps watches open, and applies patches of the status. Its argument is a `ServerTask` as
 * JSON; it sends `{ url }` to its parent, edits an object when the parent sends `{ edit: name }`, and stops its
 * faults when the parent sends `{ stopFaults: true }`.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { objectOf, type BenchObject } from './objects.ts';

export interface ServerTask {
  readonly count: number;
  /** Number of objects with a generation newer than `status.observedGeneration`. */
  readonly unsettled: number;
  /** Whether it supports streaming lists. */
  readonly streams: boolean;
  /** Whether it keeps changing objects, fails requests and drops watches. */
  readonly isFaulty?: boolean;
}

const VERSION = 1_000_000;
/** This many changes are kept for later watches. */
const HISTORY = 2_000;

/** How often a faulty server changes an object and drops a watch, and the shares of requests that fail. */
const EDIT_MS = 20;
const DROP_MS = 3_000;
const FAILING_SHARE = { PATCH: 0.1, GET: 0.02 } as const;

function serve({ count, unsettled, streams, isFaulty = false }: ServerTask): void {
  const objects = Array.from({ length: count }, (_, i) => objectOf(i, i < unsettled));
  const texts = objects.map((object) => JSON.stringify(object));
  const indexOf = new Map(objects.map(({ metadata }, i) => [metadata.name, i]));
  const watches = new Set<ServerResponse>();
  /** The events that a later watch has to receive. */
  const edits: { readonly version: number; readonly line: string }[] = [];
  let version = VERSION;

  const page = (query: URLSearchParams): string => {
    const [start = 0, asOf = version] = (query.get('continue') ?? '').split(':').filter(Boolean).map(Number);
    const end = Math.min(count, start + Number(query.get('limit') ?? count));
    const more = end < count ? `,"continue":"${String(end)}:${String(asOf)}"` : '';
    const metadata = `{"resourceVersion":"${String(asOf)}"${more}}`;
    return `{"kind":"BenchList","apiVersion":"bench.example/v1","metadata":${metadata},"items":[${texts.slice(start, end).join(',')}]}`;
  };
  const watch = async (query: URLSearchParams, response: ServerResponse): Promise<void> => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    watches.add(response);
    response.on('close', () => watches.delete(response));
    if (query.get('sendInitialEvents') !== 'true') {
      const seen = Number(query.get('resourceVersion'));
      if (seen < (edits[0]?.version ?? 0) - 1) {
        response.end(
          '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n',
        );
        return;
      }
      for (const news of edits.filter((each) => each.version > seen)) response.write(news.line);
      return;
    }
    for (let i = 0; i < count; i += 100) {
      const lines = texts.slice(i, i + 100).map((text) => `{"type":"ADDED","object":${text}}\n`);
      if (!response.write(lines.join(''))) await new Promise((resolve) => response.once('drain', resolve));
    }
    const annotations = '{"k8s.io/initial-events-end":"true"}';
    response.write(
      `{"type":"BOOKMARK","object":{"apiVersion":"bench.example/v1","kind":"Bench","metadata":{"resourceVersion":"${String(version)}","annotations":${annotations}}}}\n`,
    );
  };
  const change = (name: string, edit: (object: BenchObject) => void): string => {
    const i = indexOf.get(name) ?? 0;
    const object = objects[i] as BenchObject;
    edit(object);
    object.metadata.resourceVersion = String(++version);
    const text = JSON.stringify(object);
    texts[i] = text;
    const line = `{"type":"MODIFIED","object":${text}}\n`;
    edits.push({ version, line });
    if (edits.length > 2 * HISTORY) edits.splice(0, HISTORY);
    for (const response of watches) response.write(line);
    return text;
  };
  const fail = (response: ServerResponse): void => {
    const code = [409, 429, 500, 503, 0][Math.floor(Math.random() * 5)] ?? 0;
    if (code === 0) response.socket?.destroy();
    else {
      const headers = code === 429 ? { 'retry-after': '1' } : {};
      response
        .writeHead(code, headers)
        .end(`{"kind":"Status","code":${String(code)},"message":"injected fault"}`);
    }
  };
  const startFaults = (): void => {
    const editing = setInterval(() => {
      change(
        `object-${String(Math.floor(Math.random() * count))}`,
        ({ metadata }) => void metadata.generation++,
      );
    }, EDIT_MS);
    const dropping = setInterval(() => {
      for (const response of watches) response.socket?.destroy();
    }, DROP_MS);
    process.on('message', ({ stopFaults }: { stopFaults?: boolean }) => {
      if (stopFaults !== true) return;
      isFaulty = false;
      clearInterval(editing);
      clearInterval(dropping);
    });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.setHeader('content-type', 'application/json');
    if (isFaulty && Math.random() < (FAILING_SHARE[request.method as 'GET'] ?? 0)) {
      fail(response);
    } else if (request.method === 'PATCH') {
      const { status } = JSON.parse(Buffer.concat(chunks).toString()) as Partial<BenchObject>;
      const name = pathname.split('/').at(-2) ?? '';
      response.end(change(name, (object) => Object.assign(object.status, status)));
    } else if (searchParams.get('watch') === null) {
      response.end(page(searchParams));
    } else if (searchParams.get('sendInitialEvents') === 'true' && !streams) {
      response.writeHead(422).end('{"kind":"Status","code":422,"message":"no streaming lists"}');
    } else {
      await watch(searchParams, response);
    }
  };

  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` });
  });
  if (isFaulty) startFaults();
  process.on('message', ({ edit }: { edit?: string }) => {
    if (edit !== undefined) change(edit, ({ metadata }) => void metadata.generation++);
  });
}

serve(JSON.parse(process.argv[2] ?? '') as ServerTask);
process.once('disconnect', () => process.exit(0));
