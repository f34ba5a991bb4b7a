/** Every annotation, label and finalizer key on the wire, with the values that mean something. Other texts are a bug. */

/** API group and version of all kinds. */
export const GROUP = 'landscaper.gardener.cloud';
export const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Prefix of annotations and labels that only Espalier knows. */
export const ESPALIER_PREFIX = 'espalier.dev';

export const FINALIZER = 'finalizer.landscaper.gardener.cloud';

/** Boolean annotations count as set only with exactly this value. */
export const TRUE = 'true';

/** Annotation keys. */
export const annotations = {
  /** What the user asks for; values in `operations`. */
  operation: `${GROUP}/operation`,
  /** `retry` next to `operation: reconcile`: a machine asked, so the retry counter is kept. */
  reconcileReason: `${GROUP}/reconcile-reason`,
  /** `true`: a changed spec of a root starts a job by itself. */
  reconcileIfChanged: `${GROUP}/reconcile-if-changed`,
  /** `true`: deletion forgets what was deployed and leaves it in place. */
  deleteWithoutUninstall: `${GROUP}/delete-without-uninstall`,
  /** `true`: deletion does not wait for siblings that still import from here. */
  deleteIgnoreSuccessors: `${GROUP}/delete-ignore-successors`,
  /** `true`: the helm deployer may keep charts. Copied down the tree. */
  cacheHelmCharts: `${GROUP}/cache-helm-charts`,
  /** `true` or absent; toggling it makes an event and nothing else. */
  touch: `${GROUP}/touch`,
  /** `true` on a root: no job is started but for its deletion. */
  suspended: `${ESPALIER_PREFIX}/suspended`,
  /** `true` on a root: the success of a root it imports from starts it only if an import has changed. */
  startIfImportsChanged: `${ESPALIER_PREFIX}/start-if-imports-changed`,
  /** Installation, execution: id of the job that the user interrupted, so that nothing below starts or grows in it later. */
  interruptedJob: `${ESPALIER_PREFIX}/interrupted-job`,
  /** Reserved by upstream; without effect, which is said in an event. */
  ignore: `${GROUP}/ignore`,
  /** Target sync: rotate the token at the next pass. */
  rotateToken: `${GROUP}/rotate-token`,
  /** Shoot targets: RFC 3339 time of the last renewal. */
  lastTargetSync: `${GROUP}/lasttargetsync`,
  /** Deploy item: RFC 3339 time of the last Init of its execution. */
  reconcileTime: `${GROUP}/reconcile-time`,
  /** Deploy item: `spec.type`, so that deployers can choose by metadata. */
  deployerType: `${GROUP}/deployer-type`,
  /** Deploy item: name of its target, or `NO_TARGET_NAME`. */
  deployerTargetName: `${GROUP}/deployer-target-name`,
  /** Deploy item: shoot cluster it deploys to. */
  clusterName: `${GROUP}/clustername`,
  /** Sub-installation: name of the template it was made from. */
  subinstallationName: `${GROUP}/subinstallation-name`,
  /** Deploy item: comma-separated names of the items it waits for; informational. */
  dependsOn: `execution.${GROUP}/dependsOn`,
  /** Deploy item: comma-separated keys of the labels that its template gave it. */
  templateLabels: `${ESPALIER_PREFIX}/template-labels`,
  /** Data object, target of a person: name of the installation that may export over it and own it from then on. */
  adoptableBy: `${ESPALIER_PREFIX}/adoptable-by`,
  /** Data object, target: content hash. */
  dataHash: `data.${GROUP}/hash`,
} as const;

/** Values of `annotations.operation`. */
export const operations = {
  reconcile: 'reconcile',
  interrupt: 'interrupt',
  /** Deploy items only: a private job id for this item. */
  testReconcile: 'test-reconcile',
  /** Reserved by upstream; without effect. */
  forceReconcile: 'force-reconcile',
} as const;
export type OperationName = (typeof operations)[keyof typeof operations];

/** Value of `annotations.reconcileReason`. */
export const RECONCILE_REASON_RETRY = 'retry';

/** Value of `annotations.deployerTargetName` when the item has no target. */
export const NO_TARGET_NAME = '.noTargetName';

/** Label keys. */
export const labels = {
  /** Sub-installation: name of its parent. Without it an installation is a root among its siblings. */
  encompassedBy: `${GROUP}/encompassed-by`,
  /** Deploy item: name of its execution. */
  executionManagedBy: `execution.${GROUP}/managed-by`,
  /** Deploy item: name of its template in the execution. */
  executionName: `execution.${GROUP}/name`,
  /** Data object, target: `Inst.<installation>` or `Exec.<execution>`, the scope it can be read from. */
  dataContext: `data.${GROUP}/context`,
  /** Data object, target: who wrote it, in the same form. */
  dataSource: `data.${GROUP}/source`,
  /** Data object, target: values in `dataSourceTypes`. */
  dataSourceType: `data.${GROUP}/sourceType`,
  /** Data object, target: name within its scope. */
  dataKey: `data.${GROUP}/key`,
  /** Element of a target list: its position. */
  dataIndex: `data.${GROUP}/index`,
  /** Element of a target map: its key. */
  dataTargetMapKey: `data.${GROUP}/targetmapkey`,
  /** Data object, target: the job that wrote it. */
  dataJobId: `data.${GROUP}/jobid`,
  /** `ok` on targets and secrets that target sync owns. */
  targetSync: `${GROUP}/targetsync`,
  /** `true` keeps the admission webhooks away from an object. */
  skipValidation: `validation.${GROUP}/skip-validation`,
} as const;

/** Values of `labels.dataSourceType`. */
export const dataSourceTypes = { import: 'import', export: 'export' } as const;

/** Value of `labels.targetSync`. */
export const TARGET_SYNC_OK = 'ok';
