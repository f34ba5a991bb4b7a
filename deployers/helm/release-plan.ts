/**
 * Plans the changes of a release: renders the chart and compares it with the record of the
 * current release. Neither helm nor the plan considers fields that API servers or other controllers added.
 */
import { equal } from '../../src/lib/json.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { isTestHook } from '../../src/templating/helm/manifests.ts';
import type { ChartObjects, ChartRunner } from '../../src/templating/helm/work.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { ItemPlan, PlannedObject } from '../sdk/item-plan.ts';
import { idOf, refOf, type KubeObject } from '../objects/manifests/model.ts';
import { inParallel } from '../objects/manifests/parallel.ts';
import { liveOf } from './drift.ts';
import { hasAllOf } from './stored.ts';
import { checkAgainstSchema, inputDigest, elementsIn, isUnchanged, type Action } from './release.ts';
import { isEnded, isPending, recordsOf, type ReleaseRecord } from './releases.ts';
import { definitionsIn, objectsOf, render, withNamespaces, type RenderContext } from './rendering.ts';
import type { HelmContext } from './helm-context.ts';
import { planRemovalOfTemplates } from './template.ts';

interface Place {
  readonly name: string;
  readonly namespace: string;
}

/** The changes that an installation or upgrade would make. */
export async function planRelease(
  ctx: HelmContext,
  access: KubeAccess,
  renderContext: RenderContext,
): Promise<ItemPlan> {
  const { config, signal } = ctx;
  const { charts } = renderContext;
  const records = await recordsOf(access, config, signal);
  const newest = records.at(-1);
  if (
    newest &&
    (await isUnchanged(ctx, access, newest, { digest: inputDigest(renderContext.chart, config), charts }))
  ) {
    const recorded = await objectsMade(newest, config, { access, charts });
    const objects = recorded.map((object) => ({ ref: refOf(object), change: 'unchanged' as const }));
    return { objects, notes: [] };
  }
  // Pending records are removed before the job, so they do not count.
  const usable = newest && isEnded(newest) ? [] : records.filter((record) => !isPending(record));
  const last = usable.at(-1);
  const action: Action = last ? 'upgrade' : 'install';
  await checkAgainstSchema(action, renderContext, config);
  const revision = ((newest?.status === 'uninstalled' ? newest : last)?.revision ?? 0) + 1;
  const isUpgrade = action === 'upgrade';
  const ownDefinitions = isUpgrade ? undefined : 'created';
  const rendering = await render(ctx, access, renderContext, { revision, isUpgrade, ownDefinitions });
  const base = usable.findLast(({ status }) => status === 'deployed') ?? last;

  const earlier = await planOfEarlier(ctx, access, charts);
  const recorded = base ? await objectsMade(base, config, { access, charts }) : [];
  const documents = rendering.manifests.map(({ document }) => document);
  const definitions = isUpgrade ? [] : objectsOf(definitionsIn(rendering));
  const wanted = await withNamespaces(objectsOf(documents), config.namespace, access, definitions);
  const ids = new Set(wanted.map((object) => idOf(refOf(object))));
  const step: Step = {
    ctx,
    access,
    adopts: config[action].takeOwnership,
    recorded: new Map(recorded.map((object) => [idOf(refOf(object)), object])),
    removed: new Set(earlier.objects.filter(({ change }) => change === 'delete').map(({ ref }) => idOf(ref))),
  };
  const release = `${config.namespace}/${config.name}`;
  return {
    objects: [
      ...earlier.objects.filter(({ ref }) => !ids.has(idOf(ref))),
      ...(action === 'install' ? await planNamespaceAndCrds(rendering, step) : []),
      ...(await inParallel(wanted, (object) => planWanted(object, step))),
      ...(await planGone(
        recorded.filter((object) => !ids.has(idOf(refOf(object)))),
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

/** The changes that the deletion of the item would make. */
export async function planUninstall(
  ctx: HelmContext,
  access: KubeAccess,
  charts: ChartRunner,
): Promise<ItemPlan> {
  const { config, previous } = ctx;
  if (previous?.release) return planHelmUninstall(previous.release, ctx, { access, charts });
  const hasTemplates = previous?.managedResources?.some(({ policy }) => policy);
  if (!config.isRelease || hasTemplates) return planRemovalOfTemplates(ctx);
  return planHelmUninstall(config, ctx, { access, charts });
}

/**
 * If an earlier job used another release name or applied the chart without a release, its objects are removed
 * first.
 */
async function planOfEarlier(ctx: HelmContext, access: KubeAccess, charts: ChartRunner): Promise<ItemPlan> {
  const { config, previous } = ctx;
  const old = previous?.release;
  const isOther = old && (old.name !== config.name || old.namespace !== config.namespace);
  if (config.isRelease && isOther) return planHelmUninstall(old, ctx, { access, charts });
  const hasTemplates = !old && previous?.managedResources?.some(({ policy }) => policy);
  return config.isRelease && hasTemplates ? planRemovalOfTemplates(ctx) : nothing;
}

const nothing: ItemPlan = { objects: [], notes: [] };

/** A target, and the runner that reads its release records. */
interface TargetReader {
  readonly access: KubeAccess;
  readonly charts: ChartRunner;
}

/** The changes of an uninstall; none if there is no release. */
export async function planHelmUninstall(
  place: Place | undefined,
  ctx: HelmContext,
  reader: TargetReader,
): Promise<ItemPlan> {
  const { access } = reader;
  const newest = place && (await recordsOf(access, place, ctx.signal)).at(-1);
  if (!newest) return nothing;
  const recorded = await objectsMade(newest, place, reader);
  return {
    objects: await planGone(recorded, recordKeep, { ctx, access }),
    notes: [`helm would uninstall the release ${place.namespace}/${place.name}`],
  };
}

const objectsMade = async (record: ReleaseRecord, { namespace }: Place, { access, charts }: TargetReader) =>
  withNamespaces(await elementsIn(record, charts), namespace, access);

// ---------------------------------------------------------------- one object

interface Step {
  readonly ctx: HelmContext;
  readonly access: KubeAccess;
  readonly adopts: boolean;
  /** Objects in the current release record, by id. */
  readonly recorded: ReadonlyMap<string, KubeObject>;
  /** Objects that are removed before, by id. */
  readonly removed: ReadonlySet<string>;
}

const liveIn = (object: KubeObject, { ctx, access }: Pick<Step, 'ctx' | 'access'>): Promise<unknown> =>
  liveOf(object, ctx.config.namespace, access, ctx.signal);

async function planWanted(after: KubeObject, step: Step): Promise<PlannedObject> {
  const ref = refOf(after);
  const id = idOf(ref);
  const live = step.removed.has(id) ? undefined : await liveIn(after, step);
  const before = step.recorded.get(id);
  if (live === undefined) {
    const note = step.removed.has(id) ? 'recreated' : before && 'it no longer exists';
    return { ref, change: 'create', after, note };
  }
  if (!before && !step.adopts && !belongsToRelease(live, step.ctx.config)) {
    const problem = 'it already exists and belongs to no release; helm would refuse to change it';
    return { ref, change: 'change', before: withFieldsOf(live, after) as KubeObject, after, problem };
  }
  const isAsMade = hasAllOf(live, before ?? after);
  if (before && !equal(before, after)) {
    const note = isAsMade ? undefined : 'it has since been changed on the cluster';
    return { ref, change: 'change', before, after, note };
  }
  if (isAsMade) return { ref, change: 'unchanged' };
  const note = before && 'it has since been changed on the cluster';
  return { ref, change: 'change', before: withFieldsOf(live, after) as KubeObject, after, note };
}

/** Whether helm considers an object part of this release. */
function belongsToRelease(live: unknown, { name, namespace }: Place): boolean {
  const metadata = ownField(live, 'metadata');
  const annotations = ownField(metadata, 'annotations');
  return (
    ownField(annotations, 'meta.helm.sh/release-name') === name &&
    ownField(annotations, 'meta.helm.sh/release-namespace') === namespace &&
    ownField(ownField(metadata, 'labels'), 'app.kubernetes.io/managed-by') === 'Helm'
  );
}

/** The live object, reduced to the fields that the chart sets. */
function withFieldsOf(live: unknown, wanted: unknown): unknown {
  if (Array.isArray(live) && Array.isArray(wanted))
    return live.map((element: unknown, i) => withFieldsOf(element, (wanted as unknown[])[i]));
  if (!isObject(live) || !isObject(wanted)) return live;
  return Object.fromEntries(
    Object.entries(wanted)
      .filter(([name]) => ownField(live, name) !== undefined)
      .map(([name, value]) => [name, withFieldsOf(ownField(live, name), value)]),
  );
}

type KeepPolicy = (recorded: KubeObject, live: unknown) => boolean;

const KEEP = 'helm.sh/resource-policy';
const isKept = (object: unknown): boolean =>
  ownField(ownField(ownField(object, 'metadata'), 'annotations'), KEEP) === 'keep';
/** An upgrade reads the keep policy from the live object, an uninstall from the release record. */
const liveKeep: KeepPolicy = (_, live) => isKept(live);
const recordKeep: KeepPolicy = (recorded) => isKept(recorded);

async function planGone(
  recorded: readonly KubeObject[],
  keeps: KeepPolicy,
  step: Pick<Step, 'ctx' | 'access'>,
): Promise<readonly PlannedObject[]> {
  const planned = await inParallel(recorded, async (object): Promise<readonly PlannedObject[]> => {
    const live = await liveIn(object, step);
    if (live === undefined) return [];
    const ref = refOf(object);
    return keeps(object, live)
      ? [{ ref, change: 'kept', note: `${KEEP} keeps it` }]
      : [{ ref, change: 'delete', before: object }];
  });
  return planned.flat();
}

// ---------------------------------------------------------------- only at installation

/** The namespace and the CRDs, which helm creates once and never updates. */
async function planNamespaceAndCrds(rendering: ChartObjects, step: Step): Promise<readonly PlannedObject[]> {
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
