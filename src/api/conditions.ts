/** Condition types and reasons on the wire. machine/status.ts sets their times. */

export const conditionTypes = {
  /** Installation: its sub-installations match the blueprint. */
  EnsureSubInstallations: 'EnsureSubInstallations',
  /** Installation: its execution matches the blueprint. */
  ReconcileExecution: 'ReconcileExecution',
  /** Installation: its blueprint works but contains mistakes. Removed when they are fixed. */
  ValidateBlueprint: 'ValidateBlueprint',
  /** Installation: the import executions accept the imports. */
  ValidateImports: 'ValidateImports',
  /** Installation: copies of the imports exist in its own scope. */
  CreateImports: 'CreateImports',
  /** Installation: its exports exist in the scope of the parent. */
  CreateExports: 'CreateExports',
  /** Installation: whether its component version was overwritten. */
  ComponentReferenceOverwrite: 'ComponentReferenceOverwrite',
  /** Installation, execution: the objects that the job waits for. Removed as soon as the job continues. */
  Waiting: 'Waiting',
  /** Since when a job has been retrying requests to an unavailable server. Removed as soon as the job continues. */
  RemoteUnavailable: 'RemoteUnavailable',
  /** Installation: why a scheduled job does not start. Removed when the reason no longer applies. */
  AutomaticReconcile: 'AutomaticReconcile',
  /** Installation, execution: an object below failed after the last job succeeded. Removed when it no longer fails. */
  Drifted: 'Drifted',
  /** Deploy item: other items manage the same objects on its cluster. Removed when they no longer do. */
  SharedObjects: 'SharedObjects',
  /** Deploy item: objects stay on clusters that its target no longer leads to. Removed when they are managed again, deleted or forgotten. */
  ObjectsLeftBehind: 'ObjectsLeftBehind',
  /** Whether the last job succeeded, and nothing failed since; `Unknown` while a job runs. */
  Ready: 'Ready',
  /** A job runs. Removed when it ends. */
  Reconciling: 'Reconciling',
  /** The last job failed. Removed when the next one starts. */
  Stalled: 'Stalled',
  /** Deploy item: its configuration has fields that the deployer does not read. Removed when they are fixed. */
  ValidateConfiguration: 'ValidateConfiguration',
  /** Deploy item: the configuration for the mock deployer is valid. */
  DeployItemValidation: 'DeployItemValidation',
} as const;
export type ConditionType = keyof typeof conditionTypes;

/** The conditions by which tools judge an object whose kind they do not know. */
export const readinessConditions = [
  'Ready',
  'Reconciling',
  'Stalled',
] as const satisfies readonly ConditionType[];
export type ReadinessCondition = (typeof readinessConditions)[number];

/** Conditions that Landscaper neither writes nor removes. */
export const espalierConditions: readonly ConditionType[] = [
  'ValidateBlueprint',
  'Waiting',
  'RemoteUnavailable',
  'AutomaticReconcile',
  'Drifted',
  'SharedObjects',
  'ObjectsLeftBehind',
  ...readinessConditions,
  'ValidateConfiguration',
];

export const conditionReasons = {
  /** Reason of a new condition. */
  ConditionInitialized: 'ConditionInitialized',
  InstallationsInstalled: 'InstallationsInstalled',
  SubInstallationsNotFound: 'SubInstallationsNotFound',
  InstallationNotDeleted: 'InstallationNotDeleted',
  InstallationCreatingFailed: 'InstallationCreatingFailed',
  ExecutionDeployed: 'ExecutionDeployed',
  TemplatingFailed: 'TemplatingFailed',
  CreateOrUpdateExecution: 'CreateOrUpdateExecution',
  ImportValidationFailed: 'ImportValidationFailed',
  BlueprintHasMistakes: 'BlueprintHasMistakes',
  UnknownFields: 'UnknownFields',
  CreateDataObjects: 'CreateDataObjects',
  CreateTargets: 'CreateTargets',
  DataObjectsCreated: 'DataObjectsCreated',
  JobFailed: 'JobFailed',
  SpecChanged: 'SpecChanged',
  FailedAfterJob: 'FailedAfterJob',
  JobsUnfinished: 'JobsUnfinished',
  DeletionPending: 'DeletionPending',
  PredecessorsUnfinished: 'PredecessorsUnfinished',
  SuccessorsExist: 'SuccessorsExist',
  NotTakenUp: 'NotTakenUp',
  ReconcileError: 'ReconcileError',
  InProgress: 'InProgress',
  JobNotStarted: 'JobNotStarted',
  NameNotFound: 'NameNotFound',
  ServerUnavailable: 'ServerUnavailable',
  ManagedByOthers: 'ManagedByOthers',
  OnAnotherCluster: 'OnAnotherCluster',
  FoundOverwrite: 'FoundOverwrite',
  NoOverwriteDefined: 'No overwrite defined',
} as const;
export type ConditionReason = (typeof conditionReasons)[keyof typeof conditionReasons];

/**
 * Reasons of `Waiting` whose message is about the innermost object that holds the job up, the most serious first: a deploy
 * item without a deployer, an error that is retried, a wait that has lasted a while.
 */
export const obstacleReasons = [
  conditionReasons.NotTakenUp,
  conditionReasons.ReconcileError,
  conditionReasons.InProgress,
] as const;
export type ObstacleReason = (typeof obstacleReasons)[number];

export const isObstacleReason = (reason: string): reason is ObstacleReason =>
  obstacleReasons.some((one) => one === reason);
