/** `.Capabilities`: the facts about the target cluster for templates. */
import { isObject, ownField } from '../../lib/objects.ts';
import { fn } from '../gotemplate/signature.ts';
import { GoObject, namedList, type GoFunction, type Value } from '../gotemplate/values.ts';

export interface Capabilities {
  /** For example `v1.34.0`. */
  readonly kubeVersion: string;
  /** As the server writes them, for example `34+`; default: the numbers in `kubeVersion`. */
  readonly major?: string | undefined;
  readonly minor?: string | undefined;
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

/** `.Capabilities.KubeVersion` */
export function versionFields({ kubeVersion, major, minor }: Capabilities) {
  const [, inMajor = '', inMinor = ''] = /^v?(\d+)\.(\d+)/.exec(kubeVersion) ?? [];
  return { Version: kubeVersion, Major: major ?? inMajor, Minor: minor ?? inMinor };
}

/** `.Capabilities.HelmVersion` */
export const helmVersionFields = {
  Version: HELM_VERSION,
  GitCommit: '',
  GitTreeState: 'clean',
  GoVersion: '',
} as const;

/** What becomes of the CRDs of a chart before its objects: missing ones are created, or all are applied. */
export type OwnDefinitions = 'created' | 'applied';

/** The capabilities of the target when the CRDs of the chart are installed. */
export function withDefinitions(
  { apiVersions, ...facts }: Capabilities,
  definitions: readonly unknown[],
  how: OwnDefinitions,
): Capabilities {
  const served = new Set(apiVersions);
  for (const { group, kind, versions } of definitions.map(servedBy)) {
    // A definition that exists is not changed, so its versions are those that the target serves.
    const exists = apiVersions.some((name) => name.startsWith(`${group}/`) && name.endsWith(`/${kind}`));
    if (how === 'created' && exists) continue;
    for (const { name, kinds } of versions) {
      served.add(`${group}/${name}`);
      for (const each of kinds) served.add(`${group}/${name}/${each}`);
    }
  }
  return { ...facts, apiVersions: [...served] };
}

interface Served {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly { readonly name: string; readonly kinds: readonly string[] }[];
}

function servedBy(definition: unknown): Served {
  const spec = ownField(definition, 'spec');
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const group = text(ownField(spec, 'group'));
  const kind = text(ownField(ownField(spec, 'names'), 'kind'));
  const versions = ownField(spec, 'versions');
  const isDefinition = ownField(definition, 'kind') === 'CustomResourceDefinition' && group !== '';
  return {
    group,
    kind,
    versions: (isDefinition && Array.isArray(versions) ? versions : [])
      .filter((version) => ownField(version, 'served') === true)
      .map((version: unknown) => ({
        name: text(ownField(version, 'name')),
        kinds: isObject(ownField(ownField(version, 'subresources'), 'scale')) ? [kind, 'Scale'] : [kind],
      })),
  };
}

export function capabilitiesObject(capabilities: Capabilities): GoObject {
  const { kubeVersion, apiVersions } = capabilities;
  const version = versionFields(capabilities);
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
        fields: helmVersionFields,
        json: () => jsonStruct({ version: HELM_VERSION, git_tree_state: 'clean' }),
      }),
    },
  });
}
