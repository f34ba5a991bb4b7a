/** Checks of desired objects whose mistakes the server reports late, elsewhere, or without saying what to change. */
import { isObject, table } from '../lib/objects.ts';
import { shown } from '../lib/positive.ts';
import { parseSelector, type Selector } from '../runtime/cache/selector.ts';
import { apiVersionOf } from '../runtime/keys.ts';
import type { Kind, Obj, View } from '../runtime/types.ts';

/** Where the dependent reads its objects. */
interface Reads {
  readonly kind: Kind<never> | Kind;
  readonly selector?: string | undefined;
  readonly namespaces?: unknown;
}

/** What is wrong with a desired object, and what to do; undefined if nothing is. */
type DesiredCheck = (desired: Obj, p: View<Obj>) => string | undefined;

/** @throws DefinitionError if the selector is not valid */
export function desiredCheck({ kind, selector, namespaces }: Reads): DesiredCheck {
  const parsed = parseSelector(selector);
  return (desired, p) =>
    wrongIdentity(desired, kind) ??
    wrongNamespace(desired, kind, p) ??
    unreadNamespace(desired, kind, namespaces, p) ??
    unselected(desired, kind, parsed, selector) ??
    notBase64(desired, kind);
}

function wrongIdentity(desired: Obj, kind: Reads['kind']): string | undefined {
  const metadata: unknown = isObject(desired) ? desired.metadata : undefined;
  const name = isObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '')
    return `"desired" returned ${kind.kind} without a name; set metadata.name, since a name that the server generates cannot be found again`;
  const given: Partial<Record<'apiVersion' | 'kind', unknown>> = desired;
  const wanted = { apiVersion: apiVersionOf(kind), kind: kind.kind };
  for (const field of ['apiVersion', 'kind'] as const)
    if (given[field] !== undefined && given[field] !== wanted[field])
      return `"desired" returned ${field} ${shown(given[field])} for a dependent of ${field} ${wanted[field]}; leave it out, or use another dependent`;
  return undefined;
}

function wrongNamespace({ metadata }: Obj, kind: Reads['kind'], p: View<Obj>): string | undefined {
  const { name, namespace } = metadata;
  if (!kind.namespaced)
    return namespace === undefined
      ? undefined
      : `"desired" returned ${kind.kind} ${name} with namespace ${namespace}, but the kind has no namespaces; leave it out`;
  return namespace || p.metadata.namespace
    ? undefined
    : `"desired" returned ${kind.kind} ${name} without a namespace, and the primary has none; set metadata.namespace`;
}

/** The dependent would create the object and never see it. */
function unreadNamespace(
  { metadata }: Obj,
  kind: Reads['kind'],
  namespaces: unknown,
  p: View<Obj>,
): string | undefined {
  if (!Array.isArray(namespaces) || namespaces.length === 0 || !kind.namespaced) return undefined;
  const namespace = metadata.namespace ?? p.metadata.namespace ?? '';
  if (namespaces.includes(namespace)) return undefined;
  return `"desired" returned ${kind.kind} ${namespace}/${metadata.name}, but the dependent reads only the namespaces ${namespaces.join(', ')}; add ${namespace} to "namespaces", or use one of them`;
}

function unselected(
  { metadata }: Obj,
  kind: Reads['kind'],
  selector: Selector,
  text = '',
): string | undefined {
  if (selector.matches(metadata.labels)) return undefined;
  return `"desired" returned ${kind.kind} ${metadata.name}, whose labels do not match the selector "${text}" of the dependent, so it would never be found again; add the labels, or change the selector`;
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Fields that have to be base64, by kind of the core group, and the fields for plain text. */
const ENCODED: Readonly<Record<string, { readonly field: string; readonly plain: string }>> = table({
  Secret: { field: 'data', plain: 'stringData' },
  ConfigMap: { field: 'binaryData', plain: 'data' },
});

/** The message never contains the value, which may be a secret. */
function notBase64(desired: Obj, { group, kind }: Reads['kind']): string | undefined {
  const encoded = group === '' ? ENCODED[kind] : undefined;
  const values = encoded && (desired as unknown as Readonly<Record<string, unknown>>)[encoded.field];
  if (!encoded || !isObject(values)) return undefined;
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'string' && BASE64.test(value.replace(/[\r\n]/g, ''))) continue;
    return `"desired" returned ${kind} ${desired.metadata.name}, whose ${encoded.field} "${key}" is not base64; encode it, or put plain text into ${encoded.plain}`;
  }
  return undefined;
}
