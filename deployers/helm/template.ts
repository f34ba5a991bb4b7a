/** Template mode: the chart is rendered here, and its objects are applied as the manifest deployer applies its own. */
import type { TemplateLimits } from '../../src/templating/budget.ts';
import type { Capabilities } from '../../src/templating/helm/capabilities.ts';
import type { Chart } from '../../src/templating/helm/chart.ts';
import { HelmError } from '../../src/templating/helm/errors.ts';
import { splitManifests, isTestHook } from '../../src/templating/helm/manifests.ts';
import { renderChart, type Rendering } from '../../src/templating/helm/render.ts';
import { copy } from '../../src/lib/json.ts';
import { isObject } from '../../src/lib/objects.ts';
import { parseYaml, YamlError } from '../../src/lib/yaml.ts';
import { NoSuchKind } from '../../src/runtime/errors.ts';
import { getIfThere } from '../../src/runtime/read.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { deploy } from '../sdk/manifests/deploy.ts';
import { MANIFEST_LABEL, ownershipOf } from '../sdk/manifests/label.ts';
import { CRD_KIND, isKubeObject, type KubeObject, type Manifest } from '../sdk/manifests/model.ts';
import { expanded, kindFromCrds } from '../sdk/manifests/order.ts';
import { removeAll } from '../sdk/manifests/remove.ts';
import type { Outcome } from '../sdk/outcome.ts';
import { isAnObject, lookupOn } from './cluster.ts';
import { HELM_GROUP } from './config.ts';
import { broken, maskFor } from './problems.ts';
import { once, PREFIX, type HelmRun } from './run.ts';
import { statusOf, type HelmStatus } from './status.ts';

/** Objects carry the label of the manifest deployer, by which they are known, and one that says which deployer it was. */
const ownerOf = ({ item }: HelmRun) =>
  ownershipOf(
    { name: item.metadata.name, ...(item.metadata.namespace && { namespace: item.metadata.namespace }) },
    [MANIFEST_LABEL, `${HELM_GROUP}/deployitem`],
  );

export interface Prepared {
  readonly chart: Chart;
  readonly capabilities: Capabilities;
  readonly values: ReadonlyMap<string, unknown>;
  readonly limits: Partial<TemplateLimits> | undefined;
}

export async function applyTemplates(
  run: HelmRun,
  access: KubeAccess,
  prepared: Prepared,
): Promise<Outcome<HelmStatus>> {
  const { config } = run;
  const manifests = await once(run, 'manifests', async () => {
    const rendering = await render(run, access, prepared);
    run.checkpoint(`${PREFIX}: start apply files`);
    run.checkpoint(`${PREFIX}: start create manifests`);
    const objects = await withNamespaces(objectsOf(rendering), config.namespace, access);
    return [...(await namespaceOf(run, access)), ...objects.map(managed)];
  });
  run.checkpoint(`${PREFIX}: start apply manifests`);
  return deploy(run, {
    prefix: PREFIX,
    operation: 'ApplyFile',
    fieldManager: HELM_GROUP,
    manifests,
    strategy: config.strategy,
    ownership: ownerOf(run),
    old: run.previous?.managedResources ?? [],
    groups: config.deletionGroupsDuringUpdate,
    readiness: config.readiness,
    exports: config.exports,
    values: prepared.values,
    status: (list) => statusOf(list),
  });
}

export const removeTemplates = (run: HelmRun): Promise<Outcome<HelmStatus>> =>
  removeAll(run, {
    prefix: PREFIX,
    operation: 'DeleteFiles',
    ownership: ownerOf(run),
    old: run.previous?.managedResources ?? [],
    groups: run.config.deletionGroups,
  });

const managed = (object: KubeObject): Manifest => ({ policy: 'manage', object });

// ---------------------------------------------------------------- rendering

async function render(
  { config, clock, rng, signal }: HelmRun,
  access: KubeAccess,
  { chart, capabilities, limits }: Prepared,
): Promise<Rendering> {
  const release = { name: config.name, namespace: config.namespace, revision: 0, isUpgrade: false };
  const { values } = config;
  const lookup = lookupOn(access, signal);
  try {
    return await renderChart(
      chart,
      { release, values, capabilities, lookup, skipsSchema: true },
      { clock, rng, ...(limits && { limits }) },
    );
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    throw broken('RenderHelmValues', maskFor(config)(error.message), error);
  }
}

/** Everything but tests: hooks are objects like any other here. Documents that are no objects are left out. */
function objectsOf({ crds, manifests, hooks }: Rendering): readonly KubeObject[] {
  const definitions = crds.flatMap(({ source, content }) =>
    splitManifests(content).map((text) => readDefinition(source, text)),
  );
  const rendered = [...manifests, ...hooks.filter((hook) => !isTestHook(hook))];
  for (const { source, document } of rendered) refuseHuge(document, source);
  const objects = [...definitions, ...rendered.map((m) => m.document)].filter(isAnObject).map((document) => {
    const object = copy(document) as KubeObject;
    return { ...object, metadata: isObject(object.metadata) ? object.metadata : { name: '' } };
  });
  return expanded(objects.map(managed)).map(({ object }) => object);
}

/** A number that JSON would round on its way to the target. */
function refuseHuge(value: unknown, source: string): void {
  if (typeof value === 'bigint') {
    const message = `${source}: an integer beyond 2^53 would be rounded on its way to the target; put it in quotes`;
    throw broken('RenderHelmValues', message);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) refuseHuge(inner, source);
}

function readDefinition(source: string, text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const message = `YAML parse error on ${source}: ${error.message}`;
    throw broken('RenderHelmValues', message, error);
  }
}

// ---------------------------------------------------------------- namespaces

/** Objects of namespaced kinds that name no namespace belong to that of the release. */
async function withNamespaces(
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

const NAMESPACE: Kind<Obj> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

/** Made when it is not there, and kept for good. One that is there keeps all that others wrote into it. */
async function namespaceOf(
  { config, signal }: HelmRun,
  { client }: KubeAccess,
): Promise<readonly Manifest[]> {
  if (!config.createNamespace) return [];
  const found = (await getIfThere(client, NAMESPACE, config.namespace, signal)) as KubeObject | undefined;
  const { labels, annotations, finalizers } = found?.metadata ?? {};
  const object: KubeObject = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name: config.namespace,
      ...(labels && { labels: { ...labels } }),
      ...(annotations && { annotations: { ...annotations } }),
      ...(finalizers && { finalizers: [...finalizers] }),
    },
    ...(isObject(found?.['spec']) && { spec: copy(found['spec']) }),
  };
  return [{ policy: 'keep', object }];
}
