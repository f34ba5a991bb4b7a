/** Finds kube-apiserver and etcd, or builds them once from their Go modules, into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isExecutable } from '../executable.ts';
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
    buildEtcd(cached.etcd);
  }
  if (!isExecutable(cached.apiserver)) {
    say(`building kube-apiserver ${versions.kubernetes} into ${cached.apiserver} (some minutes, once)`);
    buildApiserver(cached.apiserver);
  }
  return cached;
}

function hasGo(): boolean {
  return spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
}

function buildEtcd(target: string): void {
  buildModule(target, {
    module: 'go.etcd.io/etcd/server/v3',
    version: `v${versions.etcd}`,
    goPackage: 'go.etcd.io/etcd/server/v3',
    replacements: [],
    ldflags: '-s -w',
  });
}

/**
 * The go.mod of Kubernetes refers to staging modules by local paths that the module does not contain: each needs a
 * replacement.
 */
function buildApiserver(target: string): void {
  const module = 'k8s.io/kubernetes';
  const version = `v${versions.kubernetes}`;
  const staging = versions.kubernetes.replace(/^1\./, '0.');
  const goMod = readFileSync(
    (JSON.parse(go(['mod', 'download', '-json', `${module}@${version}`])) as { GoMod: string }).GoMod,
    'utf8',
  );
  const replacements = [...goMod.matchAll(/^\s*(k8s\.io\/[\w.-]+)\s+=>\s+\.\/staging\//gm)].map(
    ([, name]) => `replace ${name} => ${name} v${staging}`,
  );
  const [major, minor] = versions.kubernetes.split('.');
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const stamps = Object.entries(stamp).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  buildModule(target, {
    module,
    version,
    goPackage: 'k8s.io/kubernetes/cmd/kube-apiserver',
    replacements,
    ldflags: ['-s', '-w', ...stamps].join(' '),
  });
}

interface ModuleBuild {
  readonly module: string;
  readonly version: string;
  readonly goPackage: string;
  readonly replacements: readonly string[];
  readonly ldflags: string;
}

/** Builds next to the target and renames, so that two processes can build at the same time. */
function buildModule(target: string, build: ModuleBuild): void {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.build-'));
  try {
    const lines = ['module envtest', `require ${build.module} ${build.version}`, ...build.replacements];
    writeFileSync(join(folder, 'go.mod'), `${lines.join('\n')}\n`);
    const binary = join(folder, 'binary');
    go(['build', '-mod=mod', '-trimpath', '-ldflags', build.ldflags, '-o', binary, build.goPackage], folder);
    renameSync(binary, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function go(args: readonly string[], cwd?: string): string {
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' };
  const run = spawnSync('nice', ['go', ...args], { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (run.status === 0) return run.stdout;
  const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ');
  throw new EnvtestUnavailable(`go ${args[0]} failed: ${reason}`);
}
