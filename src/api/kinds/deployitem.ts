/** DeployItem: one unit of work for one deployer, and its result. */
import { z } from 'zod';
import { deployItemKind } from '../landscaper-kinds.ts';
import {
  ageColumn,
  anyObject,
  duration,
  exportRefColumn,
  int64,
  jobStatus,
  lastError,
  objectOf,
  objectName,
  objectReference,
  targetReference,
  open,
  finishedColumn,
  jobColumn,
  deletedColumn,
  messageColumn,
  phaseColumn,
  time,
  typeColumn,
  type Definition,
} from '../shared.ts';
import { CATEGORY } from '../labels.ts';
import { onDelete } from './execution.ts';

/** Begins with upstream's words. */
export const TYPE_IS_IMMUTABLE =
  'type is immutable; to use another deployer, give the deploy item another name in its blueprint';

const deployItemSpec = open({
  type: z.string().describe('Type of the item; selects the deployer. Cannot be changed.'),
  target: targetReference.optional().describe('Target to deploy to.'),
  context: objectName().optional().describe('Name of the Context object. Default "default".'),
  config: anyObject()
    .meta({ 'x-kubernetes-embedded-resource': true })
    .optional()
    .describe('Provider configuration: the input of the deployer.'),
  timeout: duration().optional().describe('How long the deployer may take. Default 10m.'),
  updateOnChangeOnly: z
    .boolean()
    .optional()
    .describe('If true, the deployer skips jobs in which the item has not changed.'),
  onDelete: onDelete.optional().describe('What to do instead of uninstalling.'),
});

const deployerInformation = open({
  identity: z.string().describe('Identity of the deployer, unique in the landscape.'),
  name: z.string().describe('Name of the deployer.'),
  version: z.string().describe('Version of the deployer.'),
});
export type DeployerInformation = z.infer<typeof deployerInformation>;

const clusterIdentity = open({
  uid: z.string().describe('Uid of the namespace kube-system, which identifies the cluster.'),
  server: z.string().optional().describe('Address of the API server, as a hint.'),
});

const leftBehind = open({
  cluster: clusterIdentity
    .optional()
    .describe('The cluster with the objects; absent in an entry that only counts those of older clusters.'),
  providerStatus: anyObject()
    .optional()
    .describe('State of the deployer, with the objects, as of the last job on that cluster.'),
  omitted: int64().optional().describe('Number of further objects, which exceed the size limit.'),
  clusters: int64().optional().describe('Number of older clusters that are only counted.'),
});

const deployItemStatus = open({
  observedGeneration: int64().describe('Generation of the spec that the deployer saw last.'),
  ...jobStatus,
  firstError: lastError.optional().describe('First error of the current job.'),
  lastErrors: z.array(lastError).optional().describe('Latest errors of the current job, at most five.'),
  lastReconcileTime: time().optional().describe('When a deployer last picked the item up.'),
  jobIDGenerationTime: time()
    .optional()
    .describe('When the current job id was set; start of the pick-up timeout.'),
  deployer: deployerInformation.optional().describe('The deployer that picked the item up.'),
  providerStatus: anyObject().optional().describe('State of the deployer.'),
  targetCluster: clusterIdentity
    .optional()
    .describe('The cluster that providerStatus describes; absent if it is unknown.'),
  leftBehind: z
    .array(leftBehind)
    .optional()
    .describe('Objects on clusters to which the target led earlier, oldest cluster first.'),
  exportRef: objectReference
    .optional()
    .describe('Secret with the exports of the item, under the key "config".'),
  neverStarted: z
    .string()
    .optional()
    .describe('Job that ended, like all before it, before a deployer started. Then nothing is installed.'),
  deployItemPhase: z.string().optional().describe('Deprecated form of the phase.'),
});
export type DeployItemStatus = z.infer<typeof deployItemStatus>;

export const deployItem = objectOf('DeployItem', {
  spec: deployItemSpec.describe('What to deploy.'),
  status: deployItemStatus.optional().describe('Current state, written by the deployer.'),
});
/** One unit of work for one deployer, and its result. */
export type DeployItem = z.infer<typeof deployItem>;

export { deployItemKind };

export const deployItemDefinition: Definition = {
  kind: deployItemKind,
  singular: 'deployitem',
  shortNames: ['di'],
  categories: [CATEGORY],
  columns: [
    typeColumn,
    phaseColumn,
    exportRefColumn,
    ageColumn,
    deletedColumn,
    messageColumn,
    { name: 'Target', type: 'string', path: '.spec.target.name', isWide: true },
    { name: 'Deployer', type: 'string', path: '.status.deployer.name', isWide: true },
    jobColumn,
    finishedColumn,
  ],
  statusSubresource: true,
  description: 'One piece of work for one deployer.',
  schema: deployItem,
  rules: [
    // The words of the webhook, which this rule answers before.
    {
      path: 'spec.type',
      rule: 'self == oldSelf',
      message: TYPE_IS_IMMUTABLE,
      reason: 'FieldValueForbidden',
    },
  ],
};
