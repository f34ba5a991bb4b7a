import { isScope, type NamespaceScope } from './namespace-scope.ts';
import type { CacheOptions, Kind, Obj } from '../types.ts';

/** The name of a cache in logs and metrics: `installations.landscaper.gardener.cloud`, with its restrictions: `secrets[ns=a,b][labels]`. */
export function sourceName<T extends Obj>(
  kind: Kind<T>,
  { namespaces = [], labels, fields }: CacheOptions<T>,
): string {
  const base = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
  const parts = [namespaceText(namespaces), labels, fields];
  return base + parts.map((part) => (part ? `[${part}]` : '')).join('');
}

/** `ns=a,b`; the same for all namespaces of a scope, because a name does not change. Empty: all namespaces. */
export function namespaceText(namespaces: readonly string[] | NamespaceScope): string {
  if (isScope(namespaces)) return 'ns=(scope)';
  return namespaces.length > 0 ? `ns=${namespaces.join(',')}` : '';
}
