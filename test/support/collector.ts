/** A collector of traces: an HTTP server that decodes OTLP, as JSON or as Protobuf, and keeps the spans. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1: internal, 3: client. */
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  /** The message of an error; undefined if the span has not failed. */
  readonly error: string | undefined;
}

export interface Collector {
  readonly url: string;
  /** In the order of their arrival. */
  readonly spans: readonly ReceivedSpan[];
  /** Attributes of the processes, by request. */
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  readonly requests: readonly { readonly path: string; readonly type: string; readonly headers: object }[];
  /** The answer to all requests from now on. */
  answer(status: number): void;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const resources: Readonly<Record<string, unknown>>[] = [];
  const requests: { path: string; type: string; headers: object }[] = [];
  let status = 200;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const type = request.headers['content-type'] ?? '';
      requests.push({ path: request.url ?? '', type, headers: request.headers });
      response.writeHead(status, { 'content-type': type });
      response.end(type === 'application/json' ? '{}' : undefined);
      if (status !== 200) return;
      const body = Buffer.concat(chunks);
      const message =
        type === 'application/json' ? (JSON.parse(body.toString()) as Json) : decode(body, TRACES);
      for (const resource of list(message, 'resourceSpans')) {
        resources.push(attributesOf(one(resource, 'resource')));
        for (const scope of list(resource, 'scopeSpans')) spans.push(...list(scope, 'spans').map(received));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    spans,
    resources,
    requests,
    answer(next) {
      status = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

type Json = Readonly<Record<string, unknown>>;
const list = (from: Json, field: string): readonly Json[] => (from[field] ?? []) as readonly Json[];
const one = (from: Json, field: string): Json => (from[field] ?? {}) as Json;
const text = (from: Json, field: string): string => {
  const value = from[field] as string | number | bigint | undefined;
  return String(value ?? '');
};

const ERROR = 2;

function received(span: Json): ReceivedSpan {
  const status = one(span, 'status');
  return {
    traceId: text(span, 'traceId'),
    spanId: text(span, 'spanId'),
    parentSpanId: text(span, 'parentSpanId'),
    name: text(span, 'name'),
    kind: Number(span['kind']),
    start: BigInt(text(span, 'startTimeUnixNano')),
    end: BigInt(text(span, 'endTimeUnixNano')),
    attributes: attributesOf(span),
    events: list(span, 'events').map((event) => text(event, 'name')),
    error: Number(status['code'] ?? 0) === ERROR ? text(status, 'message') : undefined,
  };
}

const attributesOf = (from: Json): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    list(from, 'attributes').map((entry) => [text(entry, 'key'), valueOf(one(entry, 'value'))]),
  );

function valueOf(value: Json): unknown {
  const [[kind, content] = ['', undefined]] = Object.entries(value);
  if (kind === 'arrayValue') return list(content as Json, 'values').map(valueOf);
  return kind === 'intValue' ? Number(content) : content;
}

// ---------------------------------------------------------------- Protobuf, as far as traces need it

/** Field names by number; a nested message has its own table. */
type Message = Readonly<
  Record<number, readonly [name: string, type: Message | 'string' | 'hex' | 'number' | 'fixed64']>
>;

const VALUE: Message = {
  1: ['stringValue', 'string'],
  2: ['boolValue', 'number'],
  3: ['intValue', 'number'],
};
const ANY: Message = { ...VALUE, 5: ['arrayValue', { 1: ['values', VALUE] }] };
const ATTRIBUTE: Message = { 1: ['key', 'string'], 2: ['value', ANY] };
const SPAN: Message = {
  1: ['traceId', 'hex'],
  2: ['spanId', 'hex'],
  4: ['parentSpanId', 'hex'],
  5: ['name', 'string'],
  6: ['kind', 'number'],
  7: ['startTimeUnixNano', 'fixed64'],
  8: ['endTimeUnixNano', 'fixed64'],
  9: ['attributes', ATTRIBUTE],
  11: ['events', { 2: ['name', 'string'] }],
  15: ['status', { 2: ['message', 'string'], 3: ['code', 'number'] }],
};
const TRACES: Message = {
  1: [
    'resourceSpans',
    { 1: ['resource', { 1: ['attributes', ATTRIBUTE] }], 2: ['scopeSpans', { 2: ['spans', SPAN] }] },
  ],
};
const LISTS: readonly string[] = ['resourceSpans', 'scopeSpans', 'spans', 'attributes', 'events', 'values'];

function decode(bytes: Buffer, message: Message): Json {
  const result: Record<string, unknown> = {};
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const read = (wire: number): Buffer | number | bigint => {
    if (wire === 0) return varint();
    const length = wire === 2 ? varint() : wire === 1 ? 8 : 4;
    const content = bytes.subarray(at, (at += length));
    return wire === 1 ? content.readBigUInt64LE() : content;
  };
  while (at < bytes.length) {
    const tag = varint();
    const content = read(tag & 7);
    const [name, type] = message[tag >>> 3] ?? [];
    if (name === undefined || type === undefined) continue;
    const value =
      typeof content === 'object'
        ? type === 'string' || type === 'hex'
          ? content.toString(type === 'hex' ? 'hex' : 'utf8')
          : decode(content, type as Message)
        : content;
    result[name] = LISTS.includes(name) ? [...((result[name] ?? []) as unknown[]), value] : value;
  }
  return result;
}
