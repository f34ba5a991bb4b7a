/** Which cluster a command speaks to: the option, then KUBECONFIG, then the pod's own, then the home folder. */
import { findKubeconfig, type KubeconfigSource } from '../runtime/transport/kubeconfig.ts';
import { UsageError } from './errors.ts';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** @throws UsageError when there is nothing to go by */
export function kubeconfigSource(
  options: ClusterOptions,
  env: Readonly<Record<string, string | undefined>>,
): KubeconfigSource {
  const context = options.context === undefined ? {} : { context: options.context };
  const source = options.kubeconfig === undefined ? findKubeconfig(env) : { file: options.kubeconfig };
  if (source) return source === 'in-cluster' ? source : { ...source, ...context };
  throw new UsageError('no cluster given; set --kubeconfig or KUBECONFIG, or start one with: espalier dev');
}
