/** The initial registry: every built-in kind with its strategy. */
import { builtInKinds, GROUP_ORDER } from './catalogue.ts';
import { Registry } from './kinds.ts';
import { strategies } from './strategies/index.ts';

export function createRegistry(): Registry {
  const registry = new Registry();
  const rank = (group: string): number => GROUP_ORDER.indexOf(group);
  for (const kind of builtInKinds(strategies).sort((a, b) => rank(a.group) - rank(b.group)))
    registry.add(kind);
  return registry;
}
