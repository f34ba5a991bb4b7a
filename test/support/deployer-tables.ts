/** What scenarios of the deployers expect, where it is checked both with a played cluster and on API servers. */

/** What a manifest deployer does with an object under a policy. */
export interface PolicyRow {
  readonly policy: string;
  readonly made: boolean;
  readonly updated: boolean;
  /** A foreign object: is the change applied, and is the object in the inventory? */
  readonly foreign: readonly [boolean, boolean];
  /** Deleted with the item although its label was altered. */
  readonly deletedUnlabelled: boolean;
  readonly deletedWhenUnlisted: boolean;
}

const row = (
  policy: string,
  [made, updated]: readonly [boolean, boolean],
  foreign: readonly [boolean, boolean],
  [deletedUnlabelled, deletedWhenUnlisted]: readonly [boolean, boolean],
): PolicyRow => ({ policy, made, updated, foreign, deletedUnlabelled, deletedWhenUnlisted });

export const policyRows: readonly PolicyRow[] = [
  row('manage', [true, true], [true, true], [true, true]),
  row('fallback', [true, true], [false, false], [false, true]),
  row('keep', [true, true], [true, true], [false, false]),
  row('ignore', [false, false], [false, false], [false, false]),
  row('immutable', [true, false], [false, true], [true, true]),
];

/** Where a job of the manifest deployer notices that its time is up. */
export const manifestCheckpoints: readonly string[] = [
  'manifest deployer: start reconcile',
  'deployer: process managed resource manifests',
  'deployer: process manifests',
  'deployer: apply manifests',
  'manifest deployer: before readiness check',
  'manifest deployer: default readiness checks',
  'deployer: during readiness check',
  'manifest deployer: custom readiness checks',
  'manifest deployer: before reading export values',
  'deployer: during export - key: db.host',
];

/** The same for a chart that is rendered. */
export const chartCheckpoints: readonly string[] = [
  'start reconcile',
  'start progressing',
  'start apply files',
  'start create manifests',
  'start apply manifests',
  'before readiness check',
  'default readiness checks',
  'custom readiness checks',
  'before reading export values',
];
