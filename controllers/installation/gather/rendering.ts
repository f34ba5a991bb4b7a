/** Facts about the blueprint of an installation and its rendering. */
import { contextKind } from '../../../src/api/kinds/context.ts';
import { describeFinding, isUnknownField, warningsOn } from '../../../src/blueprint/lint/warnings.ts';
import { stateSecretNames } from '../../../src/blueprint/state.ts';
import { PhaseError } from '../../../src/machine/decision.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import { itemsToStore } from '../execution.ts';
import { unlessDeleted } from './component-errors.ts';
import { upserts, type Facts, type GatherContext, type Sources } from './gather-context.ts';
import { loadBlueprintOrFail, renderForInit } from './render.ts';

export const renderingFacts = (
  ctx: GatherContext,
  { findComponent }: Sources,
): Facts<
  | 'context'
  | 'component'
  | 'blueprint'
  | 'blueprintWarnings'
  | 'rendered'
  | 'itemsToStore'
  | 'stateUpserts'
  | 'importUpserts'
> => {
  const { self, namespace, world, client, secrets, tools } = ctx;
  return {
    context: () => {
      const key = `${namespace}/${self.spec.context ?? 'default'}`;
      return world.contexts.get(key) ?? getIfThere(client, contextKind, key);
    },
    component: (get) => unlessDeleted(self, async () => findComponent(self, await get('context'))),
    blueprint: (get) =>
      unlessDeleted(self, async () => loadBlueprintOrFail(self, (await get('component')).view)),
    blueprintWarnings: async (get) => {
      const findings = warningsOn(await get('blueprint'));
      const unknownFields = findings.filter(isUnknownField);
      return { all: findings.map(describeFinding), unknownFields: unknownFields.map(describeFinding) };
    },
    rendered: (get) =>
      unlessDeleted(self, async () => {
        const blueprint = await get('blueprint');
        const states = await secrets.states(stateSecretNames(self.metadata.name, blueprint, 'deploy'));
        return renderForInit(self, blueprint, (await get('imports')).imports, { ...tools, states });
      }),
    itemsToStore: async (get) => {
      const { items } = await get('rendered');
      if (items instanceof PhaseError) return undefined;
      return itemsToStore({ execution: await get('execution'), limits: await get('limits') }, items);
    },
    stateUpserts: async (get) => secrets.upserts((await get('rendered')).states),
    importUpserts: async (get) => upserts(ctx, (await get('rendered')).importObjects),
  };
};
