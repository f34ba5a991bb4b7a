/** Component descriptors: both forms on the wire, read into one inside, and written back for templates. */
import { z } from 'zod';
import { DescriptorInvalid } from './errors.ts';

export type JsonMap = Readonly<Record<string, unknown>>;
export const V2 = 'v2';
export const V3 = 'ocm.software/v3alpha1';
export type SchemaVersion = typeof V2 | typeof V3;

const labels = z.array(z.looseObject({ name: z.string(), value: z.unknown() }));
/** Optional parts may be there without a value. */
const maybe = <S extends z.ZodType>(schema: S) =>
  schema.nullish().transform((value): z.output<S> | undefined => value ?? undefined);
const list = <S extends z.ZodType>(schema: S) =>
  z
    .array(schema)
    .nullish()
    .transform((value): z.output<S>[] => value ?? []);
const named = {
  name: z.string().min(1),
  extraIdentity: maybe(z.record(z.string(), z.string())),
  labels: maybe(labels),
};
const digest = z.looseObject({
  hashAlgorithm: z.string(),
  normalisationAlgorithm: z.string(),
  value: z.string(),
});
const resource = z.looseObject({
  ...named,
  version: maybe(z.string()),
  type: z.string(),
  relation: maybe(z.string()),
  access: maybe(z.looseObject({ type: z.string() })),
  digest: maybe(digest),
});
const reference = z.looseObject({
  ...named,
  componentName: z.string().min(1),
  version: z.string().min(1),
  digest: maybe(digest),
});
const provider = z.union([z.string(), z.looseObject({ name: z.string() })]);
const repositoryContexts = list(z.looseObject({ type: z.string() }));
const sources = list(z.looseObject({ name: z.string() }));

const v2 = z.looseObject({
  meta: z.looseObject({ schemaVersion: z.literal(V2) }),
  component: z.looseObject({
    name: z.string().min(1),
    version: z.string().min(1),
    provider: maybe(provider),
    labels: maybe(labels),
    creationTime: maybe(z.string()),
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
    provider: maybe(provider),
    labels: maybe(labels),
    creationTime: maybe(z.string()),
  }),
  repositoryContexts,
  spec: maybe(z.looseObject({ resources: list(resource), references: list(reference), sources })),
});

export type Resource = Readonly<z.output<typeof resource>>;
export type Reference = Readonly<z.output<typeof reference>>;
export type Digest = Readonly<z.output<typeof digest>>;

export interface Component {
  readonly schemaVersion: SchemaVersion;
  readonly name: string;
  readonly version: string;
  readonly provider: string | JsonMap;
  readonly labels: readonly JsonMap[] | undefined;
  /** As it is written. */
  readonly creationTime?: string | undefined;
  readonly repositoryContexts: readonly JsonMap[];
  readonly resources: readonly Resource[];
  readonly references: readonly Reference[];
  readonly sources: readonly JsonMap[];
  /** Fields beside the component in both forms: signatures and the like. */
  readonly more: JsonMap;
}

/** @throws DescriptorInvalid naming the field */
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
  const { name, version, provider = '', labels, creationTime } = component;
  const { repositoryContexts, sources } = component;
  const { componentReferences: references, resources } = component;
  return {
    ...{ schemaVersion: V2, name, version, provider, labels, creationTime },
    ...{ repositoryContexts, sources, more },
    ...tidied(version, resources, references),
  };
}

function ofV3({ apiVersion: _, kind: __, metadata, ...rest }: z.output<typeof v3>): Component {
  const { repositoryContexts, spec, ...more } = rest;
  const { name, version, provider = '', labels, creationTime } = metadata;
  const { resources = [], references = [], sources = [] } = spec ?? {};
  return {
    ...{ schemaVersion: V3, name, version, provider, labels, creationTime },
    ...{ repositoryContexts, sources, more },
    ...tidied(version, resources, references),
  };
}

/** What is empty is left out, and a resource without a version has that of its component. */
const tidied = (version: string, resources: readonly Resource[], references: readonly Reference[]) => ({
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

// ---------------------------------------------------------------- writing

export const descriptorOf = (component: Component, form: SchemaVersion): JsonMap =>
  form === V2 ? toV2(component) : toV3(component);

export function toV2(component: Component): JsonMap {
  const { name, version, provider, labels, creationTime, more } = component;
  const { repositoryContexts, sources, resources, references } = component;
  return {
    ...more,
    meta: { schemaVersion: V2 },
    component: {
      ...{ name, version, provider: typeof provider === 'string' ? provider : provider['name'] },
      ...(labels && labels.length > 0 && { labels }),
      ...(creationTime !== undefined && { creationTime }),
      ...{ repositoryContexts, sources, componentReferences: references, resources },
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
      ...{ name, version, provider: typeof provider === 'string' ? { name: provider } : provider },
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
