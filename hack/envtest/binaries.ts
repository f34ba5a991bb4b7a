/** Finds kube-apiserver and etcd, or builds them once from their Go modules, into a cache outside the tree. */
import { isExecutable } from '../executable.ts';
import { GoUnavailable, hasGo } from '../go/build.ts';
import { buildGoProgram, kubernetesProgram, type GoProgram } from '../go/program.ts';
import { binariesIn, cacheFolder, versions, type Binaries } from './versions.ts';

/** No control plane is available on this machine; the message says what to install. */
export class EnvtestUnavailable extends Error {
  override readonly name = 'EnvtestUnavailable';
}

/** The existing binaries; undefined if they have to be built. */
export function findBinaries(): Binaries | undefined {
  const given = process.env['KUBEBUILDER_ASSETS'];
  if (given) {
    const binaries = binariesIn(given);
    const missing = Object.values<string>({ ...binaries }).filter((path) => !isExecutable(path));
    if (missing.length > 0) {
      throw new EnvtestUnavailable(
        `KUBEBUILDER_ASSETS is set, but there is no executable ${missing.join(' and no ')}`,
      );
    }
    return binaries;
  }
  const cached = binariesIn(cacheFolder());
  return Object.values(cached).every(isExecutable) ? cached : undefined;
}

/**
 * The binaries; builds missing ones, which takes some minutes and needs Go and the module proxy.
 * @throws EnvtestUnavailable if a binary is missing and cannot be built
 */
export function ensureBinaries(say: (line: string) => void = () => {}): Binaries {
  const found = findBinaries();
  if (found) return found;

  if (!hasGo()) {
    throw new EnvtestUnavailable(
      'a real control plane needs kube-apiserver and etcd (set KUBEBUILDER_ASSETS to their folder), ' +
        'or go on the PATH to build them: neither is available',
    );
  }
  const cached = binariesIn(cacheFolder());
  if (!isExecutable(cached.etcd)) {
    say(`building etcd ${versions.etcd} into ${cached.etcd}`);
    build(cached.etcd, () => ETCD);
  }
  if (!isExecutable(cached.apiserver)) {
    say(`building kube-apiserver ${versions.kubernetes} into ${cached.apiserver} (some minutes, once)`);
    build(cached.apiserver, () => kubernetesProgram('kube-apiserver', versions.kubernetes));
  }
  return cached;
}

const ETCD: GoProgram = {
  goPackage: 'go.etcd.io/etcd/server/v3',
  module: { name: 'go.etcd.io/etcd/server/v3', version: `v${versions.etcd}` },
};

function build(target: string, program: () => GoProgram): void {
  try {
    buildGoProgram(target, program());
  } catch (error) {
    if (!(error instanceof GoUnavailable)) throw error;
    throw new EnvtestUnavailable(error.message);
  }
}
