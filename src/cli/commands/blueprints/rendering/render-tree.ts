/**
 * Renders an installation without a cluster, on objects in memory, and with --deep the tree below it. What deploy items would
 * export has to be supplied.
 */
import type { DataObject } from '../../../../api/kinds/dataobject.ts';
import { parentInstallation } from '../../../../api/job.ts';
import type { DeployItemTemplate } from '../../../../api/kinds/execution.ts';
import type { Installation } from '../../../../api/kinds/installation.ts';
import type { Target } from '../../../../api/kinds/target.ts';
import { SubInstallationsInvalid } from '../../../../blueprint/errors.ts';
import type { ImportSet } from '../../../../blueprint/import-set.ts';
import { loadBlueprint, type LoadedBlueprint } from '../../../../blueprint/load.ts';
import { States, type StateUpdate } from '../../../../blueprint/state.ts';
import type { ChildInstallation } from '../../../../blueprint/sub-installations.ts';
import type { TemplateRunner } from '../../../../blueprint/work.ts';
import { exportSources } from '../../../../dataflow/export-sources.ts';
import { findImports } from '../../../../dataflow/imports.ts';
import { exportObjects, type WrittenObject } from '../../../../dataflow/objects.ts';
import {
  renderInstallation,
  renderInstallationExports,
  StepFailed,
  type RenderedExports,
  type WantedChild,
} from '../../../../dataflow/render-installation.ts';
import { elementName } from '../../../../dataflow/scope.ts';
import { ordered } from '../../../../dataflow/siblings.ts';
import { append } from '../../../../lib/lists.ts';
import type { View } from '../../../../lib/objects.ts';
import type { TreeBudget } from '../../../tree/budget.ts';
import type { LocalComponents } from './local-component.ts';
import { suppliedChildExports, type SuppliedExports } from './supplied-exports.ts';

interface World {
  readonly runner: TemplateRunner;
  readonly components: LocalComponents | undefined;
  /** undefined: nothing is known of what items export. */
  readonly exports: SuppliedExports | undefined;
  /** Whether children are rendered too. */
  readonly isDeep: boolean;
  /** Collects the targets that installations can import from each other, as they come up: they are secret. */
  readonly seen: Target[];
  /** What the tree may have. */
  readonly budget: TreeBudget;
}

export interface RenderedInstallation {
  /** Names from the root to this one, separated by `/`; empty for the root. */
  readonly path: string;
  readonly installation: Installation;
  /** Target objects by their names, each as the import that it is: `cluster`, `nodes[0]`. */
  readonly targets: ReadonlyMap<string, string>;
  readonly items: readonly DeployItemTemplate[];
  readonly children: readonly RenderedChild[];
  readonly states: readonly StateUpdate[];
  /** The exported objects, or why they are not known. */
  readonly exports: readonly WrittenObject[] | string;
}

export interface RenderedChild extends WantedChild {
  /** The child rendered, or why it is not. */
  readonly inside: RenderedInstallation | string;
}

/** Stands for the id of the job in labels. */
export const JOB = 'rendered';

/** @param path see RenderedInstallation. @throws BlueprintProblem, ComponentProblem, as in a job */
export async function renderTree(
  installation: Installation,
  blueprint: LoadedBlueprint,
  found: ImportSet,
  world: World,
  path = '',
): Promise<RenderedInstallation> {
  const { runner, budget } = world;
  refuse(budget.enter(path === '' ? 1 : path.split('/').length + 1), path);
  const tools = { runner, states: new States() };
  const rendered = await asInJob(renderInstallation(installation, blueprint, found, tools));
  const wanted = resultOf(rendered.children);
  const items = resultOf(rendered.items);
  refuse(budget.count(items.length), path);

  const scope: WrittenObject[] = [];
  const enter = (objects: readonly WrittenObject[]): void => {
    append(scope, objects);
    append(world.seen, objects.filter(isTarget));
  };
  enter(rendered.importObjects);
  const rendering = new Map<string, RenderedChild>();
  for (const child of ordered(wanted.map((one) => ({ ...one, ...one.object.spec })))) {
    const { name, object } = child;
    const below = { self: asCreated(child), path: belowOf(path, name) };
    const inside = await childInside(below, installation.metadata.name, scope, world);
    const known =
      typeof inside === 'string' || typeof inside.exports === 'string' ? undefined : inside.exports;
    enter(known ?? suppliedFor(below, world) ?? []);
    rendering.set(name, { name, object, inside });
  }
  const children = wanted.flatMap(({ name }) => rendering.get(name) ?? []);
  const exports = await exportsOf({ installation, blueprint, found, items, children, scope, world, path });
  return {
    ...{ path, installation, targets: targetsIn(found), items, children },
    states: [...rendered.states, ...(typeof exports === 'string' ? [] : exports.states)],
    exports: typeof exports === 'string' ? exports : exports.objects,
  };
}

/** @throws what has made the step fail */
const asInJob = <T>(rendering: Promise<T>): Promise<T> =>
  rendering.catch((error: unknown) => {
    throw error instanceof StepFailed ? error.cause : error;
  });

