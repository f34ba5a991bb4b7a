/** URL paths of kinds and objects. */
import { cutMiddle } from '../../lib/cut.ts';
import { isPathSegment } from '../../lib/names.ts';
import { DefinitionError, InvalidObjectName } from '../errors.ts';
import { apiVersionOf, splitKey } from '../keys.ts';
import type { Gvk, Key, Kind } from '../types.ts';

/** `/api/v1` for the core group, `/apis/<group>/<version>` for all others. */
export const groupPath = (gvk: Pick<Gvk, 'group' | 'version'>): string =>
  gvk.group ? `/apis/${encodeURIComponent(gvk.group)}/${gvk.version}` : `/api/${gvk.version}`;

/**
 * The path of one object (a key), or of all objects of a kind, in one namespace or in all. Paths are case-sensitive.
 * @throws InvalidObjectName when a name or namespace is not a valid path segment, since it could lead to another path
 * @throws DefinitionError when the key does not match the kind
 */
export function pathOf(
  kind: Kind,
  where: Key | { readonly namespace?: string | undefined },
  sub?: string,
): string {
  const { namespace, name } =
    typeof where === 'string'
      ? splitKey(where)
      : { namespace: where.namespace || undefined, name: undefined };
  if (name !== undefined && kind.namespaced && namespace === undefined) {
    const wanted = 'namespace/name';
    throw new DefinitionError({
      message: `${kind.kind} (${apiVersionOf(kind)}) is namespaced: use ${wanted}, not "${name}"`,
    });
  }
  if (name !== undefined && !kind.namespaced && namespace !== undefined) {
    throw new InvalidObjectName({
      message: `${kind.kind} (${apiVersionOf(kind)}) is cluster-scoped: use a name without a namespace, not ${quoted(`${namespace}/${name}`)}`,
    });
  }
  const parts = [groupPath(kind)];
  if (kind.namespaced && namespace !== undefined) parts.push('namespaces', segment(namespace, 'Namespace'));
  parts.push(kind.plural);
  if (name !== undefined) parts.push(segment(name, kind.kind));
  if (sub) parts.push(sub);
  return parts.join('/');
}

const serviceAccountKind: Kind = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

/** The path for tokens of a service account. @throws InvalidObjectName */
export const tokenPathOf = (namespace: string, account: string): string =>
  pathOf(serviceAccountKind, `${namespace}/${account}`, 'token');

/** @see k8s.io/apimachinery pkg/api/validation/path IsValidPathSegmentName */
function segment(name: string, kind: string): string {
  const why = isPathSegment(name);
  if (name === '') why.push('must not be empty');
  if (why.length > 0) {
    throw new InvalidObjectName({
      message: `${quoted(name)} cannot be the name of a ${kind}: it ${why.join(', ')}`,
    });
  }
  return encodeURIComponent(name).replaceAll('%3A', ':');
}

const MAX_QUOTED = 200;
const quoted = (name: string): string => JSON.stringify(cutMiddle(name, MAX_QUOTED));
