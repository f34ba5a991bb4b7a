/**
 * What helm would do to a release, told without helm: the chart is rendered here and compared with what the record of the
 * release says that it was made of. Fields that servers or others have added are none of helm's business, nor of a plan's.
 */
import { equal } from '../../src/lib/json.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { isTestHook } from '../../src/templating/helm/manifests.ts';
import type { ChartObjects, ChartRunner } from '../../src/templating/helm/work.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { ItemPlan, PlannedObject } from '../sdk/item-plan.ts';
import { idOf, refOf, type KubeObject } from '../objects/manifests/model.ts';
import { inParallel } from '../objects/manifests/parallel.ts';
import { hasAllOf, liveOf } from './drift.ts';
import { checkAgainstSchema, digestOf, elementsIn, isUnchanged, type Action } from './release.ts';
import { isEnded, isPending, recordsOf, type ReleaseRecord } from './releases.ts';
import { definitionsIn, objectsOf, render, withNamespaces, type Surroundings } from './rendering.ts';
import type { HelmContext } from './helm-context.ts';
import { planRemovalOfTemplates } from './template.ts';

interface Place {
  readonly name: string;
  readonly namespace: string;
}

/** What an installation or upgrade would change. */
export async function planRelease(
  ctx: HelmContext,
  access: KubeAccess,
  surroundings: Surroundings,
): Promise<ItemPlan> {
  const { config, signal } = ctx;
  const { charts } = surroundings;
  const records = await recordsOf(access, config, signal);
  const newest = records.at(-1);
  if (
    newest &&
    (await isUnchanged(ctx, access, newest, { digest: digestOf(surroundings.chart, config), charts }))
  ) {
    const made = await objectsMade(newest, config, { access, charts });
    const objects = made.map((object) => ({ ref: refOf(object), change: 'unchanged' as const }));
    return { objects, notes: [] };
  }
  // What was left half done is cleaned up, and does not count.
  const usable = newest && isEnded(newest) ? [] : records.filter((record) => !isPending(record));
  const last = usable.at(-1);
  const action: Action = last ? 'upgrade' : 'install';
  await checkAgainstSchema(action, surroundings, config);
  const revision = ((newest?.status === 'uninstalled' ? newest : last)?.revision ?? 0) + 1;
  const rendering = await render(ctx, access, surroundings, { revision, isUpgrade: action === 'upgrade' });
  const base = usable.findLast(({ status }) => status === 'deployed') ?? last;

  const earlier = await planOfEarlier(ctx, access, charts);
  const made = base ? await objectsMade(base, config, { access, charts }) : [];
  const documents = rendering.manifests.map(({ document }) => document);
  const wanted = await withNamespaces(objectsOf(documents), config.namespace, access);
  const ids = new Set(wanted.map((object) => idOf(refOf(object))));
  const step: Step = {
    ...{ ctx, access, takesOver: config[action].takeOwnership },
    made: new Map(made.map((object) => [idOf(refOf(object)), object])),
    leaving: new Set(earlier.objects.filter(({ change }) => change === 'delete').map(({ ref }) => idOf(ref))),
  };
  const release = `${config.namespace}/${config.name}`;
  return {
    objects: [
      ...earlier.objects.filter(({ ref }) => !ids.has(idOf(ref))),
      ...(action === 'install' ? await planFirst(rendering, step) : []),
      ...(await inParallel(wanted, (object) => planWanted(object, step))),
      ...(await planGone(
        made.filter((object) => !ids.has(idOf(refOf(object)))),
        liveKeep,
        step,
      )),
    ],
    notes: [
      ...earlier.notes,
      `helm would create revision ${String(revision)} of the release ${release}`,
      ...hookNote(rendering.hooks, action),
    ],
  };
}

/** What the end of the item would take away. */
export async function planUninstall(
  ctx: HelmContext,
  access: KubeAccess,
  charts: ChartRunner,
): Promise<ItemPlan> {
  const { config, previous } = ctx;
  const earlier = await planOfEarlier(ctx, access, charts);
  if (!config.isRelease && !previous?.release) return planRemovalOfTemplates(ctx);
  const own = await planEnd(config.isRelease ? config : previous?.release, ctx, { access, charts });
  return { objects: [...earlier.objects, ...own.objects], notes: [...earlier.notes, ...own.notes] };
}

/** What went before under another name, or without a release, goes first. */
async function planOfEarlier(ctx: HelmContext, access: KubeAccess, charts: ChartRunner): Promise<ItemPlan> {
  const { config, previous } = ctx;
  const old = previous?.release;
  const isOther = old && (old.name !== config.name || old.namespace !== config.namespace);
  if (config.isRelease && isOther) return planEnd(old, ctx, { access, charts });
  const hasTemplates = !old && previous?.managedResources?.some(({ policy }) => policy);
  return config.isRelease && hasTemplates ? planRemovalOfTemplates(ctx) : nothing;
}

const nothing: ItemPlan = { objects: [], notes: [] };

/** A target, and where records are read that are found on it. */
interface Ground {
  readonly access: KubeAccess;
  readonly charts: ChartRunner;
}

/** The end of a release; nothing when there is none. */
export async function planEnd(place: Place | undefined, ctx: HelmContext, ground: Ground): Promise<ItemPlan> {
  const { access } = ground;
  const newest = place && (await recordsOf(access, place, ctx.signal)).at(-1);
  if (!newest) return nothing;
  const made = await objectsMade(newest, place, ground);
  return {
    objects: await planGone(made, recordKeep, { ctx, access }),
    notes: [`helm would uninstall the release ${place.namespace}/${place.name}`],
  };
}

