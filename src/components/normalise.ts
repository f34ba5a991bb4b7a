/**
 * The signed part of a component version: its descriptor in a normalised form, without access locations and without
 * labels that are not marked for signing. There are two formats, each in several versions.
 *
 * The older format writes each map as a list of maps with one key, and depends on the format of the descriptor. The
 * newer format is canonical JSON (RFC 8785) of one form for all descriptors.
 *
 * @see open-component-model/ocm api/ocm/compdesc/normalizations, api/ocm/compdesc/versions
 */
import { createHash } from 'node:crypto';
import { byCodePoint, goJson } from '../lib/gojson.ts';
import { isObject, ownField, table } from '../lib/objects.ts';
import { nameOf, V3, type Component, type Digest, type JsonMap } from './descriptor.ts';
import { hashName } from './digest.ts';
import { ContentInvalid } from './errors.ts';

type Form = (component: Component) => string;

const FORMS: Readonly<Record<string, Form>> = table({
  'jsonNormalisation/v1': (component) => goJson(entries(versioned(component, onTheWire))),
  'jsonNormalisation/v2': (component) => canonicalJson(versioned(component, internalForm)),
  // Like v2, except that identities stay unchanged.
  'jsonNormalisation/v3': (component) => canonicalJson(internalForm(component)),
});

export const isNormalisation = (algorithm: string): boolean => Object.hasOwn(FORMS, algorithm);

/** @throws ContentInvalid if the normalisation is unknown */
export function normalised(component: Component, algorithm: string): string {
  const form = isNormalisation(algorithm) ? FORMS[algorithm] : undefined;
  if (form) return form(component);
  throw new ContentInvalid(
    `component ${nameOf(component)}: "${algorithm}" is not a supported normalisation of descriptors; supported are ${Object.keys(FORMS).join(', ')}`,
  );
}

/**
 * The digest of the descriptor in hexadecimal digits.
 * @param text its normalised form, if the caller already has it
 * @throws ContentInvalid for unknown algorithms
 */
export function componentDigest(
  component: Component,
  { hashAlgorithm, normalisationAlgorithm }: Pick<Digest, 'hashAlgorithm' | 'normalisationAlgorithm'>,
  text = normalised(component, normalisationAlgorithm),
): string {
  const name = hashName(hashAlgorithm);
  if (name === undefined) {
    throw new ContentInvalid(
      `component ${nameOf(component)}: "${hashAlgorithm}" is not a supported digest algorithm`,
    );
  }
  return createHash(name).update(text).digest('hex');
}

/** Resources and references that a signature does not cover, because the descriptor has no digests for them. */
export function withoutDigest({ resources, references }: Component): readonly string[] {
  return [
    ...resources
      .filter((one) => one.access && !isNone(one.access.type) && !one.digest)
      .map(({ name }) => `resource ${name}`),
    ...references.filter(({ digest }) => !digest).map(({ name }) => `reference ${name}`),
  ];
}

// ---------------------------------------------------------------- parts

type Element = JsonMap & { readonly name: string };

const isNone = (type: string): boolean => type === 'none' || type === 'None';

const present = (fields: JsonMap): JsonMap =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const orAbsent = (value: unknown): unknown =>
  value === '' || value === null || (isObject(value) && Object.keys(value).length === 0) ? undefined : value;

const isSigned = (label: JsonMap): boolean => label['signing'] === true || label['signing'] === 'true';

const labelOf = ({ name, version, value, signing }: JsonMap): JsonMap =>
  present({ name, version: orAbsent(version), value, signing: signing ? true : undefined });

/** undefined if no label is signed */
function signedLabels(labels: unknown): unknown {
  const signed = (Array.isArray(labels) ? (labels as JsonMap[]) : []).filter(isSigned).map(labelOf);
  return signed.length === 0 ? undefined : signed;
}

function allLabels(labels: unknown): unknown {
  const all = (Array.isArray(labels) ? (labels as JsonMap[]) : []).map((label) =>
    present({ ...labelOf(label), merge: label['merge'] }),
  );
  return all.length === 0 ? undefined : all;
}

function digestOf(element: object): unknown {
  const digest = ownField(element, 'digest');
  if (!isObject(digest)) return undefined;
  const { hashAlgorithm, normalisationAlgorithm, value } = digest;
  return { hashAlgorithm, normalisationAlgorithm, value };
}

/** @param empty value for an empty extra identity */
const elementOf = (element: Element, labels: unknown, empty: unknown): JsonMap => ({
  name: element.name,
  version: element['version'] ?? '',
  extraIdentity: orAbsent(element['extraIdentity']) ?? empty,
  labels,
});

