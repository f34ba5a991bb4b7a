/** Expectations of the scenarios of the deployers that run both with a simulated cluster and on API servers. */

/** What a manifest deployer does with an object under a policy. */
export interface PolicyRow {
  readonly policy: string;
  readonly made: boolean;
  readonly updated: boolean;
  /** For an object of another owner: is the change applied, and is the object in the inventory? */
  readonly foreign: readonly [boolean, boolean];
  /** Whether it is deleted with the item although its label was changed. */
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

/** Places where a job of the manifest deployer notices that its timeout has passed. */
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

/** The same for a rendered chart. */
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
