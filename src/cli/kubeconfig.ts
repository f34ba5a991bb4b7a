/** Which cluster a command speaks to: the option, then KUBECONFIG, then the pod's own, then the home folder. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { KubeconfigSource } from '../runtime/kubeconfig.ts';
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
  const file = options.kubeconfig ?? (env['KUBECONFIG'] || undefined);
  if (file !== undefined) return { file, ...context };
  if (env['KUBERNETES_SERVICE_HOST']) return 'in-cluster';
  const home = join(homedir(), '.kube', 'config');
  if (existsSync(home)) return { file: home, ...context };
  throw new UsageError(
    'which cluster? Name a kubeconfig with --kubeconfig or KUBECONFIG, or start one with: espalier dev',
  );
}