const objectsMade = async (record: ReleaseRecord, { namespace }: Place, { access, charts }: Ground) =>
  withNamespaces(await elementsIn(record, charts), namespace, access);

// ---------------------------------------------------------------- one object

interface Step {
  readonly ctx: HelmContext;
  readonly access: KubeAccess;
  readonly takesOver: boolean;
  /** As the record has them, by id. */
  readonly made: ReadonlyMap<string, KubeObject>;
  /** What is taken away before, by id. */
  readonly leaving: ReadonlySet<string>;
}

const liveIn = (object: KubeObject, { ctx, access }: Pick<Step, 'ctx' | 'access'>): Promise<unknown> =>
  liveOf(object, ctx.config.namespace, access, ctx.signal);

async function planWanted(after: KubeObject, step: Step): Promise<PlannedObject> {
  const ref = refOf(after);
  const id = idOf(ref);
  const live = step.leaving.has(id) ? undefined : await liveIn(after, step);
  const before = step.made.get(id);
  if (live === undefined) {
    const note = step.leaving.has(id) ? 'recreated' : before && 'it no longer exists';
    return { ref, change: 'create', after, note };
  }
  if (!before && !step.takesOver && !belongs(live, step.ctx.config)) {
    const problem = 'it already exists and belongs to no release; helm would refuse to change it';
    return { ref, change: 'change', before: sameFields(live, after) as KubeObject, after, problem };
  }
  const isAsMade = hasAllOf(live, before ?? after);
  if (before && !equal(before, after)) {
    const note = isAsMade ? undefined : 'it has since been changed on the cluster';
    return { ref, change: 'change', before, after, note };
  }
  if (isAsMade) return { ref, change: 'unchanged' };
  const note = before && 'it has since been changed on the cluster';
  return { ref, change: 'change', before: sameFields(live, after) as KubeObject, after, note };
}

/** Whether helm takes an object for one of this release. */
function belongs(live: unknown, { name, namespace }: Place): boolean {
  const metadata = ownField(live, 'metadata');
  const annotations = ownField(metadata, 'annotations');
  return (
    ownField(annotations, 'meta.helm.sh/release-name') === name &&
    ownField(annotations, 'meta.helm.sh/release-namespace') === namespace &&
    ownField(ownField(metadata, 'labels'), 'app.kubernetes.io/managed-by') === 'Helm'
  );
}

/** A live object with no other fields than those that the chart names. */
function sameFields(live: unknown, wanted: unknown): unknown {
  if (Array.isArray(live) && Array.isArray(wanted))
    return live.map((element: unknown, i) => sameFields(element, (wanted as unknown[])[i]));
  if (!isObject(live) || !isObject(wanted)) return live;
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([name]) => ownField(live, name) !== undefined)
      .map(([name, value]) => [name, sameFields(ownField(live, name), value)]),
  );
}

type Keeps = (made: KubeObject, live: unknown) => boolean;

const KEEP = 'helm.sh/resource-policy';
const isKept = (object: unknown): boolean =>
  ownField(ownField(ownField(object, 'metadata'), 'annotations'), KEEP) === 'keep';
/** An upgrade asks the cluster, the end of a release what it was made of. */
const liveKeep: Keeps = (_, live) => isKept(live);
const recordKeep: Keeps = (made) => isKept(made);

async function planGone(
  made: readonly KubeObject[],
  keeps: Keeps,
  step: Pick<Step, 'ctx' | 'access'>,
): Promise<readonly PlannedObject[]> {
  const planned = await inParallel(made, async (object): Promise<readonly PlannedObject[]> => {
    const live = await liveIn(object, step);
    if (live === undefined) return [];
    const ref = refOf(object);
    return keeps(object, live)
      ? [{ ref, change: 'kept', note: `${KEEP} keeps it` }]
      : [{ ref, change: 'delete', before: object }];
  });
  return planned.flat();
}

// ---------------------------------------------------------------- what comes with an installation

/** The namespace and the definitions, which helm makes once and never touches again. */
async function planFirst(rendering: ChartObjects, step: Step): Promise<readonly PlannedObject[]> {
  const { config } = step.ctx;
  const namespace: KubeObject = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: config.namespace },
  };
  const all = [...(config.createNamespace ? [namespace] : []), ...objectsOf(definitionsIn(rendering))];
  const planned = await inParallel(all, async (after): Promise<readonly PlannedObject[]> => {
    const isThere = (await liveIn(after, step)) !== undefined;
    return isThere ? [] : [{ ref: refOf(after), change: 'create', after }];
  });
  return planned.flat();
}

function hookNote(hooks: ChartObjects['hooks'], action: Action): readonly string[] {
  const run = hooks.filter(
    (hook) => !isTestHook(hook) && hook.events.some((event) => event.endsWith(`-${action}`)),
  );
  if (run.length === 0) return [];
  const names = run.map(({ kind, document, events }) => {
    const name = ownField(ownField(document, 'metadata'), 'name');
    return `${kind} ${typeof name === 'string' ? name : ''} (${events.join(', ')})`;
  });
  return [`helm would run hooks: ${names.join('; ')}`];
}
