/** Finds the helm program, or builds it once from its Go module, into a cache outside the tree. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isExecutable } from '../executable.ts';

const MODULE = 'helm.sh/helm/v3';
const HELM_VERSION = 'v3.19.5';

/** Version variables that the linker sets in releases of Helm: its own version and that of the Kubernetes client. */
const STAMPS = {
  'internal/version.version': HELM_VERSION,
  'internal/version.gitTreeState': 'clean',
  'pkg/chartutil.k8sVersionMajor': '1',
  'pkg/chartutil.k8sVersionMinor': '34',
  'pkg/lint/rules.k8sVersionMajor': '1',
  'pkg/lint/rules.k8sVersionMinor': '34',
};

/** Helm is not available on this machine; the message says what to install. */
export class HelmUnavailable extends Error {
  override readonly name = 'HelmUnavailable';
}

/** ESPALIER_TEST_HELM, or the built program; undefined if it has to be built. */
export function findHelm(): string | undefined {
  const given = process.env['ESPALIER_TEST_HELM'];
  if (given && !isExecutable(given)) {
    throw new HelmUnavailable(`ESPALIER_TEST_HELM is set, but ${given} is not executable`);
  }
  return [...(given ? [given] : []), builtHelm()].find(isExecutable);
}

function builtHelm(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'espalier', 'helm', HELM_VERSION, 'helm');
}

/**
 * The program; builds it if it is missing, which takes some minutes and needs Go and its module proxy.
 * @throws HelmUnavailable
 */
export function ensureHelm(say: (line: string) => void = () => {}): string {
  const found = findHelm();
  if (found !== undefined) return found;
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) {
    throw new HelmUnavailable(
      'the real helm is needed (set ESPALIER_TEST_HELM to its path), or go on the PATH to build it: neither is available',
    );
  }
  const target = builtHelm();
  say(`building helm ${HELM_VERSION} into ${target} (some minutes, once)`);
  build(target);
  return target;
}

/** Builds next to the target and renames, so that two processes can build at the same time. */
function build(target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.build-'));
  try {
    const stamps = Object.entries(STAMPS).map(([name, value]) => `-X ${MODULE}/${name}=${value}`);
    const ldflags = ['-s', '-w', ...stamps].join(' ');
    const args = ['go', 'install', '-trimpath', '-ldflags', ldflags, `${MODULE}/cmd/helm@${HELM_VERSION}`];
    const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOBIN: folder };
    const run = spawnSync('nice', args, { env, encoding: 'utf8', maxBuffer: 64 << 20 });
    if (run.status !== 0) {
      const reason = run.error?.message ?? run.stderr.trim().split('\n').slice(-5).join('; ');
      throw new HelmUnavailable(`go install failed: ${reason}`);
    }
    renameSync(join(folder, 'helm'), target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