const resourceOf = (resource: Element, empty?: null): JsonMap =>
  present({
    ...elementOf(resource, signedLabels(resource['labels']), empty),
    type: resource['type'],
    relation: orAbsent(resource['relation']),
    digest: isNone(String(ownField(resource['access'], 'type'))) ? undefined : digestOf(resource),
  });

const referenceOf = (reference: Element, labels: unknown, empty?: null): JsonMap =>
  present({
    ...elementOf(reference, labels, empty),
    componentName: reference['componentName'],
    digest: digestOf(reference),
  });

const sourceOf = (source: JsonMap): JsonMap =>
  present({
    ...elementOf(source as Element, signedLabels(source['labels']), undefined),
    type: source['type'],
  });

/** Older descriptors may contain the provider as a string with a JSON map. */
function providerOf({ provider }: Component): string | JsonMap {
  if (typeof provider !== 'string') return provider;
  try {
    const document: unknown = JSON.parse(provider);
    return isObject(document) ? document : provider;
  } catch {
    return provider;
  }
}

const withSignedLabels = (provider: JsonMap): JsonMap =>
  present({ ...provider, labels: signedLabels(provider['labels']) });

// ---------------------------------------------------------------- formats

/** If resources differ only in their version, all except the last one get the version in their identity. */
function versioned(component: Component, form: (component: Component) => JsonMap): JsonMap {
  const resources = component.resources.map((one) => ({ ...one, extraIdentity: { ...one.extraIdentity } }));
  const identityOf = ({ name, extraIdentity }: (typeof resources)[number]): string =>
    goJson([name, extraIdentity]);
  const counts = new Map<string, number>();
  const count = (key: string, by: number): void => void counts.set(key, (counts.get(key) ?? 0) + by);
  for (const one of resources) count(identityOf(one), 1);
  for (const one of resources) {
    const before = identityOf(one);
    if (counts.get(before) === 1) continue;
    one.extraIdentity['version'] = one.version ?? '';
    count(before, -1);
    count(identityOf(one), 1);
  }
  return form({ ...component, resources });
}

function onTheWire(component: Component): JsonMap {
  return component.schemaVersion === V3 ? v3OnTheWire(component) : v2OnTheWire(component);
}

function v2OnTheWire(component: Component): JsonMap {
  const { name, version, labels, creationTime, references, resources } = component;
  const provider = providerOf(component);
  return {
    meta: { schemaVersion: 'v2' },
    component: present({
      name,
      version,
      labels: signedLabels(labels),
      creationTime,
      provider: typeof provider === 'string' ? provider : withSignedLabels(provider),
      componentReferences: references.map((one) => referenceOf(one, signedLabels(one.labels), null)),
      resources: resources.map((one) => resourceOf(one, null)),
    }),
  };
}

function v3OnTheWire(component: Component): JsonMap {
  const { name, version, labels, creationTime, references, resources, sources, provider } = component;
  const unlessNone = (all: readonly JsonMap[]): unknown => (all.length === 0 ? undefined : all);
  return {
    apiVersion: V3,
    kind: 'ComponentVersion',
    metadata: present({
      name,
      version,
      labels: signedLabels(labels),
      creationTime,
      provider: typeof provider === 'string' ? { name: provider } : provider,
    }),
    spec: present({
      resources: unlessNone(resources.map((one) => resourceOf(one))),
      references: unlessNone(references.map((one) => referenceOf(one, signedLabels(one.labels)))),
      sources: unlessNone(sources.map(sourceOf)),
    }),
  };
}

/** References keep all their labels here, as in upstream. */
function internalForm(component: Component): JsonMap {
  const { name, version, labels, creationTime, references, resources, sources } = component;
  const provider = providerOf(component);
  return {
    component: present({
      name,
      version,
      labels: signedLabels(labels),
      creationTime,
      provider: typeof provider === 'string' ? { name: provider } : withSignedLabels(provider),
      componentReferences: references.map((one) => referenceOf(one, allLabels(one.labels))),
      resources: resources.map((one) => resourceOf(one)),
      sources: sources.map(sourceOf),
    }),
  };
}

// ---------------------------------------------------------------- output

function entries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(entries);
  if (!isObject(value)) return value;
  return Object.entries(value)
    .sort(([a], [b]) => byCodePoint(a, b))
    .map(([key, field]) => ({ [key]: entries(field) }));
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'bigint') return JSON.stringify(Number(value));
  if (!isObject(value)) return JSON.stringify(value ?? null);
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}
