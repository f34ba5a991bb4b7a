/** Component descriptors: reads both formats into one internal form, and writes it for templates in either format. */
import { z } from 'zod';
import type { YamlStrings } from '../lib/yaml-strings.ts';
import { DescriptorInvalid } from './errors.ts';
import { stringsOf } from './go-strings.ts';

export type JsonMap = Readonly<Record<string, unknown>>;
export const V2 = 'v2';
export const V3 = 'ocm.software/v3alpha1';
export type SchemaVersion = typeof V2 | typeof V3;

const labels = z.array(z.looseObject({ name: z.string(), value: z.unknown() }));
/** An optional field that may also be null. */
const optionalOrNull = <S extends z.ZodType>(schema: S) =>
  schema.nullish().transform((value): z.output<S> | undefined => value ?? undefined);
const list = <S extends z.ZodType>(schema: S) =>
  z
    .array(schema)
    .nullish()
    .transform((value): z.output<S>[] => value ?? []);
const named = {
  name: z.string().min(1),
  extraIdentity: optionalOrNull(z.record(z.string(), z.string())),
  labels: optionalOrNull(labels),
};
const digest = z.looseObject({
  hashAlgorithm: z.string(),
  normalisationAlgorithm: z.string(),
  value: z.string(),
});
const resource = z.looseObject({
  ...named,
  version: optionalOrNull(z.string()),
  type: z.string(),
  relation: optionalOrNull(z.string()),
  access: optionalOrNull(z.looseObject({ type: z.string() })),
  digest: optionalOrNull(digest),
});
const reference = z.looseObject({
  ...named,
  componentName: z.string().min(1),
  version: z.string().min(1),
  digest: optionalOrNull(digest),
});
const provider = z.union([z.string(), z.looseObject({ name: z.string() })]);
const repositoryContexts = list(z.looseObject({ type: z.string() }));
const sources = list(z.looseObject({ name: z.string() }));

const v2 = z.looseObject({
  meta: z.looseObject({ schemaVersion: z.literal(V2) }),
  component: z.looseObject({
    name: z.string().min(1),
    version: z.string().min(1),
    provider: optionalOrNull(provider),
    labels: optionalOrNull(labels),
    creationTime: optionalOrNull(z.string()),
    repositoryContexts,
    sources,
    componentReferences: list(reference),
    resources: list(resource),
  }),
});
const v3 = z.looseObject({
  apiVersion: z.literal(V3),
  kind: z.literal('ComponentVersion'),
  metadata: z.looseObject({
    name: z.string().min(1),
    version: z.string().min(1),
    provider: optionalOrNull(provider),
    labels: optionalOrNull(labels),
    creationTime: optionalOrNull(z.string()),
  }),
  repositoryContexts,
  spec: optionalOrNull(z.looseObject({ resources: list(resource), references: list(reference), sources })),
});

/** The strings of both formats, which have no field in common at the top. */
export const DESCRIPTOR_STRINGS: YamlStrings = {
  fields: Object.fromEntries(
    [v2, v3].flatMap(({ shape }) =>
      Object.entries<z.ZodType>(shape).map(([name, field]) => [name, stringsOf(field)]),
    ),
  ),
};

export type Resource = Readonly<z.output<typeof resource>>;
export type Reference = Readonly<z.output<typeof reference>>;
export type Digest = Readonly<z.output<typeof digest>>;

export interface Component {
  readonly schemaVersion: SchemaVersion;
  readonly name: string;
  readonly version: string;
  readonly provider: string | JsonMap;
  readonly labels: readonly JsonMap[] | undefined;
  /** The original string. */
  readonly creationTime?: string | undefined;
  readonly repositoryContexts: readonly JsonMap[];
  readonly resources: readonly Resource[];
  readonly references: readonly Reference[];
  readonly sources: readonly JsonMap[];
  /** Top-level fields that both formats keep next to the component, for example signatures. */
  readonly more: JsonMap;
}

