/** The manifest deployer: applies a list of plain objects, remembers them, and takes away what is no longer listed. */
import { GROUP } from '../../src/api/labels.ts';
import type { DeployerPlugin, Run } from '../sdk/deployer.ts';
import { deploy, type DeployPlan } from '../objects/manifests/deploy.ts';
import { ownershipOf } from '../objects/manifests/label.ts';
import { planDeploy, planRemoval } from '../objects/manifests/plan.ts';
import { removeAll, type RemovalPlan } from '../objects/manifests/remove.ts';
import { manifestConfig, MANIFEST_GROUP, type ManifestConfig } from './config.ts';
import { manifestStatus, statusOf, type ManifestStatus } from './status.ts';

type ManifestRun = Run<ManifestConfig, ManifestStatus>;

const PREFIX = 'manifest deployer';

export function manifestDeployer(): DeployerPlugin<ManifestConfig, ManifestStatus> {
  return {
    type: `${GROUP}/kubernetes-manifest`,
    name: MANIFEST_GROUP,
    version: '0.1.0',
    initOperation: 'InitManifestOperation',
    config: manifestConfig,
    status: manifestStatus,
    schedule: (config) => config.continuousReconcile,
    apply: (run) => deploy(run, deployPlan(run)),
    remove: (run) => removeAll(run, removalPlan(run)),
    plan: (run, direction) =>
      direction === 'apply' ? planDeploy(run, deployPlan(run)) : planRemoval(run, removalPlan(run)),
  };
}

const deployPlan = (run: ManifestRun): DeployPlan<ManifestStatus> => ({
  prefix: PREFIX,
  operation: 'ReconcileManifests',
  fieldManager: MANIFEST_GROUP,
  manifests: run.config.manifests,
  strategy: run.config.strategy,
  ownership: owner(run),
  old: run.previous?.managedResources ?? [],
  groups: run.config.deletionGroupsDuringUpdate,
  readiness: run.config.readiness,
  exports: run.config.exports,
  status: statusOf,
});

const removalPlan = (run: ManifestRun): RemovalPlan => ({
  prefix: PREFIX,
  operation: 'DeleteManifests',
  ownership: owner(run),
  old: run.previous?.managedResources ?? [],
  groups: run.config.deletionGroups,
});

const owner = ({ item }: ManifestRun) =>
  ownershipOf({
    name: item.metadata.name,
    ...(item.metadata.namespace !== undefined && { namespace: item.metadata.namespace }),
  });
