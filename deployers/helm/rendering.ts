/** From a chart to objects, as both modes see them: rendered, taken out of lists, and put into namespaces. */
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
import { expanded, kindFromCrds, NoObject } from '../objects/manifests/order.ts';
import { isAnObject, lookupOn } from './cluster.ts';
import { broken, maskFor } from './problems.ts';
import type { HelmContext } from './helm-context.ts';

/** What templates see beside the values. */
export interface Surroundings {
  readonly chart: PackedChart;
  readonly charts: ChartRunner;
  readonly capabilities: Capabilities;
}

/** @param at which revision templates are told they are for */
export async function render(
  ctx: HelmContext,
  access: KubeAccess,
  { chart, charts, capabilities }: Surroundings,
  at: Pick<Release, 'revision' | 'isUpgrade'>,
): Promise<ChartObjects> {
  const { config, signal } = ctx;
  const release = { name: config.name, namespace: config.namespace, ...at };
  const { values } = config;
  const lookup = lookupOn(access, signal);
  try {
    const inputs = { release, values, capabilities, skipsSchema: true };
    return await charts.renderChart({ chart, inputs, lookup });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    throw broken('RenderHelmValues', maskFor(config)(error.message), error);
  }
}

/** The definitions that lie beside the templates. */
export const definitionsIn = ({ definitions }: ChartObjects): readonly unknown[] =>
  definitions.map((definition) => {
    if ('problem' in definition) throw broken('RenderHelmValues', definition.problem);
    return definition.document;
  });

/** Lists are taken apart. Documents that are no objects are left out. */
export function objectsOf(documents: readonly unknown[]): readonly KubeObject[] {
  const objects = documents.filter(isAnObject).map((document) => {
    const object = copy(document) as KubeObject;
    return { ...object, metadata: isObject(object.metadata) ? object.metadata : { name: '' } };
  });
  try {
    return expanded(objects.map(managed)).map(({ object }) => object);
  } catch (error) {
    if (!(error instanceof NoObject)) throw error;
    throw broken('RenderHelmValues', error.message, error);
  }
}

export const managed = (object: KubeObject): Manifest => ({ policy: 'manage', object });

/** A number that JSON would round on its way to the target. */
export function refuseHuge(value: unknown, source: string): void {
  if (typeof value === 'bigint') {
    const message = `${source}: an integer beyond 2^53 would be rounded when it is applied; put it in quotes`;
    throw broken('RenderHelmValues', message);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) refuseHuge(inner, source);
}

/** Objects of namespaced kinds that name no namespace belong to that of the release. */
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

/** What the target does not know shows when it is applied. */
async function kindOrUndefined(
  { apiVersion, kind }: KubeObject,
  crds: readonly KubeObject[],
  access: KubeAccess,
): Promise<Kind<Obj> | undefined> {
  const announced = kindFromCrds(crds, apiVersion, kind);
  if (announced) return announced;
  try {
    return await access.kindOf(apiVersion, kind);
  } catch (error) {
    if (error instanceof NoSuchKind) return undefined;
    throw error;
  }
}
