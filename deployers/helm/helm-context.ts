/** Words that all parts of the helm deployer share. */
import type { ComponentRepositories } from '../../src/components/component-repositories.ts';
import type { DownloadLimits } from '../../src/lib/byte-budget.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { ChartRunner, ChartsOf } from '../../src/templating/helm/work.ts';
import type { DeployContext } from '../sdk/deployer.ts';
import type { HelmConfig } from './config.ts';
import type { HelmStatus } from './status.ts';

export type HelmContext = DeployContext<HelmConfig, HelmStatus>;

export interface HelmOptions {
  /** The way to registries and components. */
  readonly repositories: ComponentRepositories;
  readonly clock: Clock;
  /** Path or name of the helm program; default `HELM_EXECUTABLE`, or `helm` on the PATH. */
  readonly executable?: string | undefined;
  /** Bytes of charts to keep for items that ask for it; default 100 000 000. */
  readonly cacheBytes?: number;
  /** How large charts and indexes of repositories may be, and how much of them is fetched at a time. */
  readonly downloads?: DownloadLimits | undefined;
  /** Where charts are read and rendered: they come from strangers. */
  readonly chartsOf: ChartsOf;
  /** Whether templates see a Kubernetes 1.20 without own kinds instead of the target, as upstream's do. */
  readonly staticCapabilities?: boolean;
}

/** The share of the namespace of the item. */
export const chartsFor = ({ item }: HelmContext, { chartsOf }: HelmOptions): ChartRunner =>
  chartsOf(item.metadata.namespace ?? '');

export const PREFIX = 'helm deployer';

/** A step done once for a job at one generation, whatever the number of looks. */
export async function once<T>({ scratch }: HelmContext, key: string, work: () => Promise<T>): Promise<T> {
  if (scratch.has(key)) return scratch.get(key) as T;
  const result = await work();
  scratch.set(key, result);
  return result;
}