function resultOf<T>(result: T | StepFailed): T {
  if (result instanceof StepFailed) throw result.cause;
  return result;
}

/** @throws SubInstallationsInvalid where a job would end at a limit for trees */
function refuse(why: string | undefined, path: string): void {
  if (why !== undefined)
    throw new SubInstallationsInvalid(path === '' ? why : `sub-installation ${path}: ${why}`);
}

const isTarget = (one: WrittenObject): one is Target => one.kind === 'Target';

function targetsIn({ targets, targetLists, targetMaps }: ImportSet): ReadonlyMap<string, string> {
  const all = [
    ...[...targets].map(([name, one]) => [one.metadata.name, name] as const),
    ...[...targetLists].flatMap(([name, list]) =>
      list.map((one, i) => [one.metadata.name, elementName(name, i)] as const),
    ),
    ...[...targetMaps].flatMap(([name, map]) =>
      Object.entries(map).map(([key, one]) => [one.metadata.name, elementName(name, key)] as const),
    ),
  ];
  return new Map(all);
}

const belowOf = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`);

/** The child as the cluster would have it, under the name of its template. */
const asCreated = ({ name, object }: WantedChild): Installation =>
  ({ ...object, metadata: { ...object.metadata, name }, status: { jobID: JOB } }) as unknown as Installation;

interface Below {
  readonly self: Installation;
  readonly path: string;
}

async function childInside(
  { self, path }: Below,
  parent: string,
  scope: readonly WrittenObject[],
  world: World,
): Promise<RenderedInstallation | string> {
  if (!world.isDeep) return 'not rendered; use --deep';
  const { blueprint, componentDescriptor } = self.spec;
  if (blueprint.ref && !world.components)
    return 'its blueprint is in a component; name the component with --component';
  const { imports, missing } = findImports(self, parent, lookupsIn(scope));
  const [first] = missing;
  if (first) {
    return `its import "${first.import}" comes from a sibling with unknown exports; supply them with --exports`;
  }
  const component = componentDescriptor && (await world.components?.view(componentDescriptor));
  return renderTree(self, await loadBlueprint(blueprint, component), imports, world, path);
}

function lookupsIn(scope: readonly WrittenObject[]): Parameters<typeof findImports>[2] {
  const byName = <K extends WrittenObject['kind']>(kind: K, name: string) =>
    scope.find((one) => one.kind === kind && one.metadata.name === name);
  return {
    dataObject: (name) => byName('DataObject', name) as View<DataObject> | undefined,
    target: (name) => byName('Target', name) as View<Target> | undefined,
    secret: () => undefined,
    configMap: () => undefined,
    targetsBySelector: ({ labels }) =>
      scope.filter(
        (one): one is Target =>
          isTarget(one) &&
          Object.entries(labels).every(([key, value]) => one.metadata.labels?.[key] === value),
      ),
  };
}

// ---------------------------------------------------------------- exports

/** The exports that are supplied for the installation as a whole. */
function suppliedFor({ self, path }: Below, { exports }: World): readonly WrittenObject[] | undefined {
  const values = exports && suppliedChildExports(exports, path, self.spec);
  return values && exportObjects(self, parentInstallation(self.metadata), values);
}

interface Exporting {
  readonly installation: Installation;
  readonly blueprint: LoadedBlueprint;
  readonly found: ImportSet;
  readonly items: readonly DeployItemTemplate[];
  readonly children: readonly RenderedChild[];
  readonly scope: readonly WrittenObject[];
  readonly world: World;
  readonly path: string;
}

async function exportsOf(work: Exporting): Promise<RenderedExports | string> {
  const { installation, blueprint, found, items, children, scope, world, path } = work;
  const whole = suppliedFor({ self: installation, path }, world);
  if (whole) return { objects: whole, states: [] };
  const unknown = [
    ...(world.exports ? [] : items.map(({ name }) => belowOf(path, name))),
    ...children.flatMap(({ name, object, inside }) => {
      const isKnown = typeof inside !== 'string' && typeof inside.exports !== 'string';
      const isSupplied = world.exports?.values.has(belowOf(path, name)) ?? false;
      return isKnown || isSupplied || exportsNothing(object) ? [] : [belowOf(path, name)];
    }),
  ];
  if (unknown.length > 0 && exportsNothing(installation)) return { objects: [], states: [] };
  if (unknown.length > 0)
    return `not known without the exports of ${unknown.join(', ')}; supply them with --exports`;
  const values = items.map(({ name }) => [name, world.exports?.values.get(belowOf(path, name)) ?? null]);
  const sources = exportSources({
    executionExports: Object.fromEntries(values) as unknown,
    dataObjects: scope.filter((one): one is DataObject => one.kind === 'DataObject'),
    targets: scope.filter(isTarget),
  });
  const tools = { runner: world.runner, states: new States() };
  return asInJob(renderInstallationExports(installation, blueprint, found, sources, tools));
}

const exportsNothing = ({ spec: { exports } }: Pick<ChildInstallation, 'spec'>): boolean =>
  [...(exports?.data ?? []), ...(exports?.targets ?? [])].length === 0;
