/**
 * Goes through the steps of an installation's job without a cluster: the same functions in the same order as the
 * controllers, on objects in memory. With children it is the walk of a whole tree; what deploy items would export has to
 * be supplied.
 */
import { append } from '../../../../lib/lists.ts';
import type { InstallationTemplate } from '../../../../api/blueprint.ts';
import type { DataObject } from '../../../../api/kinds/dataobject.ts';
import type { DeployItemTemplate } from '../../../../api/kinds/execution.ts';
import type { Installation } from '../../../../api/kinds/installation.ts';
import type { Target } from '../../../../api/kinds/target.ts';
import { refusalForJob } from '../../../../api/validation/index.ts';
import { renderDeployItems } from '../../../../blueprint/deployitems.ts';
import { DeployItemsInvalid, SubInstallationsInvalid } from '../../../../blueprint/errors.ts';
import { secretFinder, secretInChildren, secretInItems } from '../../../../blueprint/secret-names.ts';
import { renderExports } from '../../../../blueprint/exports.ts';
import { constructImports, runImportExecutions } from '../../../../blueprint/imports.ts';
import type { ImportSet } from '../../../../blueprint/import-set.ts';
import { loadBlueprint, type LoadedBlueprint } from '../../../../blueprint/load.ts';
import type { JsonMap } from '../../../../blueprint/model.ts';
import { templateScope, type RenderContext } from '../../../../blueprint/render.ts';
import { States, type StateUpdate } from '../../../../blueprint/state.ts';
import {
  childInstallation,
  renderSubInstallations,
  type ChildInstallation,
} from '../../../../blueprint/sub-installations.ts';
import type { TemplateRunner } from '../../../../blueprint/work.ts';
import { withContents } from '../../../../components/view.ts';
import { findImports } from '../../../../dataflow/imports.ts';
import { exportSources } from '../../../../dataflow/export-sources.ts';
import { exportObjects, importObjects, type WrittenObject } from '../../../../dataflow/objects.ts';
import { elementName } from '../../../../dataflow/scope.ts';
import { ordered } from '../../../../dataflow/siblings.ts';
import type { View } from '../../../../lib/objects.ts';
import type { TreeBudget } from '../../../tree/budget.ts';
import type { LocalComponents } from './local-component.ts';
import { suppliedChildExports, type SuppliedExports } from './supplied-exports.ts';

