/** The objects that a viewer may list. Pure. */
import type { Collected } from '../../tree/collect.ts';

/** Sorted namespaces. */
export type Namespaces = 'all' | readonly string[];

/** The namespaces whose objects of each kind a viewer may list. */
export type Scope = Readonly<Record<keyof Collected, Namespaces>>;

/** Scopes with the same key contain the same objects. */
export const keyOfScope = ({ installations, executions, deployItems }: Scope): string =>
  JSON.stringify([installations, executions, deployItems]);

export const withinScope = (collected: Collected, scope: Scope): Collected => ({
  installations: within(collected.installations, scope.installations),
  executions: within(collected.executions, scope.executions),
  deployItems: within(collected.deployItems, scope.deployItems),
});

function within<T extends { readonly metadata: { readonly namespace?: string } }>(
  objects: readonly T[],
  namespaces: Namespaces,
): readonly T[] {
  if (namespaces === 'all') return objects;
  const allowed = new Set(namespaces);
  return objects.filter(({ metadata }) => allowed.has(metadata.namespace ?? ''));
}
