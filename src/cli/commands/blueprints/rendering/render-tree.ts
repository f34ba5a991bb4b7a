/**
 * Renders an installation without a cluster, on objects in memory; with --deep also the tree below it. The user has
 * to supply the exports of deploy items.
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

interface RenderSettings {
  readonly runner: TemplateRunner;
  readonly components: LocalComponents | undefined;
  /** undefined if the user supplied no exports. */
  readonly exports: SuppliedExports | undefined;
  /** Whether children are rendered as well. */
  readonly isDeep: boolean;
  /** Collects the targets that installations can import from each other; their content is secret. */
  readonly secretTargets: Target[];
  /** The limits for the tree. */
  readonly budget: TreeBudget;
}

export interface RenderedInstallation {
  /** Names from the root to this installation, separated by `/`; empty for the root. */
  readonly path: string;
  readonly installation: Installation;
  /** Import names of Target objects, for example `cluster` or `nodes[0]`, keyed by object name. */
  readonly targets: ReadonlyMap<string, string>;
  readonly items: readonly DeployItemTemplate[];
  readonly children: readonly RenderedChild[];
  readonly states: readonly StateUpdate[];
  /** The exported objects, or why they are unknown. */
  readonly exports: readonly WrittenObject[] | string;
}

export interface RenderedChild extends WantedChild {
  /** The rendered child, or why it is not rendered. */
  readonly inside: RenderedInstallation | string;
}

/** The job id in labels. */
export const JOB = 'rendered';

/** @param path see RenderedInstallation. @throws BlueprintProblem, ComponentProblem, as in a job */
export async function renderTree(
  installation: Installation,
  blueprint: LoadedBlueprint,
  found: ImportSet,
  settings: RenderSettings,
  path = '',
  above: readonly Installation[] = [],
): Promise<RenderedInstallation> {
  const { runner, budget } = settings;
  refuse(budget.checkLevel(installation, above), path);
  const tools = { runner, states: new States() };
  const rendered = await unwrapStepError(renderInstallation(installation, blueprint, found, tools));
  const wanted = resultOf(rendered.children);
  const items = resultOf(rendered.items);
  refuse(budget.count(items.length), path);

  const scope: WrittenObject[] = [];
  const provide = (objects: readonly WrittenObject[]): void => {
    append(scope, objects);
    append(settings.secretTargets, objects.filter(isTarget));
  };
  provide(rendered.importObjects);
  const rendering = new Map<string, RenderedChild>();
  for (const child of ordered(wanted.map((one) => ({ ...one, ...one.object.spec })))) {
    const { name, object } = child;
    const below = { self: asCreated(child), path: belowOf(path, name), above: [...above, installation] };
    const inside = await renderChild(below, installation.metadata.name, scope, settings);
    const known =
      typeof inside === 'string' || typeof inside.exports === 'string' ? undefined : inside.exports;
    provide(known ?? suppliedFor(below, settings) ?? []);
    rendering.set(name, { name, object, inside });
  }
  const children = wanted.flatMap(({ name }) => rendering.get(name) ?? []);
  const exports = await exportsOf({ installation, blueprint, found, items, children, scope, settings, path });
  return {
    path,
    installation,
    targets: targetsIn(found),
    items,
    children,
    states: [...rendered.states, ...(typeof exports === 'string' ? [] : exports.states)],
    exports: typeof exports === 'string' ? exports : exports.objects,
  };
}

/** @throws the cause of a failed step */
const unwrapStepError = <T>(rendering: Promise<T>): Promise<T> =>
  rendering.catch((error: unknown) => {
    throw error instanceof StepFailed ? error.cause : error;
  });

function resultOf<T>(result: T | StepFailed): T {
  if (result instanceof StepFailed) throw result.cause;
  return result;
}

/** @throws SubInstallationsInvalid if a job would fail because of a tree limit */
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

/** The child as it would be created, with the name of its template. */
const asCreated = ({ name, object }: WantedChild): Installation =>
  ({ ...object, metadata: { ...object.metadata, name }, status: { jobID: JOB } }) as unknown as Installation;

interface Below {
  readonly self: Installation;
  readonly path: string;
  readonly above: readonly Installation[];
}

async function renderChild(
  { self, path, above }: Below,
  parent: string,
  scope: readonly WrittenObject[],
  settings: RenderSettings,
): Promise<RenderedInstallation | string> {
  if (!settings.isDeep) return 'not rendered; use --deep';
  const { blueprint, componentDescriptor } = self.spec;
  if (blueprint.ref && !settings.components)
    return 'its blueprint is in a component; name the component with --component';
  const { imports, missing } = findImports(self, parent, lookupsIn(scope));
  const [first] = missing;
  if (first) {
    return `its import "${first.import}" comes from a sibling with unknown exports; supply them with --exports`;
  }
  const component = componentDescriptor && (await settings.components?.view(componentDescriptor));
  return renderTree(self, await loadBlueprint(blueprint, component), imports, settings, path, above);
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

/** The supplied exports of the whole installation. */
function suppliedFor(
  { self, path }: Omit<Below, 'above'>,
  { exports }: RenderSettings,
): readonly WrittenObject[] | undefined {
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
  readonly settings: RenderSettings;
  readonly path: string;
}

async function exportsOf(work: Exporting): Promise<RenderedExports | string> {
  const { installation, blueprint, found, items, children, scope, settings, path } = work;
  const whole = suppliedFor({ self: installation, path }, settings);
  if (whole) return { objects: whole, states: [] };
  const unknown = [
    ...(settings.exports ? [] : items.map(({ name }) => belowOf(path, name))),
    ...children.flatMap(({ name, object, inside }) => {
      const isKnown = typeof inside !== 'string' && typeof inside.exports !== 'string';
      const isSupplied = settings.exports?.values.has(belowOf(path, name)) ?? false;
      return isKnown || isSupplied || exportsNothing(object) ? [] : [belowOf(path, name)];
    }),
  ];
  if (unknown.length > 0 && exportsNothing(installation)) return { objects: [], states: [] };
  if (unknown.length > 0)
    return `not known without the exports of ${unknown.join(', ')}; supply them with --exports`;
  const values = items.map(({ name }) => [name, settings.exports?.values.get(belowOf(path, name)) ?? null]);
  const sources = exportSources({
    executionExports: Object.fromEntries(values) as unknown,
    dataObjects: scope.filter((one): one is DataObject => one.kind === 'DataObject'),
    targets: scope.filter(isTarget),
  });
  const tools = { runner: settings.runner, states: new States() };
  return unwrapStepError(renderInstallationExports(installation, blueprint, found, sources, tools));
}

const exportsNothing = ({ spec: { exports } }: Pick<ChildInstallation, 'spec'>): boolean =>
  [...(exports?.data ?? []), ...(exports?.targets ?? [])].length === 0;
