/** Serialises answers: plain objects, lists from cached bytes, Tables and forms with only metadata. */
import { toYaml } from '../../lib/yaml.ts';
import type { Answer, Call, World } from '../api.ts';
import type { Kind } from '../kinds/kinds.ts';
import type { Accept } from './negotiate.ts';
import { badRequest, notAcceptable } from '../status.ts';
import type { Entry } from '../store/storage.ts';
import { crdPrinter, printerOf, tableMetadata, toTable } from '../tables/table.ts';
import type { IncludeObject, Printer, Table } from '../tables/table.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { itemBytes, jsonOf, viewOf } from '../store/view.ts';
import type { Form } from '../store/watch-hub.ts';

export interface Encoded {
  readonly code: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

type Finished = Exclude<Answer, { type: 'watch' }>;

/** @throws ApiError 406 if the requested form does not fit the answer */
export function encodeAnswer(world: World, answer: Finished, call: Pick<Call, 'accept' | 'query'>): Encoded {
  const { accept } = call;
  switch (answer.type) {
    case 'bytes':
      return { code: answer.code, headers: answer.headers, body: answer.body };
    case 'status':
      return encoded(answer.code, answer.body, accept);
    case 'document':
      return encoded(answer.code, answer.value, accept, answer.headers);
    case 'object':
      return encodeObject(world, answer, call);
    case 'list':
      return encodeList(world, answer, call);
  }
}

function encodeObject(
  world: World,
  answer: Extract<Answer, { type: 'object' }>,
  { accept, query }: Pick<Call, 'accept' | 'query'>,
): Encoded {
  const { kind, object, entry, code } = answer;
  if (accept.as === undefined) {
    if (entry && accept.media === 'json' && !accept.pretty) return jsonBytes(code, [jsonOf(entry, kind)]);
    return encoded(code, object, accept);
  }
  if (accept.as === 'Table')
    return encoded(
      code,
      tableOf(world, kind, [object], { accept, query, metadata: tableMetadata(object) }),
      accept,
    );
  if (accept.as === 'PartialObjectMetadataList')
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(kind, kind.kind)})`,
    );
  return encoded(code, partial(object), accept);
}

function encodeList(
  world: World,
  answer: Extract<Answer, { type: 'list' }>,
  { accept, query }: Pick<Call, 'accept' | 'query'>,
): Encoded {
  const { kind, entries } = answer;
  const metadata: JsonObject = {
    resourceVersion: String(answer.rev),
    ...(answer.continue === undefined ? {} : { continue: answer.continue }),
    ...(answer.remaining === undefined ? {} : { remainingItemCount: answer.remaining }),
  };
  switch (accept.as) {
    case 'PartialObjectMetadata':
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${goType(kind, kind.listKind)})`,
      );
    case 'PartialObjectMetadataList':
      return encoded(
        200,
        {
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          metadata,
          items: entries.map((entry) => partial(viewOf(entry, kind))),
        },
        accept,
      );
    case 'Table': {
      const objects = entries.map((entry) => viewOf(entry, kind));
      return encoded(200, tableOf(world, kind, objects, { accept, query, metadata }), accept);
    }
    default:
      return accept.media === 'json' && !accept.pretty
        ? jsonBytes(200, listBytes(kind, entries, metadata))
        : encoded(
            200,
            JSON.parse(Buffer.concat(listBytes(kind, entries, metadata)).toString()) as JsonObject,
            accept,
          );
  }
}

function listBytes(kind: Kind, entries: readonly Entry[], metadata: JsonObject): Buffer[] {
  const head = `{"kind":"${kind.listKind}","apiVersion":"${kind.apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`;
  const chunks: Buffer[] = [Buffer.from(head)];
  entries.forEach((entry, i) => {
    if (i > 0) chunks.push(COMMA);
    chunks.push(itemBytes(entry, kind));
  });
  chunks.push(LIST_END);
  return chunks;
}

const COMMA = Buffer.from(',');
const LIST_END = Buffer.from(']}');
const NEWLINE = Buffer.from('\n');

const jsonBytes = (code: number, chunks: Buffer[]): Encoded => ({
  code,
  headers: { 'content-type': 'application/json' },
  body: Buffer.concat([...chunks, NEWLINE]),
});

function encoded(code: number, value: object, accept: Accept, headers: Record<string, string> = {}): Encoded {
  if (accept.media === 'yaml')
    return {
      code,
      headers: { 'content-type': 'application/yaml', ...headers },
      body: Buffer.from(toYaml(value)),
    };
  const text = accept.pretty ? JSON.stringify(value, undefined, 2) : JSON.stringify(value);
  return {
    code,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(`${text}\n`),
  };
}

interface TableRequest {
  readonly accept: Accept;
  readonly query: URLSearchParams;
  readonly metadata: JsonObject;
  readonly columns?: boolean;
}

function tableOf(world: World, kind: Kind, objects: readonly KubeObject[], request: TableRequest): Table {
  return toTable(printerFor(kind), objects, {
    nowMs: world.clock.wall(),
    includeObject: includeObjectOf(request.query),
    metadata: request.metadata,
    version: request.accept.version === 'v1beta1' ? 'v1beta1' : 'v1',
    columns: request.columns ?? true,
    nullWhenEmpty: kind.builtIn,
  });
}

const printers = new WeakMap<Kind, Printer>();

function printerFor(kind: Kind): Printer {
  let printer = printers.get(kind);
  if (!printer)
    printers.set(
      kind,
      (printer = kind.builtIn ? printerOf(kind.group, kind.kind) : crdPrinter(kind.columns)),
    );
  return printer;
}

/** @throws ApiError 400 for a value that upstream does not accept */
function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'Metadata' || value === 'Object' || value === 'None') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

const partial = (object: KubeObject): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object.metadata,
});

/** The Go type in upstream's messages; only its last part is certain. */
const goType = (kind: Kind, name: string): string =>
  kind.builtIn
    ? `*${kind.group === '' ? 'core' : (kind.group.split('.')[0] ?? '')}.${name}`
    : '*unstructured.UnstructuredList';

/**
 * The encoding of watch events for this client.
 * @throws ApiError 406 for forms that watch events do not support
 */
export function watchForm(world: World, kind: Kind, call: Call): Form {
  const { accept } = call;
  const id = `${kind.apiVersion}/${kind.kind}`;
  if (accept.as === 'Table') {
    includeObjectOf(call.query);
    let first = true;
    return {
      id: undefined,
      encode(object) {
        const rows = (object.metadata.name as string | undefined) === undefined ? [] : [object];
        const table = tableOf(world, kind, rows, {
          accept,
          query: call.query,
          metadata: tableMetadata(object),
          columns: first,
        });
        first = false;
        return Buffer.from(JSON.stringify(table));
      },
    };
  }
  if (accept.as !== undefined)
    return { id: `partial ${id}`, encode: (object) => Buffer.from(JSON.stringify(partial(object))) };
  return { id };
}
