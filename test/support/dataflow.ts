/** The installation `shop` of the scenarios of the data flow: its input in few words, and its results. */
import { readDeployItems, type DeployItemTemplate, type Execution } from '../../src/api/kinds/execution.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import type { Cache, Obj, View } from '../../src/runtime/types.ts';
import { RECONCILE } from './landscape.ts';
import type { Scene } from './scene.ts';

export const CLUSTER = `${GROUP}/kubernetes-cluster`;
export const TEXT = { type: 'string' };

export interface Given {
  /** Keys of the blueprint. */
  readonly bp?: object;
  /** Files of the blueprint besides `blueprint.yaml`. */
  readonly files?: object;
  /** Keys of the spec. */
  readonly spec?: object;
  /** Objects besides the installation. */
  readonly objects?: readonly Obj[];
}

export const bpFile = (bp: object): string =>
  JSON.stringify({ apiVersion: API_VERSION, kind: 'Blueprint', ...bp });

/** @param bp the whole file tree may be given as `spec.blueprint` instead */
export const shop = ({ bp = {}, files = {}, spec = {} }: Given): Installation => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { name: 'shop', annotations: { ...RECONCILE } },
  spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': bpFile(bp), ...files } } }, ...spec },
});

interface Here {
  scene(): Promise<Scene>;
}

async function played(here: Here, given: Given): Promise<Scene> {
  const scene = await here.scene();
  for (const object of given.objects ?? []) await scene.create(object);
  await scene.create(shop(given));
  return scene;
}

/** Runs a job that must succeed. */
export async function succeeds(here: Here, given: Given): Promise<Scene> {
  const scene = await played(here, given);
  await scene.finished('shop', 'Succeeded');
  await everythingInView(scene);
  return scene;
}

/** Each kind has its own watch: the end of a job may be seen before the objects it wrote. */
export async function everythingInView(scene: Scene): Promise<void> {
  const { client, world } = scene.cluster;
  for (const cache of [
    world.dataObjects,
    world.targets,
    world.executions,
    world.deployItems,
    world.installations,
  ]) {
    const stored = new Map<string, number>();
    for await (const { items } of client.list<Obj>(cache.kind, { namespace: scene.ns })) {
      for (const { metadata } of items) stored.set(metadata.name, Number(metadata.resourceVersion));
    }
    await scene.until(`all ${cache.name} are in view`, () => {
      const seen = [...(cache as Cache<Obj>).list(scene.ns)];
      const isNew = ({ metadata }: View<Obj>): boolean =>
        Number(metadata.resourceVersion) >= (stored.get(metadata.name) ?? Infinity);
      return seen.length === stored.size && seen.every(isNew);
    });
  }
}

type LastError = NonNullable<NonNullable<Installation['status']>['lastError']>;

/** Runs a job that must fail. */
export async function fails(
  here: Here,
  given: Given,
): Promise<{ readonly scene: Scene; readonly error: View<LastError>; readonly self: View<Installation> }> {
  const scene = await played(here, given);
  const self = await scene.finished('shop', 'Failed');
  await everythingInView(scene);
  if (!self.status?.lastError) throw new Error('shop failed without an error');
  return { scene, self, error: self.status.lastError };
}

export const itemsOf = (scene: Scene, execution = 'shop'): readonly DeployItemTemplate[] => {
  const found = scene.execution(execution);
  return found ? readDeployItems(found.spec as Execution['spec']) : [];
};

// ---------------------------------------------------------------- blueprints

export const data = (name: string, schema: unknown = {}, more: object = {}) => ({
  name,
  type: 'data',
  schema,
  ...more,
});
export const aTarget = (name: string, type = 'target', more: object = {}) => ({
  name,
  type,
  targetType: CLUSTER,
  ...more,
});
export const go = (template: string, name = 'e') => ({ name, type: 'GoTemplate', template });

/** Deploy executions with one item, of the mock deployer, that stores the value of a template in its configuration. */
export const keeping = (template: string) => {
  const config = `{apiVersion: mock.deployer.${GROUP}/v1alpha1, kind: ProviderConfiguration, kept: ${template}}`;
  return { deployExecutions: [go(`deployItems: [{name: a, type: ${GROUP}/mock, config: ${config}}]`)] };
};
/** The value that an item of `keeping` stores. */
export const kept = (scene: Scene, execution?: string): unknown =>
  (itemsOf(scene, execution)[0]?.config as { kept?: unknown } | undefined)?.kept;
export const keepingImports = keeping('{{ toJson .imports }}');

/** A blueprint that exports the value of a template as `out`. */
export const giving = (template: string, schema: unknown = {}) => ({
  exports: [data('out', schema)],
  exportExecutions: [go(`exports: {out: ${template}}`)],
});
export const exportsOut = (dataRef = 'result') => ({ exports: { data: [{ name: 'out', dataRef }] } });

// ---------------------------------------------------------------- objects

/** Data imports, each of a data object of the same name. */
export const takes = (...names: string[]) => ({
  imports: { data: names.map((name) => ({ name, dataRef: name })) },
});
const core = (kind: string, name: string, fields: object): Obj => ({
  apiVersion: 'v1',
  kind,
  metadata: { name },
  ...fields,
});
export const secret = (name: string, stringData: object): Obj => core('Secret', name, { stringData });
export const configMap = (name: string, fields: object): Obj => core('ConfigMap', name, fields);
