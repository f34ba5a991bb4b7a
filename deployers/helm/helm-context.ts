/** Types and functions that all parts of the helm deployer share. */
import type { ComponentRepositories } from '../../src/components/component-repositories.ts';
import type { DescriptorRunner } from '../../src/components/descriptor-work.ts';
import type { DownloadLimits } from '../../src/lib/byte-budget.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ChartRunner, ChartsOf } from '../../src/templating/helm/work.ts';
import type { DeployContext } from '../sdk/deployer.ts';
import type { HelmConfig } from './config.ts';
import type { HelmStatus } from './status.ts';

export type HelmContext = DeployContext<HelmConfig, HelmStatus>;

export interface HelmOptions {
  /** Finds charts in registries and components. */
  readonly repositories: ComponentRepositories;
  readonly clock: Clock;
  /** Path or name of a helm program that installs releases; default: `HELM_EXECUTABLE`. Without both, this process does. */
  readonly executable?: string | undefined;
  /** Size of the chart cache in bytes; default 100 000 000. */
  readonly cacheBytes?: number;
  /** Size limits for downloaded charts and repository indexes, and for parallel downloads. */
  readonly downloads?: DownloadLimits | undefined;
  /** Runs the parsing and rendering of charts, which are untrusted. */
  readonly chartsOf: ChartsOf;
  /** Reads large component descriptors, in the worker share of a namespace; default: in this thread. */
  readonly descriptorsOf?: ((namespace: string) => DescriptorRunner) | undefined;
  /** Whether templates see a Kubernetes 1.20 without custom resources instead of the target, as upstream's do. */
  readonly staticCapabilities?: boolean;
}

/** The chart runner of the item's namespace. */
export const chartsFor = ({ item }: HelmContext, { chartsOf }: HelmOptions): ChartRunner =>
  chartsOf(item.metadata.namespace ?? '');

export const PREFIX = 'helm deployer';
