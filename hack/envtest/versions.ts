/** Versions of the servers for tests, and the location of their binaries. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export const versions = {
  /** Module k8s.io/kubernetes; its staging modules have the same version with a leading 0. */
  kubernetes: '1.34.4',
  /** Module go.etcd.io/etcd/server/v3. */
  etcd: '3.6.8',
} as const;

/** Paths of the two binaries a test control plane needs. */
export interface Binaries {
  readonly apiserver: string;
  readonly etcd: string;
}

/** Outside the tree, so that a clean checkout does not rebuild; one folder per pair of versions. */
export function cacheFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', 'envtest', `kube-${versions.kubernetes}-etcd-${versions.etcd}`);
}

/** The binaries in a folder with kubebuilder's names. */
export function binariesIn(folder: string): Binaries {
  return { apiserver: join(folder, 'kube-apiserver'), etcd: join(folder, 'etcd') };
}
