/** `.Capabilities`: the facts about the target cluster for templates. */
import { fn } from '../gotemplate/signature.ts';
import { GoObject, namedList, type GoFunction, type Value } from '../gotemplate/values.ts';

export interface Capabilities {
  /** For example `v1.34.0`. */
  readonly kubeVersion: string;
  /** `v1`, `apps/v1`, and, if the cluster was queried, `apps/v1/Deployment`. */
  readonly apiVersions: readonly string[];
}

/** The Helm version that this package reproduces. */
const HELM_VERSION = 'v3.19.5';

/** Helm's built-in list of API versions by group, the preferred one first. */
const KNOWN_GROUPS: readonly (readonly [group: string, versions: string])[] = [
  ['', 'v1'],
  ['admissionregistration.k8s.io', 'v1 v1alpha1 v1beta1'],
  ['internal.apiserver.k8s.io', 'v1alpha1'],
  ['apps', 'v1 v1beta1 v1beta2'],
  ['authentication.k8s.io', 'v1 v1alpha1 v1beta1'],
  ['authorization.k8s.io', 'v1 v1beta1'],
  ['autoscaling', 'v1 v2 v2beta1 v2beta2'],
  ['batch', 'v1 v1beta1'],
  ['certificates.k8s.io', 'v1 v1beta1 v1alpha1'],
  ['coordination.k8s.io', 'v1alpha2 v1beta1 v1'],
  ['discovery.k8s.io', 'v1 v1beta1'],
  ['events.k8s.io', 'v1 v1beta1'],
  ['extensions', 'v1beta1'],
  ['flowcontrol.apiserver.k8s.io', 'v1 v1beta1 v1beta2 v1beta3'],
  ['networking.k8s.io', 'v1 v1beta1'],
  ['node.k8s.io', 'v1 v1alpha1 v1beta1'],
  ['policy', 'v1 v1beta1'],
  ['rbac.authorization.k8s.io', 'v1 v1beta1 v1alpha1'],
  ['resource.k8s.io', 'v1 v1beta2 v1beta1 v1alpha3'],
  ['scheduling.k8s.io', 'v1alpha1 v1beta1 v1'],
  ['storage.k8s.io', 'v1beta1 v1 v1alpha1'],
  ['storagemigration.k8s.io', 'v1alpha1'],
  ['apiextensions.k8s.io', 'v1beta1 v1'],
];

export const knownApiVersions: readonly string[] = KNOWN_GROUPS.flatMap(([group, versions]) =>
  versions.split(' ').map((version) => (group === '' ? version : `${group}/${version}`)),
);

/** The defaults of `helm template`. */
export const defaultCapabilities: Capabilities = { kubeVersion: 'v1.34.0', apiVersions: knownApiVersions };

const constant = (value: Value): GoFunction => fn('', () => value);

/** A Go struct whose fields keep their order in JSON. */
export const jsonStruct = (fields: Readonly<Record<string, Value>>): GoObject =>
  new GoObject({ type: 'struct', fields });

export function capabilitiesObject({ kubeVersion, apiVersions }: Capabilities): GoObject {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(kubeVersion) ?? [];
  const version = { Version: kubeVersion, Major: major, Minor: minor };
  const has = new Set(apiVersions);
  return new GoObject({
    type: '*chartutil.Capabilities',
    fields: {
      KubeVersion: new GoObject({
        type: 'chartutil.KubeVersion',
        fields: version,
        text: () => kubeVersion,
        json: () => jsonStruct(version),
        methods: { String: constant(kubeVersion), GitVersion: constant(kubeVersion) },
      }),
      APIVersions: namedList('string', [...apiVersions], {
        type: 'chartutil.VersionSet',
        methods: new Map([['Has', fn('string', (wanted: string) => has.has(wanted))]]),
      }),
      HelmVersion: new GoObject({
        type: 'version.BuildInfo',
        fields: { Version: HELM_VERSION, GitCommit: '', GitTreeState: 'clean', GoVersion: '' },
        json: () => jsonStruct({ version: HELM_VERSION, git_tree_state: 'clean' }),
      }),
    },
  });
}
