/** Checks whether a node can run on this machine. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { hasGo } from '../go/build.ts';
import { findBinaries } from '../envtest/binaries.ts';
import { missingPrograms } from './programs.ts';

/** A node cannot run here; the message says what is missing. */
export class NodeUnavailable extends Error {
  override readonly name = 'NodeUnavailable';
}

/** Commands, and the Debian packages that contain them. */
const COMMANDS: Readonly<Record<string, string>> = {
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  'docker-registry': 'docker-registry',
  containerd: 'containerd',
  runc: 'runc',
  iptables: 'iptables',
  conntrack: 'conntrack',
  ip: 'iproute2',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
};

const CNI_BRIDGE = '/usr/lib/cni/bridge';
const BRIDGE_RULES = '/proc/sys/net/bridge/bridge-nf-call-iptables';

/**
 * @param mayBuild false: missing programs count as missing, because building them takes long
 * @throws NodeUnavailable
 */
export function checkRequirements(mayBuild: boolean): void {
  const missing = [...machineProblems(), ...programProblems(mayBuild)];
  if (missing.length > 0) throw new NodeUnavailable(`no tests on a real node: ${missing.join('; ')}`);
}

function machineProblems(): readonly string[] {
  if (process.platform !== 'linux') return ['it needs Linux'];
  if (process.getuid?.() !== 0) return ['it needs root, for namespaces, mounts and cgroups'];
  const problems: string[] = [];
  const packages = new Set(
    Object.entries(COMMANDS)
      .filter(([command]) => !isOnPath(command))
      .map(([, name]) => name),
  );
  if (!existsSync(CNI_BRIDGE)) packages.add('containernetworking-plugins');
  if (packages.size > 0)
    problems.push(
      `install the Debian packages ${[...packages].join(' ')} (apt-get install --no-install-recommends)`,
    );
  if (!isOnPath('kubectl')) problems.push('there is no kubectl on the PATH');
  if (!isWritable('/sys/fs/cgroup')) problems.push('/sys/fs/cgroup is not writable');
  if (!existsSync(BRIDGE_RULES)) problems.push('the kernel module br_netfilter is not loaded');
  return problems;
}

function programProblems(mayBuild: boolean): readonly string[] {
  const missing: string[] = missingPrograms();
  if (!findBinaries()) missing.push('kube-apiserver or etcd');
  if (missing.length === 0) return [];
  const names = missing.join(', ');
  if (!mayBuild) return [`${names} must be built first, which takes long: make test-node ARGS=--build-only`];
  return hasGo() ? [] : [`there is no go on the PATH to build ${names}`];
}

const isOnPath = (command: string): boolean =>
  spawnSync('sh', ['-c', 'command -v "$0"', command], { stdio: 'ignore' }).status === 0;

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