/** @throws DescriptorInvalid with the path of the field */
export function readDescriptor(document: unknown, what = 'the component descriptor'): Component {
  const isV3 = typeof document === 'object' && document !== null && 'apiVersion' in document;
  const result = isV3 ? v3.safeParse(document) : v2.safeParse(document);
  if (!result.success) {
    const [issue] = result.error.issues;
    const path = issue?.path.join('.') ?? '';
    throw new DescriptorInvalid(
      `${what} is not valid: ${path === '' ? '' : `${path}: `}${issue?.message ?? ''}`,
    );
  }
  return 'component' in result.data ? ofV2(result.data as z.output<typeof v2>) : ofV3(result.data);
}

function ofV2({ meta: _, component, ...more }: z.output<typeof v2>): Component {
  const { repositoryContexts, sources, resources, componentReferences: references } = component;
  return componentOf(V2, component, { repositoryContexts, sources, more, resources, references });
}

function ofV3({ apiVersion: _, kind: __, metadata, ...rest }: z.output<typeof v3>): Component {
  const { repositoryContexts, spec, ...more } = rest;
  const { resources = [], references = [], sources = [] } = spec ?? {};
  return componentOf(V3, metadata, { repositoryContexts, sources, more, resources, references });
}

function componentOf(
  schemaVersion: Component['schemaVersion'],
  head: z.output<typeof v2>['component'] | z.output<typeof v3>['metadata'],
  {
    resources,
    references,
    ...parts
  }: Pick<Component, 'repositoryContexts' | 'sources' | 'more' | 'resources' | 'references'>,
): Component {
  const { name, version, provider = '', labels, creationTime } = head;
  return {
    schemaVersion,
    name,
    version,
    provider,
    labels,
    creationTime,
    ...parts,
    ...withoutEmptyFields(version, resources, references),
  };
}

/** Omits empty fields. A resource without a version gets the version of its component. */
const withoutEmptyFields = (
  version: string,
  resources: readonly Resource[],
  references: readonly Reference[],
) => ({
  resources: resources.map((one) => withoutEmpty({ ...one, version: one.version ?? version }) as Resource),
  references: references.map((one) => withoutEmpty(one) as Reference),
});

const withoutEmpty = (fields: JsonMap): JsonMap =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([key, value]) =>
        value !== undefined &&
        value !== null &&
        !(
          (key === 'labels' || key === 'extraIdentity' || key === 'srcRefs') &&
          Object.keys(value).length === 0
        ),
    ),
  );

// ---------------------------------------------------------------- output

export const descriptorOf = (component: Component, form: SchemaVersion): JsonMap =>
  form === V2 ? toV2(component) : toV3(component);

export function toV2(component: Component): JsonMap {
  const { name, version, provider, labels, creationTime, more } = component;
  const { repositoryContexts, sources, resources, references } = component;
  return {
    ...more,
    meta: { schemaVersion: V2 },
    component: {
      name,
      version,
      provider: typeof provider === 'string' ? provider : provider['name'],
      ...(labels && labels.length > 0 && { labels }),
      ...(creationTime !== undefined && { creationTime }),
      repositoryContexts,
      sources,
      componentReferences: references,
      resources,
    },
  };
}

export function toV3(component: Component): JsonMap {
  const { name, version, provider, labels, creationTime, more } = component;
  const { repositoryContexts, sources, resources, references } = component;
  return {
    ...more,
    apiVersion: V3,
    kind: 'ComponentVersion',
    metadata: {
      name,
      version,
      provider: typeof provider === 'string' ? { name: provider } : provider,
      ...(labels && labels.length > 0 && { labels }),
      ...(creationTime !== undefined && { creationTime }),
    },
    ...(repositoryContexts.length > 0 && { repositoryContexts }),
    spec: {
      ...(resources.length > 0 && { resources }),
      ...(references.length > 0 && { references }),
      ...(sources.length > 0 && { sources }),
    },
  };
}

/** `name:version`, for messages and as a key. */
export const nameOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `${name}:${version}`;
