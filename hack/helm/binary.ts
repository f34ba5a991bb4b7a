/** Finds the helm program, or builds it once from its Go module, into a cache outside the tree. */
import { isExecutable } from '../executable.ts';
import { GoUnavailable, hasGo, programCache } from '../go/build.ts';
import { buildGoProgram } from '../go/program.ts';

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

/**
 * ESPALIER_TEST_HELM, or the built program; undefined if it has to be built.
 * @throws GoUnavailable if ESPALIER_TEST_HELM cannot be run
 */
export function findHelm(): string | undefined {
  const given = process.env['ESPALIER_TEST_HELM'];
  if (given && !isExecutable(given)) {
    throw new GoUnavailable(`ESPALIER_TEST_HELM is set, but ${given} is not executable`);
  }
  return [...(given ? [given] : []), builtHelm()].find(isExecutable);
}

const builtHelm = (): string => programCache('helm', HELM_VERSION, 'helm');

/**
 * The program; builds it if it is missing, which takes some minutes and needs Go and its module proxy.
 * @throws GoUnavailable
 */
export function ensureHelm(say: (line: string) => void = () => {}): string {
  const found = findHelm();
  if (found !== undefined) return found;
  if (!hasGo()) {
    throw new GoUnavailable(
      'the real helm is needed (set ESPALIER_TEST_HELM to its path), or go on the PATH to build it: neither is available',
    );
  }
  const target = builtHelm();
  say(`building helm ${HELM_VERSION} into ${target} (some minutes, once)`);
  buildGoProgram(target, {
    goPackage: `${MODULE}/cmd/helm`,
    module: { name: MODULE, version: HELM_VERSION },
    ldflags: Object.entries(STAMPS).map(([name, value]) => `-X ${MODULE}/${name}=${value}`),
  });
  return target;
}
