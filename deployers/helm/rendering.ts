/** Turns a chart into objects for both modes: renders it, expands lists, and sets namespaces. */
import type { Capabilities } from '../../src/templating/helm/capabilities.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import type { Release } from '../../src/templating/helm/root.ts';
import type { ChartObjects, ChartRunner, PackedChart } from '../../src/templating/helm/work.ts';
import { copy } from '../../src/lib/json.ts';
import { isObject } from '../../src/lib/objects.ts';
import { NoSuchKind } from '../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { CRD_KIND, isKubeObject, type KubeObject, type Manifest } from '../objects/manifests/model.ts';
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

/** @param at revision that templates see */
export async function render(
  ctx: HelmContext,
  access: KubeAccess,
  { chart, charts, capabilities }: RenderContext,
  at: Pick<Release, 'revision' | 'isUpgrade'>,
): Promise<ChartObjects> {
  const { config, signal } = ctx;
  const release = { name: config.name, namespace: config.namespace, ...at };
  const { values } = config;
  const lookup = lookupFrom(access, signal);
  try {
    const inputs = { release, values, capabilities, skipsSchema: true };
    return await charts.renderChart({ chart, inputs, lookup });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    throw configurationError('RenderHelmValues', maskFor(config)(error.message), error);
  }
}

/** The CRDs in the folder `crds` of the chart. */
export const definitionsIn = ({ definitions }: ChartObjects): readonly unknown[] =>
  definitions.map((definition) => {
    if ('problem' in definition) throw configurationError('RenderHelmValues', definition.problem);
    return definition.document;
  });

/** Expands lists. Documents that are not objects are left out. */
export function objectsOf(documents: readonly unknown[]): readonly KubeObject[] {
  const objects = documents.filter(isKubernetesObject).map((document) => {
    const object = copy(document) as KubeObject;
    return { ...object, metadata: isObject(object.metadata) ? object.metadata : { name: '' } };
  });
  try {
    return expandLists(objects.map(managed)).map(({ object }) => object);
  } catch (error) {
    if (!(error instanceof NotAnObject)) throw error;
    throw configurationError('RenderHelmValues', error.message, error);
  }
}

export const managed = (object: KubeObject): Manifest => ({ policy: 'manage', object });

/** Refuses an integer that JSON would round. */
export function refuseInexactIntegers(value: unknown, source: string): void {
  if (typeof value === 'bigint') {
    const message = `${source}: an integer beyond 2^53 would be rounded when it is applied; put it in quotes`;
    throw configurationError('RenderHelmValues', message);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) refuseInexactIntegers(inner, source);
}

/** Objects of namespaced kinds without a namespace get the release's namespace. */
export async function withNamespaces(
  objects: readonly KubeObject[],
  namespace: string,
  access: KubeAccess,
): Promise<readonly KubeObject[]> {
  const crds = objects.filter(({ kind }) => kind === CRD_KIND);
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
