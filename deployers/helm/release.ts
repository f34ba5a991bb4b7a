/**
 * Release mode: the chart is installed as a release of Helm. If nothing has changed since the last job, no new revision
 * is created. Pending records of an interrupted process are removed before the next attempt.
 */
import { createHash } from 'node:crypto';
import { ChartStopped, HelmError } from '../../src/templating/helm/errors.ts';
import type { ChartRunner, PackedChart } from '../../src/templating/helm/work.ts';
import { toYaml } from '../../src/lib/yaml.ts';
import { checkReadinessAndExports } from '../objects/readiness-and-exports.ts';
import { checkedRef, type CheckedRef } from '../objects/readiness/checked.ts';
import { isUpstreamsKind, mayBeUnready } from '../objects/readiness/table.ts';
import type { KubeAccess } from '../sdk/access.ts';
import type { ReadinessRules } from '../sdk/deployer.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import { isKubeObject, type KubeObject, type ManagedResource } from '../objects/manifests/model.ts';
import { done, type Outcome } from '../sdk/outcome.ts';
import { actionsFor, type ActionProblem, type ReleaseActions } from './actions.ts';
import type { LoadedChart } from './chart.ts';
import { timeoutFor } from './flags.ts';
import type { HelmConfig } from './config.ts';
import { isUnchangedOnCluster } from './drift.ts';
import { documentsIn, deleteRecord, isEnded, isPending, recordsOf, type ReleaseRecord } from './releases.ts';
import { configurationError, maskFor, OPERATION } from './errors.ts';
import { objectsOf } from './rendering.ts';
import { hasExpired } from './release/cluster.ts';
import { PREFIX, type HelmOptions, type HelmContext } from './helm-context.ts';
import type { JobResults } from './job-results.ts';
import { statusOf, type HelmStatus, type ReleaseNote } from './status.ts';

export type Action = 'install' | 'upgrade';
const REASONS = { install: 'installRelease', upgrade: 'upgradeRelease' } as const;
const CHECKPOINTS = { install: 'before installing release', upgrade: 'before upgrading release' } as const;

/** A chart, and the runner that reads it. */
interface LoadedChartWithRunner {
  readonly chart: LoadedChart;
  readonly charts: ChartRunner;
}

interface LoadedWithValues extends LoadedChartWithRunner {
  readonly values: ReadonlyMap<string, unknown>;
  readonly results: JobResults;
}

export async function applyRelease(
  ctx: HelmContext,
  access: KubeAccess,
  { values, results, ...loaded }: LoadedWithValues,
  options: HelmOptions,
): Promise<Outcome<HelmStatus>> {
  const { config } = ctx;
  ctx.assertTimeLeft(`${PREFIX}: start apply files`);
  // Always kept with the job, as the status is: the release is not repeated while the job waits.
  const releaseOnce = () => release(ctx, access, loaded, options);
  const { status, checked } = await results.once(ctx, 'released', releaseOnce, () => 0);
  return checkReadinessAndExports(
    ctx,
    {
      prefix: PREFIX,
      operation: 'ApplyFile',
      readiness: config.readiness,
      exports: config.exports,
      values,
      checked,
      mask: (text) => maskFor(config)(text),
      known: new Map(),
      status,
    },
    access,
  );
}

// ---------------------------------------------------------------- install and upgrade

async function release(
  ctx: HelmContext,
  access: KubeAccess,
  loaded: LoadedChartWithRunner,
  options: HelmOptions,
): Promise<Released> {
  const { config, previous, signal } = ctx;
  const { name, namespace } = config;
  const { readiness: rules } = ctx;
  const { charts } = loaded;
  const digest = inputDigest(loaded.chart, config);
  const old = previous?.release;
  if (old && (old.name !== name || old.namespace !== namespace)) await uninstall(ctx, access, old, options);
  const records = await recordsAfterUninstall(ctx, access, options);
  const newest = records.at(-1);
  if (newest && (await isUnchanged(ctx, access, newest, { digest, charts }))) {
    return releasedFrom(
      newest,
      { config, charts, rules },
      { name, namespace, digest, revision: newest.revision },
    );
  }
  const actions = actionsFor(ctx, access, options);
  const isStale = newest !== undefined && isInterrupted(ctx, newest);
  if (isStale) await actions.discard(newest);
  const last = isStale ? records.at(-2) : newest;
  const action = last && !isEnded(last) ? 'upgrade' : 'install';
  ctx.assertTimeLeft(`${PREFIX}: ${CHECKPOINTS[action]}`);
  // The status of the last revision stays until a new revision is created.
  await checkAgainstSchema(action, loaded, config);
  actions.check();
  // The status is stored before the action starts, so that a deletion after a crash finds the release, and the next
  // reconcile knows which revision this job created.
  const next = { name, namespace, digest, revision: (last?.revision ?? 0) + 1, planned: true };
  await ctx.begin(statusOf(previous?.managedResources ?? [], next));
  await act({ action, isReinstall: last !== undefined }, ctx, access, loaded.chart, actions);
  const made = (await recordsOf(access, config, signal)).at(-1);
  const note = { name, namespace, digest, ...(made && { revision: made.revision }) };
  return made
    ? releasedFrom(made, { config, charts, rules }, note)
    : { status: statusOf([], note), checked: [] };
}

