/**
 * Template mode: the chart is rendered here, and its objects are applied in the same way as manifests of the
 * manifest deployer.
 */
import { isTestHook } from '../../src/templating/helm/manifests.ts';
import { copy } from '../../src/lib/json.ts';
import { isObject } from '../../src/lib/objects.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { deploy, type DeployPlan } from '../objects/manifests/deploy.ts';
import { MANIFEST_LABEL, ownershipOf } from '../objects/manifests/label.ts';
import type { KubeObject, Manifest } from '../objects/manifests/model.ts';
import { planDeploy, planRemoval } from '../objects/manifests/plan.ts';
import { removeAll, type RemovalPlan } from '../objects/manifests/remove.ts';
import type { Outcome } from '../sdk/outcome.ts';
import type { ItemPlan } from '../sdk/item-plan.ts';
import { HELM_GROUP } from './schema.ts';
import {
  definitionsIn,
  inNumbers,
  managed,
  objectsOf,
  render,
  withNamespaces,
  type RenderContext,
} from './rendering.ts';
import { PREFIX, type HelmContext } from './helm-context.ts';
import { staticCapabilities } from './target-facts.ts';
import type { JobResults } from './job-results.ts';
import { statusOf, type HelmStatus } from './status.ts';

/** Objects carry the label of the manifest deployer and one of the helm deployer. */
const ownerOf = ({ item }: HelmContext) =>
  ownershipOf(
    { name: item.metadata.name, ...(item.metadata.namespace && { namespace: item.metadata.namespace }) },
    [MANIFEST_LABEL, `${HELM_GROUP}/deployitem`],
  );

interface Prepared extends RenderContext {
  readonly results: JobResults;
  readonly values: ReadonlyMap<string, unknown>;
}

export async function applyTemplates(
  ctx: HelmContext,
  access: KubeAccess,
  prepared: Prepared,
): Promise<Outcome<HelmStatus>> {
  const manifests = await prepared.results.once(ctx, 'manifests', () => manifestsOf(ctx, access, prepared));
  ctx.assertTimeLeft(`${PREFIX}: start apply manifests`);
  return deploy(ctx, deployPlan(ctx, manifests, prepared));
}

/** The changes that a job would make. */
export async function planTemplates(
  ctx: HelmContext,
  access: KubeAccess,
  prepared: Prepared,
): Promise<ItemPlan> {
  return planDeploy(ctx, deployPlan(ctx, await manifestsOf(ctx, access, prepared), prepared));
}

async function manifestsOf(
  ctx: HelmContext,
  access: KubeAccess,
  prepared: Prepared,
): Promise<readonly Manifest[]> {
  const rendering = await render(ctx, access, prepared, {
    revision: 0,
    isUpgrade: false,
    // Upstream's constant does not know the CRDs of the chart.
    ownDefinitions: prepared.capabilities === staticCapabilities ? undefined : 'applied',
  });
  ctx.assertTimeLeft(`${PREFIX}: start apply files`);
  ctx.assertTimeLeft(`${PREFIX}: start create manifests`);
  // All objects except tests: hooks are applied as normal objects.
  const rendered = [...rendering.manifests, ...rendering.hooks.filter((hook) => !isTestHook(hook))];
  const documents = [
    ...definitionsIn(rendering),
    ...rendered.map(({ source, document }) => inNumbers(document, source)),
  ];
  const objects = await withNamespaces(objectsOf(documents), ctx.config.namespace, access);
  return [...(await namespaceOf(ctx, access)), ...objects.map(managed)];
}

function deployPlan(
  ctx: HelmContext,
  manifests: readonly Manifest[],
  prepared: Prepared,
): DeployPlan<HelmStatus> {
  const { config } = ctx;
  return {
    prefix: PREFIX,
    operation: 'ApplyFile',
    fieldManager: HELM_GROUP,
    manifests,
    strategy: config.strategy,
    ownership: ownerOf(ctx),
    old: ctx.previous?.managedResources ?? [],
    groups: config.deletionGroupsDuringUpdate,
    readiness: config.readiness,
    exports: config.exports,
    values: prepared.values,
    status: (list) => statusOf(list),
  };
}

export const removeTemplates = (ctx: HelmContext): Promise<Outcome<HelmStatus>> =>
  removeAll(ctx, removalPlan(ctx));

export const planRemovalOfTemplates = (ctx: HelmContext): Promise<ItemPlan> =>
  planRemoval(ctx, removalPlan(ctx));

const removalPlan = (ctx: HelmContext): RemovalPlan => ({
  prefix: PREFIX,
  operation: 'DeleteFiles',
  ownership: ownerOf(ctx),
  old: ctx.previous?.managedResources ?? [],
  groups: ctx.config.deletionGroups,
});

// ---------------------------------------------------------------- the namespace

const NAMESPACE: Kind<Obj> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

/**
 * The namespace is created if it does not exist, and never deleted. An existing one keeps all labels and
 * annotations of other owners.
 */
async function namespaceOf(
  { config, signal }: HelmContext,
  { client }: KubeAccess,
): Promise<readonly Manifest[]> {
  if (!config.createNamespace) return [];
  const found = (await getIfThere(client, NAMESPACE, config.namespace, signal)) as KubeObject | undefined;
  const { labels, annotations, finalizers } = found?.metadata ?? {};
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: config.namespace,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
    },
    ...(isObject(found?.['spec']) && { spec: copy(found['spec']) }),
  };
  return [{ policy: 'keep', object }];
}