export interface World {
  readonly runner: TemplateRunner;
  readonly components: LocalComponents | undefined;
  /** undefined: nothing is known of what items export. */
  readonly exports: SuppliedExports | undefined;
  /** Whether children are gone through too. */
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

export interface RenderedChild {
  readonly name: string;
  /** As it would be created. */
  readonly object: ChildInstallation;
  /** The child gone through, or why it was not. */
  readonly inside: RenderedInstallation | string;
}

/** Stands for the id of the job in labels. */
export const JOB = 'rendered';

/** @throws BlueprintProblem, ComponentProblem, as in a job */
export async function simulate(
  installation: Installation,
  blueprint: LoadedBlueprint,
  found: ImportSet,
  world: World,
  place: { readonly path: string; readonly parent?: string | undefined } = { path: '' },
): Promise<RenderedInstallation> {
  const step = <T>(work: () => T | Promise<T>): Promise<T> => withContents(blueprint.component, work);
  const { runner } = world;
  const states = new States();
  const level = place.path === '' ? 1 : place.path.split('/').length + 1;
  refuse(world.budget.enter(level), place.path);
  const contextFor = (imports: JsonMap): RenderContext => ({
    ...{ runner, blueprint, states },
    installation: installation.metadata.name,
    scope: templateScope(installation, imports, blueprint),
  });
  const constructed = await step(() => constructImports(installation, blueprint, found, runner));
  const imports = await step(() => runImportExecutions(contextFor(constructed)));
  const context = contextFor(imports);
  const scope: WrittenObject[] = [];
  const enter = (objects: readonly WrittenObject[]): void => {
    append(scope, objects);
    append(world.seen, objects.filter(isTarget));
  };
  enter(await step(() => importObjects(installation, blueprint, imports)));
  const templates = await step(() => states.attempt(() => renderSubInstallations(context)));
  const find = secretFinder(found);
  failIf(secretInChildren(templates, find), SubInstallationsInvalid);
  const namespace = installation.metadata.namespace ?? '';
  const items = await step(() => states.attempt(() => renderDeployItems(context, { ...found, namespace })));
  failIf(secretInItems(items, find), DeployItemsInvalid);

  refuse(world.budget.count(items.length), place.path);

  const children: RenderedChild[] = [];
  for (const template of ordered(templates)) {
    const child = await step(() => checkedChild(installation, template, blueprint));
    const inside = await childInside(child, template, scope, { installation, world, path: place.path });
    if (typeof inside !== 'string' && typeof inside.exports !== 'string') enter(inside.exports);
    else enter(suppliedFor(child, template, installation, world, place.path) ?? []);
    children.push({ name: template.name, object: child, inside });
  }
  const inOrder = templates.flatMap(({ name }) => children.filter((child) => child.name === name));
  const exports = await exportsOf({ installation, context, items, children, scope, world, place, step });
  return {
    path: place.path,
    installation,
    targets: targetsIn(found),
    items,
    children: inOrder,
    states: states.updates,
    exports,
  };
}

function failIf(
  why: string | undefined,
  Class: typeof DeployItemsInvalid | typeof SubInstallationsInvalid,
): void {
  if (why !== undefined) throw new Class(why);
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

function checkedChild(
  installation: Installation,
  template: InstallationTemplate,
  { component }: LoadedBlueprint,
): ChildInstallation {
  const child = childInstallation(installation, template, component);
  const refusal = refusalForJob('installations', child);
  if (refusal === undefined) return child;
  throw new SubInstallationsInvalid(`unable to create installation for ${template.name}: ${refusal}`);
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}/${name}`);

/** The child as the cluster would have it, under the name of its template. */
const named = (child: ChildInstallation, name: string): Installation =>
  ({ ...child, metadata: { ...child.metadata, name }, status: { jobID: JOB } }) as unknown as Installation;

async function childInside(
  child: ChildInstallation,
  template: InstallationTemplate,
  scope: readonly WrittenObject[],
  parent: { readonly installation: Installation; readonly world: World; readonly path: string },
): Promise<RenderedInstallation | string> {
  const { installation, world } = parent;
  if (!world.isDeep) return 'not looked into; --deep does';
  const self = named(child, template.name);
  const { blueprint, componentDescriptor } = self.spec;
  if (blueprint.ref && !world.components) return 'its blueprint is in a component; --component says which';
  const { imports, missing } = findImports(self, installation.metadata.name, lookupsIn(scope));
  const [first] = missing;
  if (first) {
    return `its import "${first.import}" comes from a sibling whose exports are not known; --exports can tell them`;
  }
  const component = componentDescriptor && (await world.components?.view(componentDescriptor));
  const loaded = await loadBlueprint(blueprint, component);
  return simulate(self, loaded, imports, world, {
    path: below(parent.path, template.name),
    parent: installation.metadata.name,
  });
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

const suppliedFor = (
  child: ChildInstallation,
  template: InstallationTemplate,
  parent: Installation,
  { exports }: World,
  path: string,
): readonly WrittenObject[] | undefined => {
  const values = exports && suppliedChildExports(exports, below(path, template.name), template);
  return values && exportObjects(named(child, template.name), parent.metadata.name, values);
};

// ---------------------------------------------------------------- exports

interface Exporting {
  readonly installation: Installation;
  readonly context: RenderContext;
  readonly items: readonly DeployItemTemplate[];
  readonly children: readonly RenderedChild[];
  readonly scope: readonly WrittenObject[];
  readonly world: World;
  readonly place: { readonly path: string; readonly parent?: string | undefined };
  readonly step: <T>(work: () => T | Promise<T>) => Promise<T>;
}

async function exportsOf(work: Exporting): Promise<readonly WrittenObject[] | string> {
  const { installation, context, items, children, scope, world, place, step } = work;
  const wanted = [...(installation.spec.exports?.data ?? []), ...(installation.spec.exports?.targets ?? [])];
  if (wanted.length === 0) return [];
  const whole = world.exports && suppliedChildExports(world.exports, place.path, installation.spec);
  if (whole) return exportObjects(installation, place.parent, whole);
  const unknown = [
    ...(world.exports ? [] : items.map(({ name }) => below(place.path, name))),
    ...children.flatMap(({ name, object, inside }) => {
      const isKnown = typeof inside !== 'string' && typeof inside.exports !== 'string';
      const exportsNothing = !object.spec.exports?.data && !object.spec.exports?.targets;
      const path = below(place.path, name);
      return isKnown || exportsNothing || world.exports?.values.has(path) ? [] : [path];
    }),
  ];
  if (unknown.length > 0) return `not known without what ${unknown.join(', ')} export; --exports can tell it`;
  const values = items.map(({ name }) => [name, world.exports?.values.get(below(place.path, name)) ?? null]);
  const sources = exportSources({
    executionExports: Object.fromEntries(values) as unknown,
    dataObjects: scope.filter((one): one is DataObject => one.kind === 'DataObject'),
    targets: scope.filter(isTarget),
  });
  const exported = await step(() =>
    context.states.attempt(() => renderExports(context, installation, sources)),
  );
  return step(() => exportObjects(installation, place.parent, exported));
}
