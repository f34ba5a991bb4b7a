/** The public surface of the deployer SDK: the contract, what a plugin may answer and throw, and the controller around it. */
export { deployerController } from './controller.ts';
export type { DeployerDeps, DeployerMetrics, DeployerPlugin, DeployerSettings, Run } from './deployer.ts';
export { CodecError, asItIs, codec, type Codec } from './codec.ts';
export { done, fail, retry, wait, type ExportOf, type Outcome } from './outcome.ts';
export {
  ConfigurationError,
  DeployerError,
  InternalError,
  InterruptedError,
  RetryError,
  TimeoutError,
  UnauthorizedError,
} from './errors.ts';
export type { ContinuousReconcile } from './continuous.ts';
export type { HostApi } from './host.ts';
export type { KubeAccess } from './access.ts';
export type { ResolvedTarget, SelfCluster } from './target.ts';
export type { Requirement, TargetSelector } from './responsible.ts';
export { failAt, standardTimeouts, type TimeoutPolicy } from './timeout.ts';
