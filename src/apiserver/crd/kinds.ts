/** Converts a CustomResourceDefinition to the kinds that it defines. */
import type { Column, Convert, Kind, ScalePaths } from '../kinds/kinds.ts';
import { byVersionRank } from '../kinds/kinds.ts';
import { compileSchema } from '../schema/schema.ts';
import type { JsonSchema } from '../schema/schema.ts';
import type { JsonObject, KubeObject } from '../types.ts';

export const CRDS = 'apiextensions.k8s.io/customresourcedefinitions';

export interface CrdNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonSchema };
  readonly subresources?: { readonly status?: object; readonly scale?: Record<string, string> };
  readonly additionalPrinterColumns?: readonly Column[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
}

interface CrdSpec {
  readonly group: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly names: CrdNames;
  readonly versions: readonly CrdVersion[];
  readonly conversion?: { readonly strategy?: string; readonly webhook?: JsonObject };
}

export const specOf = (crd: KubeObject): CrdSpec => crd['spec'] as CrdSpec;

/** The names under which a definition is served; empty until some are accepted. */
export const acceptedBy = (crd: KubeObject): CrdNames & JsonObject =>
  ((crd['status'] as JsonObject | undefined)?.['acceptedNames'] ?? {}) as CrdNames & JsonObject;

/**
 * The kinds for the registry.
 * @param conversionOf creates the conversion of a webhook
 */
export function kindsOf(crd: KubeObject, conversionOf: (webhook: JsonObject) => Convert): Kind[] {
  const spec = { ...specOf(crd), names: acceptedBy(crd) };
  const parts: SharedParts = {
    ...webhookOf(spec, conversionOf),
    storageVersion: `${spec.group}/${spec.versions.find((version) => version.storage)?.name ?? ''}`,
    versions: (apiVersion) => all.get(apiVersion),
  };
  const kinds = spec.versions.map((version) => kindOf(spec, version, parts));
  const all = new Map(kinds.map((kind) => [kind.apiVersion, kind]));
  return kinds.filter((_, i) => spec.versions[i]?.served);
}

type SharedParts = Pick<Kind, 'versions' | 'webhook' | 'storageVersion'>;

function kindOf(spec: CrdSpec, version: CrdVersion, parts: SharedParts): Kind {
  const { names } = spec;
  const schema = version.schema?.openAPIV3Schema;
  const scale = version.subresources?.scale;
  return {
    ...parts,
    group: spec.group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind,
    plural: names.plural,
    singular: names.singular,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: spec.scope === 'Namespaced',
    builtIn: false,
    resource: `${spec.group}/${names.plural}`,
    apiVersion: `${spec.group}/${version.name}`,
    virtual: false,
    status: version.subresources?.status !== undefined,
    ...(scale ? { scale: scalePaths(scale) } : {}),
    subresources: [
      ...(version.subresources?.status === undefined ? [] : ['status']),
      ...(scale === undefined ? [] : ['scale']),
    ],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    generation: true,
    unconditionalUpdate: false,
    createOnUpdate: false,
    returnsDeleted: false,
    defaultPolicy: 'Background',
    nameRule: 'subdomain',
    columns: version.additionalPrinterColumns ?? [],
    ...(schema && {
      schema: compileSchema(schema, scale ? { scale: scalePaths(scale) } : {}),
      openapi: schema as Record<string, unknown>,
    }),
    selectableFields: (version.selectableFields ?? []).map((f) => f.jsonPath.replace(/^\./, '')),
    ...(version.deprecated
      ? { deprecationWarning: version.deprecationWarning ?? defaultWarning(spec, version.name) }
      : {}),
  };
}

function webhookOf(
  { conversion }: CrdSpec,
  conversionOf: (webhook: JsonObject) => Convert,
): Pick<Kind, 'webhook'> {
  return conversion?.strategy === 'Webhook' ? { webhook: conversionOf(conversion.webhook ?? {}) } : {};
}

/** Recommends the newest more stable version, if there is one. */
function defaultWarning(spec: CrdSpec, name: string): string {
  const better = spec.versions
    .filter((v) => v.served && !v.deprecated && byVersionRank(v.name, name) < 0)
    .map((v) => v.name)
    .sort(byVersionRank)[0];
  const text = `${spec.group}/${name} ${spec.names.kind} is deprecated`;
  return better === undefined ? text : `${text}; use ${spec.group}/${better} ${spec.names.kind}`;
}

const scalePaths = (scale: Record<string, string>): ScalePaths => ({
  spec: scale['specReplicasPath'] ?? '',
  status: scale['statusReplicasPath'] ?? '',
  ...(scale['labelSelectorPath'] ? { labelSelector: scale['labelSelectorPath'] } : {}),
});
