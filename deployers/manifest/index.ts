/**
 * The manifest deployer: applies a list of objects, records them, and deletes objects that are no longer in the
 * list.
 */
import { GROUP } from '../../src/api/labels.ts';
import type { DeployerPlugin, DeployContext } from '../sdk/deployer.ts';
import { deploy, type DeployPlan } from '../objects/manifests/deploy.ts';
import { ownershipOf } from '../objects/manifests/label.ts';
import { planDeploy, planRemoval } from '../objects/manifests/plan.ts';
import { removeAll, type RemovalPlan } from '../objects/manifests/remove.ts';
import { manifestConfig, type ManifestConfig } from './config.ts';
import { MANIFEST_GROUP } from './schema.ts';
import { manifestStatus, statusOf, type ManifestStatus } from './status.ts';

type ManifestContext = DeployContext<ManifestConfig, ManifestStatus>;

const PREFIX = 'manifest deployer';

export function manifestDeployer(): DeployerPlugin<ManifestConfig, ManifestStatus> {
  return {
    type: `${GROUP}/kubernetes-manifest`,
    name: MANIFEST_GROUP,
    version: '0.1.0',
    initOperation: 'InitManifestOperation',
    config: manifestConfig,
    status: manifestStatus,
    hasInventory: true,
    schedule: (config) => config.continuousReconcile,
    apply: (ctx) => deploy(ctx, deployPlan(ctx)),
    remove: (ctx) => removeAll(ctx, removalPlan(ctx)),
    plan: (ctx, direction) =>
      direction === 'apply' ? planDeploy(ctx, deployPlan(ctx)) : planRemoval(ctx, removalPlan(ctx)),
  };
}

const deployPlan = (ctx: ManifestContext): DeployPlan<ManifestStatus> => ({
  prefix: PREFIX,
  operation: 'ReconcileManifests',
  fieldManager: MANIFEST_GROUP,
  manifests: ctx.config.manifests,
  strategy: ctx.config.strategy,
  ownership: owner(ctx),
  old: ctx.previous?.managedResources ?? [],
  groups: ctx.config.deletionGroupsDuringUpdate,
  readiness: ctx.config.readiness,
  exports: ctx.config.exports,
  status: statusOf,
});

const removalPlan = (ctx: ManifestContext): RemovalPlan => ({
  prefix: PREFIX,
  operation: 'DeleteManifests',
  ownership: owner(ctx),
  old: ctx.previous?.managedResources ?? [],
  groups: ctx.config.deletionGroups,
});

const owner = ({ item }: ManifestContext) =>
  ownershipOf({
    name: item.metadata.name,
    ...(item.metadata.namespace !== undefined && { namespace: item.metadata.namespace }),
  });
