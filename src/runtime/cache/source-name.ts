import type { CacheOptions, Kind, Obj } from '../types.ts';

/** The name of a cache in logs and metrics: `installations.landscaper.gardener.cloud`, with its restrictions: `secrets[ns=a,b][labels]`. */
export function sourceName<T extends Obj>(
  kind: Kind<T>,
  { namespaces, labels, fields }: CacheOptions<T>,
): string {
  const base = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
  const parts = [namespaces && namespaces.length > 0 && `ns=${namespaces.join(',')}`, labels, fields];
  return base + parts.map((part) => (part ? `[${part}]` : '')).join('');
}
