/**
 * Every annotation, label and finalizer key on the wire, with all valid values. Other code must not spell them out.
 */

/** API group and version of all kinds. */
export const GROUP = 'landscaper.gardener.cloud';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;
/** The kinds of which a landscape consists, for `kubectl get landscape`. */
export const CATEGORY = 'landscape';

/** Prefix of annotations and labels that exist only in Espalier. */
export const ESPALIER_PREFIX = 'espalier.dev';

export const FINALIZER = 'finalizer.landscaper.gardener.cloud';

/** The only value that sets a boolean annotation. */
export const TRUE = 'true';

/** Annotation keys. */
export const annotations = {
  /** `reconcile`: start a job; `interrupt`: end the running one; on a deploy item also `test-reconcile`: a job of its own. */
  operation: `${GROUP}/operation`,
  /** `retry` next to `operation: reconcile`: the request is automatic, so the retry counter is kept. */
  reconcileReason: `${GROUP}/reconcile-reason`,
  /** `true` on a root: a changed spec starts a job. */
  reconcileIfChanged: `${GROUP}/reconcile-if-changed`,
  /** `true`: deletion does not uninstall the deployed objects. */
  deleteWithoutUninstall: `${GROUP}/delete-without-uninstall`,
  /** `true`: deletion does not wait for siblings that still import the exports. */
  deleteIgnoreSuccessors: `${GROUP}/delete-ignore-successors`,
  /** `true`: the helm deployer may cache charts. Copied down the tree. */
  cacheHelmCharts: `${GROUP}/cache-helm-charts`,
  /** `true` or absent; toggling it triggers an event and has no other effect. */
  touch: `${GROUP}/touch`,
  /** `true` on a root: no job starts, except for its deletion. */
  suspended: `${ESPALIER_PREFIX}/suspended`,
  /** `true` on a root: when a root that it imports from succeeds, it starts only if an import has changed. */
  startIfImportsChanged: `${ESPALIER_PREFIX}/start-if-imports-changed`,
  /**
   * Installation, execution: id of the job that a user interrupted; nothing below starts or is created in this job.
   */
  interruptedJob: `${ESPALIER_PREFIX}/interrupted-job`,
  /** Root: JSON with the id of its last requested job and who requested it. Only if jobs are recorded. */
  jobRequest: `${ESPALIER_PREFIX}/job-request`,
  /** Root, together with `operation`: name of the root whose end requests the job. Only if jobs are recorded. */
  requestedBy: `${ESPALIER_PREFIX}/requested-by`,
  /** Reserved by upstream; without effect. An event reports it. */
  ignore: `${GROUP}/ignore`,
  /** TargetSync: rotate the token in the next reconcile. */
  rotateToken: `${GROUP}/rotate-token`,
  /** Shoot targets: RFC 3339 time of the last renewal. */
  lastTargetSync: `${GROUP}/lasttargetsync`,
  /** Deploy item: RFC 3339 time of the last Init of its execution. */
  reconcileTime: `${GROUP}/reconcile-time`,
  /** Deploy item: `spec.type`, so that deployers can select by metadata. */
  deployerType: `${GROUP}/deployer-type`,
  /** Deploy item: name of its target, or `.noTargetName`. */
  deployerTargetName: `${GROUP}/deployer-target-name`,
  /** Deploy item: its shoot cluster. */
  clusterName: `${GROUP}/clustername`,
  /** Sub-installation: name of its template. */
  subinstallationName: `${GROUP}/subinstallation-name`,
  /** Deploy item: comma-separated names of the items it waits for; informational. */
  dependsOn: `execution.${GROUP}/dependsOn`,
  /** Deploy item: comma-separated keys of the labels that its template defines. */
  templateLabels: `${ESPALIER_PREFIX}/template-labels`,
  /**
   * Data object or target of a user: name of the installation that may overwrite it with an export and own it from
   * then on.
   */
  adoptableBy: `${ESPALIER_PREFIX}/adoptable-by`,
  /**
   * Installation in a file of `espalier apply`: folder with its blueprint, relative to the file. Not sent to clusters.
   */
  blueprintFolder: `${ESPALIER_PREFIX}/blueprint`,
  /** Deploy item: W3C trace context of the job in which its metadata was last written. Only if traces are switched on. */
  traceparent: `${ESPALIER_PREFIX}/traceparent`,
  /** Data object, target: content hash. */
  dataHash: `data.${GROUP}/hash`,
} as const;

/** Values of `annotations.operation`. */
export const operations = {
  reconcile: 'reconcile',
  interrupt: 'interrupt',
  /** Deploy items only: starts a separate job for this item. */
  testReconcile: 'test-reconcile',
  /** Reserved by upstream; without effect. */
  forceReconcile: 'force-reconcile',
} as const;
export type OperationName = (typeof operations)[keyof typeof operations];

/** Value of `annotations.reconcileReason`. */
export const RECONCILE_REASON_RETRY = 'retry';

/** Value of `annotations.deployerTargetName` if the item has no target. */
export const NO_TARGET_NAME = '.noTargetName';

/** Label keys. */
export const labels = {
  /** Sub-installation: name of its parent. Without it, an installation counts as a root among its siblings. */
  encompassedBy: `${GROUP}/encompassed-by`,
  /** Deploy item: name of its execution. */
  executionManagedBy: `execution.${GROUP}/managed-by`,
  /** Deploy item: name of its template in the execution. */
  executionName: `execution.${GROUP}/name`,
  /** Data object, target: `Inst.<installation>` or `Exec.<execution>`, the scope it can be read from. */
  dataContext: `data.${GROUP}/context`,
  /** Data object, target: its writer, in the same form. */
  dataSource: `data.${GROUP}/source`,
  /** Data object, target: `import` or `export`. */
  dataSourceType: `data.${GROUP}/sourceType`,
  /** Data object, target: name within its scope. */
  dataKey: `data.${GROUP}/key`,
  /** Element of a target list: its position. */
  dataIndex: `data.${GROUP}/index`,
  /** Element of a target map: its key. */
  dataTargetMapKey: `data.${GROUP}/targetmapkey`,
  /** Data object, target: the job that wrote it. */
  dataJobId: `data.${GROUP}/jobid`,
  /** `ok` on targets and secrets that a TargetSync owns. */
  targetSync: `${GROUP}/targetsync`,
  /** Any object: the set of `espalier apply --set` that it belongs to. */
  set: `${ESPALIER_PREFIX}/set`,
  /** Job record: uid of its root. */
  rootUid: `${ESPALIER_PREFIX}/root-uid`,
  /** `true` excludes an object from validation, if a user with the right to skip it has set the label. */
  skipValidation: `validation.${GROUP}/skip-validation`,
} as const;

/** Values of `labels.dataSourceType`. */
export const dataSourceTypes = { import: 'import', export: 'export' } as const;

/** Value of `labels.targetSync`. */
export const TARGET_SYNC_OK = 'ok';
