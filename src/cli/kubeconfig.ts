/**
 * Selects the kubeconfig of a command: from the option, KUBECONFIG, the pod's service account, or the home folder,
 * in this order.
 */
import { textOfYaml } from '../lib/yaml-bytes.ts';
import { readFileSync } from 'node:fs';
import { findKubeconfig, type KubeconfigSource } from '../runtime/transport/kubeconfig.ts';
import { UsageError } from './errors.ts';
import { selfCommand } from './self-command.ts';

export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** The kubeconfig is standard input, and there is no other source. */
  readonly kubeconfigStdin?: true;
}

/** The same options as arguments, for another process with the same environment. */
export const clusterArgs = ({ kubeconfig, context }: ClusterOptions): readonly string[] => [
  ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
  ...(context === undefined ? [] : ['--context', context]),
];

/** @throws UsageError if there is none */
export function kubeconfigSource(
  options: ClusterOptions,
  env: Readonly<Record<string, string | undefined>>,
): KubeconfigSource {
  const context = options.context === undefined ? {} : { context: options.context };
  if (options.kubeconfigStdin) return { text: textOfYaml(readFileSync(0)), ...context };
  const source = options.kubeconfig === undefined ? findKubeconfig(env) : { file: options.kubeconfig };
  if (source) return source === 'in-cluster' ? source : { ...source, ...context };
  throw new UsageError(
    `no cluster given; set --kubeconfig or KUBECONFIG, or start one with: ${selfCommand()} dev`,
  );
}
