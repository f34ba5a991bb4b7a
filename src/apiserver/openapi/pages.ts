/** Serves the OpenAPI documents, which are created on request and cached until the catalogue changes. */
import type { Answer, Call, World } from '../api.ts';
import type { Registry } from '../kinds/kinds.ts';
import { documentHash, documentKey, openApiIndex, openApiV3 } from './openapi.ts';

interface Document {
  readonly revision: number;
  readonly hash: string;
  readonly body: Buffer;
}

const documents = new WeakMap<Registry, Map<string, Document>>();

export function openApiAnswer(world: World, call: Call): Answer | undefined {
  const { path } = call.info;
  if (call.method === 'GET' && path === '/openapi/v2') return oldDocument(call);
  if (call.method !== 'GET' || !path.startsWith('/openapi/v3')) return undefined;
  const { registry } = world;
  const groups = registry
    .groups()
    .flatMap(({ group, versions }) =>
      versions.map((version) => ({ group, version, key: documentKey(group, version) })),
    );
  if (path === '/openapi/v3') {
    const entries = groups.map(({ group, version, key }) => ({
      key,
      hash: documentOf(registry, group, version).hash,
    }));
    return { type: 'document', code: 200, value: openApiIndex(entries) };
  }
  const found = groups.find(({ key }) => path === `/openapi/v3/${key}`);
  if (!found) return undefined;
  const { hash, body } = documentOf(registry, found.group, found.version);
  const asked = call.query.get('hash');
  if (asked !== null && asked !== hash)
    return { type: 'bytes', code: 301, headers: { location: `${path}?hash=${hash}` }, body: Buffer.alloc(0) };
  const etag = `"${hash}"`;
  const caching: Record<string, string> =
    asked === null ? { 'cache-control': 'no-cache, private' } : { 'cache-control': 'public, immutable' };
  if (call.headers['if-none-match'] === etag)
    return { type: 'bytes', code: 304, headers: { etag, ...caching }, body: Buffer.alloc(0) };
  return {
    type: 'bytes',
    code: 200,
    headers: { 'content-type': 'application/json', etag, vary: 'Accept', ...caching },
    body,
  };
}

/**
 * The OpenAPI v2 document, without any kinds. kubectl reads it before it sends a list of objects, to check them itself;
 * it leaves kinds that are not in the document to the server, which checks everything anyway.
 */
function oldDocument(call: Call): Answer {
  const title = 'Kubernetes';
  const version = 'embedded';
  if (!String(call.headers['accept'] ?? '').includes('proto-openapi.spec.v2')) {
    return { type: 'document', code: 200, value: { swagger: '2.0', info: { title, version }, paths: {} } };
  }
  const info = Buffer.concat([protobufField(1, Buffer.from(title)), protobufField(2, Buffer.from(version))]);
  const body = Buffer.concat([
    protobufField(1, Buffer.from('2.0')),
    protobufField(2, info),
    protobufField(8, Buffer.alloc(0)),
  ]);
  // The requested media type is invalid according to MIME, so upstream responds with this one.
  const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
  return { type: 'bytes', code: 200, headers: { 'content-type': type }, body };
}

/** A length-delimited field of less than 128 bytes. */
const protobufField = (number: number, value: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);

function documentOf(registry: Registry, group: string, version: string): Document {
  let mine = documents.get(registry);
  if (!mine) documents.set(registry, (mine = new Map<string, Document>()));
  const key = documentKey(group, version);
  const present = mine.get(key);
  // Built-in groups never change, and no custom kind can join them.
  const isCurrent = present && (present.revision === registry.revision || registry.isBuiltInGroup(group));
  if (isCurrent) return present;
  const text = JSON.stringify(openApiV3(group, version, registry.inVersion(group, version)));
  const document = { revision: registry.revision, hash: documentHash(text), body: Buffer.from(text) };
  mine.set(key, document);
  return document;
}
