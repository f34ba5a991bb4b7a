/** Where a kind lives below the server's address. */
import { DefinitionError } from './errors.ts';
import { apiVersionOf, splitKey } from './keys.ts';
import type { Gvk, Key, Kind } from './types.ts';

/** `/api/v1` for the core group, `/apis/<group>/<version>` for all others. */
export const groupPath = (gvk: Pick<Gvk, 'group' | 'version'>): string =>
  gvk.group ? `/apis/${encodeURIComponent(gvk.group)}/${gvk.version}` : `/api/${gvk.version}`;

/**
 * The path of one object (a key), or of all objects of a kind, in one namespace or in all. Letters keep their
 * case: `system:Foo` is not `system:foo`.
 * @throws DefinitionError when the key does not fit the kind, or a name cannot be part of a path
 */
export function pathOf(
  kind: Kind,
  where: Key | { readonly namespace?: string | undefined },
  sub?: string,
): string {
  const { namespace, name } =
    typeof where === 'string' ? splitKey(where) : { namespace: where.namespace, name: undefined };
  if (typeof where === 'string' && kind.namespaced !== (namespace !== undefined)) {
    const wanted = kind.namespaced ? 'namespace/name' : 'a name without a namespace';
    throw new DefinitionError(
      `${kind.kind} in ${apiVersionOf(kind)} is addressed by ${wanted}, not by "${where}"`,
    );
  }
  const parts = [groupPath(kind)];
  if (kind.namespaced && namespace) parts.push('namespaces', segment(namespace));
  parts.push(kind.plural);
  if (name !== undefined) parts.push(segment(name));
  if (sub) parts.push(sub);
  return parts.join('/');
}

/** @see k8s.io/apimachinery pkg/api/validation/path IsValidPathSegmentName */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || /[/%]/.test(name)) {
    throw new DefinitionError(`"${name}" cannot be the name of an object`);
  }
  return encodeURIComponent(name).replaceAll('%3A', ':');
}
