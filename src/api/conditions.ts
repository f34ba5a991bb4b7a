/** Condition types and their reasons on the wire. How their times move: machine/status.ts. */

export const conditionTypes = {
  /** Installation: its sub-installations exist as the blueprint wants them. */
  EnsureSubInstallations: 'EnsureSubInstallations',
  /** Installation: its execution exists as the blueprint wants it. */
  ReconcileExecution: 'ReconcileExecution',
  /** Installation: its blueprint works, but something in it does not mean what it says. Gone when it is put right. */
  ValidateBlueprint: 'ValidateBlueprint',
  /** Installation: the import executions have nothing against the imports. */
  ValidateImports: 'ValidateImports',
  /** Installation: copies of the imports exist in its own scope. */
  CreateImports: 'CreateImports',
  /** Installation: its exports exist in the scope of the parent. */
  CreateExports: 'CreateExports',
  /** Installation: whether its component version was replaced by another. */
  ComponentReferenceOverwrite: 'ComponentReferenceOverwrite',
  /** Installation, execution: what has to happen first, while a job waits. Gone as soon as it goes on. */
  Waiting: 'Waiting',
  /** Since when a job tries a server again that it needs and cannot use. Gone as soon as it goes on. */
  RemoteUnavailable: 'RemoteUnavailable',
  /** Installation: why no job is started by the clock although it is asked for. Gone when that is over. */
  AutomaticReconcile: 'AutomaticReconcile',
  /** Installation, execution: something below failed after the last job had succeeded. Gone when that is over. */
  Drifted: 'Drifted',
  /** Deploy item: other items manage objects of it on its cluster, too. Gone when that is over. */
  SharedObjects: 'SharedObjects',
  /** Deploy item: the mock deployer could read its configuration. */
  DeployItemValidation: 'DeployItemValidation',
} as const;
export type ConditionType = keyof typeof conditionTypes;

export const conditionReasons = {
  /** Of a condition that has just come into being. */
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
  NameNotFound: 'NameNotFound',
  ServerUnavailable: 'ServerUnavailable',
  ManagedByOthers: 'ManagedByOthers',
  FoundOverwrite: 'FoundOverwrite',
  NoOverwriteDefined: 'No overwrite defined',
} as const;
export type ConditionReason = (typeof conditionReasons)[keyof typeof conditionReasons];