/**
 * After an interrupted uninstall, helm can neither upgrade nor reinstall the release, so the uninstall is completed
 * first.
 */
async function recordsAfterUninstall(
  ctx: HelmContext,
  access: KubeAccess,
  options: HelmOptions,
): Promise<readonly ReleaseRecord[]> {
  const { config, signal } = ctx;
  const records = await recordsOf(access, config, signal);
  if (records.at(-1)?.status !== 'uninstalling') return records;
  await uninstall(ctx, access, { ...config, waitsForObjects: true }, options);
  return recordsOf(access, config, signal);
}

/** Digest of all inputs of a revision. */
export function inputDigest(
  { digest }: PackedChart,
  { name, namespace, values, install, upgrade }: HelmConfig,
): string {
  const parts = [digest, name, namespace, toYaml(values), JSON.stringify([install, upgrade])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Whether chart, values and options are unchanged, and the objects on the cluster as well. */
export async function isUnchanged(
  ctx: HelmContext,
  access: KubeAccess,
  newest: ReleaseRecord,
  { digest, charts }: { readonly digest: string; readonly charts: ChartRunner },
): Promise<boolean> {
  const { previous, config, signal } = ctx;
  const { release: note } = previous ?? {};
  if (note?.digest !== digest || note.revision !== newest.revision || newest.status !== 'deployed')
    return false;
  // The process was killed before it recorded the revision. If the revision is from another time, another user
  // created it.
  if (note.planned && isOlderThanJob(ctx, newest)) return false;
  return isUnchangedOnCluster(await elementsIn(newest, charts), config.namespace, access, signal);
}

/**
 * The objects of a revision, with lists replaced by their elements. An object that only looks like a list stays
 * unchanged.
 */
export const elementsIn = async (
  record: ReleaseRecord,
  charts: ChartRunner,
): Promise<readonly KubeObject[]> => (await documentsIn(record, charts)).flatMap(elementsOf);

function elementsOf(document: unknown): readonly KubeObject[] {
  try {
    return objectsOf([document]);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return isKubeObject(document) ? [document] : [];
  }
}

/** Whether the record is older than a job may take, so the process that started the action no longer runs. */
function isOlderThanJob({ item, clock }: HelmContext, { createdAt }: ReleaseRecord): boolean {
  const startedMs = item.status?.transitionTimes?.initTime;
  const limit = startedMs === undefined ? clock.wall() : Date.parse(startedMs);
  return Date.parse(createdAt ?? '') < limit;
}

/** Whether the process that created a pending record no longer runs. */
function isInterrupted(ctx: HelmContext, record: ReleaseRecord): boolean {
  const { planned, revision } = ctx.previous?.release ?? {};
  const isOurs = planned === true && revision === record.revision;
  return isPending(record) && (isOurs || isOlderThanJob(ctx, record));
}

async function act(
  { action, isReinstall }: { readonly action: Action; readonly isReinstall: boolean },
  ctx: HelmContext,
  access: KubeAccess,
  chart: LoadedChart,
  actions: ReleaseActions,
): Promise<void> {
  const left = ctx.assertTimeLeft(`${PREFIX}: ${CHECKPOINTS[action]}`);
  const end = ctx.clock.now() + left;
  const step = { chart, isReinstall, timeoutMs: timeoutFor(ctx.config[action], left, action === 'upgrade') };
  const problem = await actions[action](step);
  if (problem === undefined) return;
  await deletePending(ctx, access);
  const message = `unable to ${action} helm chart release: ${problem.message}`;
  throw new RetryError({
    operation: OPERATION,
    reason: REASONS[action],
    message,
    requeueAfterMs: retryDelay(problem, end - ctx.clock.now()),
    cause: problem.cause,
  });
}

const RETRY_MS = 5000;

/**
 * Every attempt creates a revision, so the next one is delayed. After a timeout there is no retry in this job: helm
 * would wait and roll back again, with less time on each attempt.
 * @param leftMs remaining time of the job
 */
function retryDelay({ hasWaited, cause }: ActionProblem, leftMs: number): number {
  return (hasWaited || hasExpired(cause)) && Number.isFinite(leftMs) ? Math.max(1, leftMs) : RETRY_MS;
}

/** Removes pending records, which would block all further helm actions. */
async function deletePending({ config, signal }: HelmContext, access: KubeAccess): Promise<void> {
  const newest = (await recordsOf(access, config, signal)).at(-1);
  if (newest && isPending(newest)) await deleteRecord(access, newest, signal);
}

/** Checked here because helm's error message would show the invalid values; this message does not. */
export async function checkAgainstSchema(
  action: Action,
  { chart, charts }: { readonly chart: PackedChart; readonly charts: ChartRunner },
  config: HelmConfig,
): Promise<void> {
  if (config[action].skipSchemaValidation) return;
  try {
    await charts.checkChartValues({ chart, values: config.values });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    if (error instanceof ChartStopped) throw configurationError('PrepareHelmValues', error.message, error);
    const message = `unable to ${action} helm chart release: ${error.message}`;
    throw new ConfigurationError({ operation: OPERATION, reason: REASONS[action], message, cause: error });
  }
}

// ---------------------------------------------------------------- what the status shows

/** The status of a release, and the objects that must be ready. */
interface Released {
  readonly status: HelmStatus;
  readonly checked: readonly CheckedRef[];
}

interface ReleaseSource {
  readonly config: HelmConfig;
  readonly charts: ChartRunner;
  readonly rules: ReadinessRules;
}

/** The status lists only the kinds that upstream waits for, and upstream does not expand lists. */
async function releasedFrom(
  record: ReleaseRecord,
  { config, charts, rules }: ReleaseSource,
  note: ReleaseNote,
): Promise<Released> {
  const documents = await documentsIn(record, charts);
  const managed = documents
    .filter(isKubeObject)
    .filter(isUpstreamsKind)
    .map((object) => entryOf(object, config.namespace));
  return {
    status: statusOf(managed, note),
    checked: (rules === 'landscaper' ? documents.filter(isKubeObject) : documents.flatMap(elementsOf))
      .filter((object) => mayBeUnready(object, rules))
      .map((object) => checkedRef(entryOf(object, config.namespace).resource, object)),
  };
}

const entryOf = ({ apiVersion, kind, metadata }: KubeObject, fallback: string): ManagedResource => ({
  resource: { apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? fallback },
});

// ---------------------------------------------------------------- uninstall

export async function removeRelease(
  ctx: HelmContext,
  access: KubeAccess,
  options: HelmOptions,
): Promise<Outcome<HelmStatus>> {
  const { config, previous } = ctx;
  ctx.assertTimeLeft(`${PREFIX}: start deleting`);
  // The objects of a chart without a release were all that was installed.
  if (!previous?.release && previous?.managedResources?.some(({ policy }) => policy)) return done();
  // A release with the configured name is another one if the recorded release has not been replaced by it yet.
  const { name, namespace } = previous?.release ?? config;
  await uninstall(ctx, access, { name, namespace }, options);
  return done();
}

interface UninstallOptions {
  readonly name: string;
  readonly namespace: string;
  /** Whether to wait until the objects are deleted, whatever the configuration says. */
  readonly waitsForObjects?: boolean;
}

/** @throws RetryError if it fails */
export async function uninstall(
  ctx: HelmContext,
  access: KubeAccess,
  { name, namespace, waitsForObjects = ctx.config.uninstall.wait }: UninstallOptions,
  options: HelmOptions,
): Promise<void> {
  if ((await recordsOf(access, { name, namespace }, ctx.signal)).length === 0) return;
  const left = ctx.assertTimeLeft(`${PREFIX}: before deleting release`);
  const timeoutMs = timeoutFor(ctx.config.uninstall, left);
  const step = { name, namespace, waits: waitsForObjects, timeoutMs };
  const problem = await actionsFor(ctx, access, options).uninstall(step);
  if (problem === undefined) return;
  throw new RetryError({
    operation: 'RealHelmDeployer.Undeploy',
    reason: 'deleteRelease',
    message: `unable to delete helm chart release: ${problem.message}`,
    cause: problem.cause,
  });
}
