/** Parses a URL: group, version, namespace, resource, name, subresource and verb. */
import { table } from '../../lib/objects.ts';

export interface RequestInfo {
  readonly isResource: boolean;
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for other paths. */
  readonly verb: string;
}

const ITEM_VERBS: Readonly<Record<string, string>> = table({
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
});

/** `watch`, `watch=` and `watch=1` all mean true. */
const isWatch = (query: URLSearchParams): boolean => {
  const value = query.get('watch');
  return value !== null && value !== 'false' && value !== '0';
};

/**
 * @param path still percent-encoded
 * @throws URIError for malformed escapes
 */
export function parseRequest(method: string, path: string, query: URLSearchParams): RequestInfo {
  const parts = path.split('/').map((part) => (part.includes('%') ? decodeURIComponent(part) : part));
  parts.shift();
  while (parts.length > 0 && parts[parts.length - 1] === '') parts.pop();
  const other = {
    isResource: false,
    path: `/${parts.join('/')}`,
    group: '',
    version: '',
    namespace: '',
    plural: '',
    name: '',
    subresource: '',
    verb: method.toLowerCase(),
  };
  const place = placeOf(parts);
  if (!place) return other;
  const { isOldWatch, ...where } = place;
  const verb = isOldWatch && method === 'GET' ? 'watch' : verbOf(method, where.name, query);
  return { ...other, ...where, isResource: true, verb };
}

interface Place {
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly plural: string;
  readonly name: string;
  readonly subresource: string;
  readonly isOldWatch: boolean;
}

/** The group, version and namespace that the path is below; undefined for paths without a resource. */
function placeOf(parts: readonly string[]): Place | undefined {
  const isCore = parts[0] === 'api' && parts.length >= 3;
  if (!isCore && !(parts[0] === 'apis' && parts.length >= 4)) return undefined;
  const group = isCore ? '' : (parts[1] ?? '');
  const [version = '', ...below] = parts.slice(isCore ? 1 : 2);
  const isOldWatch = below[0] === 'watch';
  const { namespace, rest } = inNamespace(group, isOldWatch ? below.slice(1) : below);
  const [plural = '', name = '', subresource = ''] = rest;
  if (plural === '' || rest.length > 3) return undefined;
  return { group, version, namespace, plural, name, subresource, isOldWatch };
}

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(['status', 'finalize']);

/** `namespaces/x/…` is a namespace prefix, unless the request is about the namespace itself. */
function inNamespace(group: string, rest: readonly string[]): { namespace: string; rest: readonly string[] } {
  if (rest[0] !== 'namespaces') return { namespace: '', rest };
  const [, namespace = '', next = ''] = rest;
  if (rest.length > 2 && !NAMESPACE_SUBRESOURCES.has(next)) return { namespace, rest: rest.slice(2) };
  return { namespace: group === '' ? namespace : '', rest };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  const verb = ITEM_VERBS[method] ?? method.toLowerCase();
  if (name !== '') return verb;
  if (verb === 'get') return isWatch(query) ? 'watch' : 'list';
  return verb === 'delete' ? 'deletecollection' : verb;
}
