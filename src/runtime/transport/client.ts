/** The verbs of the Kubernetes API as raw JSON: objects as the server sent them, with times as strings. */
import { exactJson } from '../../lib/exact-json.ts';
import { apiErrorFrom, DefinitionError, describe, ResponseTooLarge, type RequestRef } from '../errors.ts';
import { decodeFrames } from './frames.ts';
import type { Connection, HttpRequest } from './http.ts';
import { objectIn, objectsIn } from './object-answers.ts';
import { apiVersionOf, keyOf, splitKey } from '../keys.ts';
import { pathOf } from './path.ts';
import { tooLarge } from './responses.ts';
import type { Client, Frame, Key, Kind, Obj, Page, Query, WatchQuery, Write } from '../types.ts';

const PAGE = 500;
/** Factor by which the page size is reduced after a page was too large. */
const SMALLER = 8;
const JSON_TYPE = 'application/json';

/**
 * Creates a client for a connection.
 * @throws ApiError, TransportError or ResponseTooLarge from every verb; messages contain no bodies
 */
export function createClient(connection: Connection): Client {
  return {
    async get<T extends Obj>(kind: Kind<T>, key: Key, signal?: AbortSignal): Promise<T> {
      const answer = await connection.request({
        method: 'GET',
        path: pathOf(kind, key),
        ref: refOf('get', kind, key),
        lane: isLease(kind) ? 'lease' : 'read',
        isIdempotent: true,
        signal,
      });
      return objectIn<T>(answer, {
        server: connection.server,
        ref: refOf('get', kind, key),
        isIdempotent: true,
      });
    },
    list: (kind, query, signal) => listPages(connection, kind, query, signal),
    watch: (kind, query, signal) => watchFrames(connection, kind, query, signal),
    async send<T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T> {
      const request = requestFor(write, connection.fieldManager);
      const answer = await connection.request({ ...request, signal });
      // A deletion may be answered with a Status.
      return write.verb === 'delete'
        ? (answer as T)
        : objectIn<T>(answer, { ...request, server: connection.server });
    },
    raw: (method, path, body, signal) =>
      connection.request({
        method,
        path,
        ref: { verb: method.toLowerCase(), kind: path.split('?')[0] ?? path },
        lane: method === 'GET' ? 'read' : 'write',
        ...(body !== undefined && { body: exactJson(body) }),
        accept: `${JSON_TYPE}, */*`,
        isIdempotent: method === 'GET' || method === 'HEAD',
        signal,
      }),
    close: () => connection.close(),
  };
}

const isLease = (kind: Kind): boolean => kind.kind === 'Lease' && kind.group === 'coordination.k8s.io';

function refOf(
  verb: string,
  kind: Kind,
  where: Key | { readonly namespace?: string | undefined },
): RequestRef {
  const place = typeof where === 'string' ? splitKey(where) : where;
  return { verb, kind: kind.kind, ...place };
}

// ---------------------------------------------------------------- lists and watches

function parameters(fields: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}

/** Content type of metadata-only requests. */
const METADATA_ONLY = (kind: string): string => `${JSON_TYPE};as=${kind};g=meta.k8s.io;v=v1,${JSON_TYPE}`;

interface ListBody {
  readonly items?: unknown;
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
}

/** Keeps only the current page. A page that is too large is requested again with fewer objects. */
async function* listPages<T extends Obj>(
  connection: Connection,
  kind: Kind<T>,
  query: Query,
  signal: AbortSignal | undefined,
): AsyncGenerator<Page<T>> {
  let limit = query.limit ?? PAGE;
  let token: string | undefined;
  let size = 0;
  const { responses: limits, server } = connection;
  const onRead = (bytes: number): void => {
    size += bytes;
    if (size <= limits.maxListBytes) return;
    throw tooLarge('list', limits, server, describe(refOf('list', kind, query)));
  };
  for (;;) {
    let body: ListBody;
    try {
      const request = pageRequest(kind, query, { limit, token });
      body = (await connection.request({ ...request, onRead, signal })) as ListBody;
    } catch (error) {
      if (!mayFitInSmallerPages(error) || limit <= 1) throw error;
      limit = Math.max(1, Math.floor(limit / SMALLER));
      continue;
    }
    const complete = completer(kind);
    const items = objectsIn<T>(body.items ?? [], {
      server,
      ref: refOf('list', kind, query),
      isIdempotent: true,
    });
    for (const item of items) complete(item);
    token = body.metadata?.continue;
    yield { items, resourceVersion: body.metadata?.resourceVersion ?? '' };
    if (!token) return;
  }
}

const mayFitInSmallerPages = (error: unknown): boolean =>
  error instanceof ResponseTooLarge && (error.excess === 'bytes' || error.excess === 'elements');

function pageRequest(
  kind: Kind,
  query: Query,
  { limit, token }: { readonly limit: number; readonly token: string | undefined },
): HttpRequest {
  const version = token ? undefined : query.resourceVersion;
  return {
    method: 'GET',
    path:
      pathOf(kind, { namespace: query.namespace }) +
      parameters({
        labelSelector: query.labels,
        fieldSelector: query.fields,
        limit,
        continue: token,
        resourceVersion: version,
        resourceVersionMatch: version === undefined ? undefined : 'NotOlderThan',
      }),
    ref: refOf('list', kind, { namespace: query.namespace }),
    lane: 'list',
    isIdempotent: true,
    isPage: limit > 1,
    ...(query.metadataOnly && { accept: METADATA_ONLY('PartialObjectMetadataList') }),
  };
}

