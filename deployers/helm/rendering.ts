/** Turns a chart into objects for both modes: renders it, expands lists, and sets namespaces. */
import type { Capabilities, OwnDefinitions } from '../../src/templating/helm/capabilities.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import type { Release } from '../../src/templating/helm/root.ts';
import type { ChartObjects, ChartRunner, PackedChart } from '../../src/templating/helm/work.ts';
import { survivesDouble } from '../../src/lib/exact-json.ts';
import { copy, define } from '../../src/lib/json.ts';
import { isObject, ownField, type Fields } from '../../src/lib/objects.ts';
import { NoSuchKind } from '../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import type { KubeAccess } from '../sdk/access.ts';
import {
  CRD_KIND,
  isKubeObject,
  NO_NAME,
  type KubeObject,
  type Manifest,
} from '../objects/manifests/model.ts';
import { metadataProblem } from '../objects/manifests/metadata.ts';
import { expandLists, kindFromCrds, NotAnObject } from '../objects/manifests/order.ts';
import { isKubernetesObject, lookupFrom } from './target-facts.ts';
import { configurationError, maskFor } from './errors.ts';
import type { HelmContext } from './helm-context.ts';

/** The built-in objects of templates, apart from the values. */
export interface RenderContext {
  readonly chart: PackedChart;
  readonly charts: ChartRunner;
  readonly capabilities: Capabilities;
}

/** How a chart is rendered. */
interface RenderSettings extends Pick<Release, 'revision' | 'isUpgrade'> {
  /** Undefined: an upgrade, which does not install CRDs. */
  readonly ownDefinitions: OwnDefinitions | undefined;
}

export async function render(
  ctx: HelmContext,
  access: KubeAccess,
  { chart, charts, capabilities }: RenderContext,
  { ownDefinitions, ...at }: RenderSettings,
): Promise<ChartObjects> {
  const { config, signal } = ctx;
  const release = { name: config.name, namespace: config.namespace, ...at };
  const { values } = config;
  // Read once, and only if a template looks up a kind that the target does not serve.
  let read: Promise<readonly KubeObject[]> | undefined;
  const readDefinitions = async (): Promise<readonly KubeObject[]> => {
    if (!ownDefinitions) return [];
    const files = await charts.chartDefinitions({ chart, values });
    return objectsOf(files.flatMap(definitionsIn));
  };
  const lookup = lookupFrom(access, signal, () => (read ??= readDefinitions()));
  try {
    const inputs = {
      release,
      values,
      capabilities,
      ...(ownDefinitions && { ownDefinitions }),
      skipsSchema: true,
    };
    return await charts.renderChart({ chart, inputs, lookup });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    throw configurationError('RenderHelmValues', maskFor(config)(error.message), error);
  }
}

/** The CRDs in the folder `crds` of the chart. */
export const definitionsIn = ({ definitions }: Pick<ChartObjects, 'definitions'>): readonly unknown[] =>
  definitions.map((definition) => {
    if ('problem' in definition) throw configurationError('RenderHelmValues', definition.problem);
    return inNumbers(definition.document, 'crds');
  });

/** Expands lists. Documents that are not objects are left out. */
export function objectsOf(documents: readonly unknown[]): readonly KubeObject[] {
  const objects = documents.filter(isKubernetesObject).map((document) => {
    const object = copy(document) as KubeObject;
    return { ...object, metadata: isObject(object.metadata) ? object.metadata : { name: '' } };
  });
  try {
    return expandLists(objects.map(managed)).map(({ object }) => checked(object));
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    throw configurationError('RenderHelmValues', error.message, error);
  }
}

function checked(object: KubeObject): KubeObject {
  const { kind, metadata } = object;
  const problem = metadataProblem(object) ?? (metadata.name ? undefined : `${kind}: ${NO_NAME}`);
  if (problem === undefined) return object;
  throw configurationError('RenderHelmValues', problem);
}

export const managed = (object: KubeObject): Manifest => ({ policy: 'manage', object });

/** Servers read these fields of a CustomResourceDefinition as doubles. */
const LIMITS: ReadonlySet<string> = new Set(['minimum', 'maximum', 'multipleOf']);

/**
 * The document with its large integers as numbers.
 * @throws ConfigurationError for an integer that a number cannot represent, unless the server rounds it, too
 */
export function inNumbers(document: unknown, source: string): unknown {
  const isDefinition = ownField(document, 'kind') === CRD_KIND;
  const convert = (value: unknown, key: string): unknown => {
    if (typeof value === 'bigint') {
      if (survivesDouble(value.toString()) || (isDefinition && LIMITS.has(key))) return Number(value);
      const message = `${source}: the integer ${value.toString()} would lose digits when it is applied; put it in quotes`;
      throw configurationError('RenderHelmValues', message);
    }
    if (Array.isArray(value)) return value.map((element) => convert(element, key));
    if (!isObject(value)) return value;
    const result: Fields = {};
    for (const [name, field] of Object.entries(value)) define(result, name, convert(field, name));
    return result;
  };
  return hasBigint(document) ? convert(document, '') : document;
}

function hasBigint(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint';
  return Object.values(value).some(hasBigint);
}

/**
 * Objects of namespaced kinds without a namespace get the release's namespace.
 * @param definitions CRDs that are created before
 */
export async function withNamespaces(
  objects: readonly KubeObject[],
  namespace: string,
  access: KubeAccess,
  definitions: readonly KubeObject[] = [],
): Promise<readonly KubeObject[]> {
  const crds = [...definitions, ...objects].filter(({ kind }) => kind === CRD_KIND);
  const result: KubeObject[] = [];
  for (const object of objects) {
    const kind = await kindOrUndefined(object, crds, access);
    const isMissing = kind?.namespaced === true && !object.metadata.namespace;
    result.push(isMissing ? { ...object, metadata: { ...object.metadata, namespace } } : object);
  }
  return result.filter(isKubeObject);
}

/** An unknown kind is reported when the object is applied. */
async function kindOrUndefined(
  { apiVersion, kind }: KubeObject,
  crds: readonly KubeObject[],
  access: KubeAccess,
): Promise<Kind<Obj> | undefined> {
  const fromCrds = kindFromCrds(crds, apiVersion, kind);
  if (fromCrds) return fromCrds;
  try {
    return await access.kindOf(apiVersion, kind);
  } catch (error) {
    if (error instanceof NoSuchKind) return undefined;
    throw error;
  }
}