/**
 * Sets apiVersion and kind: items in lists of built-in kinds have none, and metadata-only items have those of
 * PartialObjectMetadata.
 */
function completer(kind: Kind): (object: Obj) => void {
  const apiVersion = apiVersionOf(kind);
  return (object) => {
    object.apiVersion = apiVersion;
    object.kind = kind.kind;
  };
}

async function* watchFrames<T extends Obj>(
  connection: Connection,
  kind: Kind<T>,
  query: WatchQuery,
  signal: AbortSignal,
): AsyncGenerator<Frame<T>> {
  const ref = refOf('watch', kind, { namespace: query.namespace });
  const body = await connection.stream({
    method: 'GET',
    path:
      pathOf(kind, { namespace: query.namespace }) +
      parameters({
        watch: true,
        allowWatchBookmarks: true,
        labelSelector: query.labels,
        fieldSelector: query.fields,
        resourceVersion: query.resourceVersion,
        timeoutSeconds: query.timeoutSeconds,
        ...(query.sendInitialEvents && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
      }),
    ref,
    ...(query.metadataOnly && { accept: METADATA_ONLY('PartialObjectMetadata') }),
    signal,
  });
  yield { type: 'OPEN' };
  const complete = completer(kind);
  const { server, clock, responses: limits } = connection;
  const source = { ref, server, limits, clock };
  for await (const frame of decodeFrames<T>(body, source)) {
    if (frame.type === 'ADDED' || frame.type === 'MODIFIED' || frame.type === 'DELETED')
      complete(frame.object);
    yield frame;
  }
}

// ---------------------------------------------------------------- writing

type WriteRequest = Omit<HttpRequest, 'signal'>;

/** The HTTP request for a write (pure). */
function requestFor(write: Write, fieldManager: string): WriteRequest {
  const { kind, sub } = write;
  const lane = isLease(kind) ? 'lease' : 'write';
  const request = (
    verb: string,
    method: string,
    where: Key | { readonly namespace?: string | undefined },
    rest: Partial<WriteRequest> & { readonly query?: Readonly<Record<string, string | boolean>> },
  ): WriteRequest => {
    const { query, ...more } = rest;
    const dryRun = write.isDryRun ? { dryRun: 'All' } : {};
    const path = pathOf(kind, where, sub) + parameters({ ...(query ?? { fieldManager }), ...dryRun });
    const ref = { ...refOf(verb, kind, where), ...(sub && { sub }) };
    return { method, path, ref, lane, isIdempotent: false, ...more };
  };

  switch (write.verb) {
    case 'create':
      if (kind.namespaced && !write.object.metadata.namespace) {
        throw new DefinitionError({
          message: `${kind.kind} ${write.object.metadata.name} cannot be created: it has no namespace`,
        });
      }
      return request('create', 'POST', createdAt(write.object), { body: exactJson(write.object) });
    case 'replace':
      return request('update', 'PUT', keyOf(write.object), { body: exactJson(write.object) });
    case 'merge':
      return request('patch', 'PATCH', write.key, {
        body: exactJson(write.body),
        contentType: 'application/merge-patch+json',
        // If the body contains a version, the second of two equal patches conflicts with the first.
        isIdempotent: versionIn(write.body) === undefined,
      });
    case 'strategic':
      return request('patch', 'PATCH', write.key, {
        body: exactJson(write.body),
        contentType: 'application/strategic-merge-patch+json',
      });
    case 'json':
      return request('patch', 'PATCH', write.key, {
        body: exactJson(write.ops),
        contentType: 'application/json-patch+json',
      });
    case 'apply':
      return request('apply', 'PATCH', keyOf(write.object), {
        query: { fieldManager: write.manager, force: write.force },
        body: exactJson(write.object),
        contentType: 'application/apply-patch+yaml',
        isIdempotent: versionIn(write.object) === undefined,
      });
    case 'delete':
      return request('delete', 'DELETE', write.key, {
        query: {},
        body: JSON.stringify(deleteOptions(write)),
      });
  }
}

/** A create is sent to the collection; its name is used in messages only. */
const createdAt = (object: Obj): { namespace?: string | undefined; name?: string } => ({
  namespace: object.metadata.namespace,
  name: object.metadata.name,
});

const versionIn = (body: object): unknown =>
  (body as { metadata?: { resourceVersion?: unknown } }).metadata?.resourceVersion;

const deleteOptions = (write: Extract<Write, { verb: 'delete' }>): object => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...((write.uid !== undefined || write.resourceVersion !== undefined) && {
    preconditions: {
      ...(write.uid !== undefined && { uid: write.uid }),
      ...(write.resourceVersion !== undefined && { resourceVersion: write.resourceVersion }),
    },
  }),
  ...(write.propagation !== undefined && { propagationPolicy: write.propagation }),
  ...(write.gracePeriodSeconds !== undefined && { gracePeriodSeconds: write.gracePeriodSeconds }),
});

/** The error in an ERROR event of a watch. */
export const errorInFrame = (status: unknown, ref: RequestRef): Error =>
  apiErrorFrom(Number((status as { code?: unknown } | null)?.code ?? 500), status, ref);
