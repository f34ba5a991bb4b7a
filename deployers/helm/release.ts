/**
 * Real mode: the chart becomes a release, by the real helm. A job that finds everything as the last one left it makes no
 * new revision. What helm left half done, because it was cut off, is cleaned up before it is tried again.
 */
import { createHash } from 'node:crypto';
import { ChartStopped, HelmError } from '../../src/templating/helm/errors.ts';
import type { ChartRunner, PackedChart } from '../../src/templating/helm/work.ts';
import { isGzip, packed } from '../../src/lib/gzip.ts';
import { toYaml } from '../../src/lib/yaml.ts';
import { settled } from '../objects/after.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { ConfigurationError, RetryError } from '../sdk/errors.ts';
import { isKubeObject, type KubeObject, type ManagedResource } from '../objects/manifests/model.ts';
import { done, type Outcome } from '../sdk/outcome.ts';
import { actionFlags, timeoutFlag } from './flags.ts';
import type { HelmConfig } from './config.ts';
import { matchesRelease } from './drift.ts';
import { callHelm, helmOf, OPERATION, shown } from './helm-call.ts';
import {
  documentsIn,
  dropRecord,
  isEnded,
  isPending,
  objectsIn,
  recordsOf,
  type ReleaseRecord,
} from './releases.ts';
import { broken } from './problems.ts';
import { objectsOf } from './rendering.ts';
import { once, PREFIX, type HelmOptions, type HelmContext } from './helm-context.ts';
import { statusOf, type HelmStatus, type ReleaseNote } from './status.ts';

export type Action = 'install' | 'upgrade';
const REASONS = { install: 'installRelease', upgrade: 'upgradeRelease' } as const;
const CHECKPOINTS = { install: 'before installing release', upgrade: 'before upgrading release' } as const;

/** A chart, and where it is read. */
interface Loaded {
  readonly chart: PackedChart;
  readonly charts: ChartRunner;
}

interface LoadedWithValues extends Loaded {
  readonly values: ReadonlyMap<string, unknown>;
}

export async function applyRelease(
  ctx: HelmContext,
  access: KubeAccess,
  { values, ...loaded }: LoadedWithValues,
  options: HelmOptions,
): Promise<Outcome<HelmStatus>> {
  const { config } = ctx;
  ctx.assertTimeLeft(`${PREFIX}: start apply files`);
  const status = await once(ctx, 'released', () => release(ctx, access, loaded, options));
  return settled(
    ctx,
    {
      prefix: PREFIX,
      operation: 'ApplyFile',
      readiness: config.readiness,
      exports: config.exports,
      values,
      refs: (status.managedResources ?? []).map(({ resource }) => resource),
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
  loaded: Loaded,
  options: HelmOptions,
): Promise<HelmStatus> {
  const { config, previous, signal } = ctx;
  const { name, namespace } = config;
  const { charts } = loaded;
  const digest = digestOf(loaded.chart, config);
  const old = previous?.release;
  if (old && (old.name !== name || old.namespace !== namespace)) await uninstall(ctx, access, old, options);
  const records = await recordsAfterEnd(ctx, access, options);
  const newest = records.at(-1);
  if (newest && (await isUnchanged(ctx, access, newest, { digest, charts }))) {
    return statusFor(newest, { config, charts }, { name, namespace, digest, revision: newest.revision });
  }
  const isLeft = newest !== undefined && isPending(newest) && isAbandoned(ctx, newest);
  if (isLeft) await dropRecord(access, newest, signal);
  const last = isLeft ? records.at(-2) : newest;
  const action = last && !isEnded(last) ? 'upgrade' : 'install';
  ctx.assertTimeLeft(`${PREFIX}: ${CHECKPOINTS[action]}`);
  // The note of what was made last is good until something is made.
  await checkAgainstSchema(action, loaded, config);
  helmOf(options);
  // Noted before anything is made, so that a deletion finds the release even after a crash, and whoever comes after it
  // knows the revision for what it is.
  const next = { name, namespace, digest, revision: (last?.revision ?? 0) + 1, planned: true };
  await ctx.begin(statusOf(previous?.managedResources ?? [], next));
  await act({ action, isAnew: last !== undefined }, ctx, access, loaded.chart, options);
  const made = (await recordsOf(access, config, signal)).at(-1);
  const note = { name, namespace, digest, ...(made && { revision: made.revision }) };
  return made ? statusFor(made, { config, charts }, note) : statusOf([], note);
}

/** An end that was cut off is neither a release to upgrade nor, to helm, a free name: it is ended first. */
async function recordsAfterEnd(
  ctx: HelmContext,
  access: KubeAccess,
  options: HelmOptions,
): Promise<readonly ReleaseRecord[]> {
  const { config, signal } = ctx;
  const records = await recordsOf(access, config, signal);
  if (records.at(-1)?.status !== 'uninstalling') return records;
  await uninstall(ctx, access, { ...config, isAwaited: true }, options);
  return recordsOf(access, config, signal);
}

/** Of all that a revision is made of. */
export function digestOf(
  { digest }: PackedChart,
  { name, namespace, values, install, upgrade }: HelmConfig,
): string {
  const parts = [digest, name, namespace, toYaml(values), JSON.stringify([install, upgrade])];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** The same chart, values and options, and nobody has changed anything since. */
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
  // We were killed before we could note it; a revision of another time was made by somebody else.
  if (note.planned && isAbandoned(ctx, newest)) return false;
  return matchesRelease(await elementsIn(newest, charts), config.namespace, access, signal);
}

/** The objects of a revision, lists taken apart; what only looks like a list stays whole. */
export const elementsIn = async (
  record: ReleaseRecord,
  charts: ChartRunner,
): Promise<readonly KubeObject[]> =>
  (await documentsIn(record, charts)).flatMap((document) => {
    try {
      return objectsOf([document]);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return isKubeObject(document) ? [document] : [];
    }
  });

/** Older than the job may take: whoever began that action is not at it any more. */
function isAbandoned({ item, clock }: HelmContext, { createdAt }: ReleaseRecord): boolean {
  const begun = item.status?.transitionTimes?.initTime;
  const limit = begun === undefined ? clock.wall() : Date.parse(begun);
  return createdAt !== undefined && Date.parse(createdAt) < limit;
}

async function act(
  { action, isAnew }: { readonly action: Action; readonly isAnew: boolean },
  ctx: HelmContext,
  access: KubeAccess,
  { bytes }: PackedChart,
  options: HelmOptions,
): Promise<void> {
  const { config } = ctx;
  const chosen = config[action];
  const left = ctx.assertTimeLeft(`${PREFIX}: ${CHECKPOINTS[action]}`);
  const end = ctx.clock.now() + left;
  const answer = await callHelm(ctx, options, (major) => ({
    args: [
      ...[action, config.name, '{chart.tgz}', '--namespace', config.namespace, '--values', '{values.json}'],
      ...actionFlags(chosen, major),
      ...timeoutFlag(chosen, left, action === 'upgrade'),
      ...(action === 'install' && config.createNamespace ? ['--create-namespace'] : []),
      ...(action === 'install' && isAnew ? ['--replace'] : []), // somebody had helm keep the records of its end
      ...(action === 'upgrade' ? ['--history-max', '10', '--reset-values'] : []),
    ],
    files: {
      'chart.tgz': isGzip(bytes) ? bytes : packed(bytes),
      'values.json': JSON.stringify(config.values),
    },
  }));
  if (answer.isOk) return;
  await dropPending(ctx, access);
  const message = `unable to ${action} helm chart release: ${shown(answer, ctx)}`;
  throw new RetryError({
    operation: OPERATION,
    reason: REASONS[action],
    message,
    requeueAfterMs: pauseAfter(message, end - ctx.clock.now()),
  });
}

const RETRY_MS = 5000;

/**
 * Every attempt costs a revision, so the next one takes its time. What has been waited for in vain is not tried again:
 * it would wait, and roll back, for ever shorter times.
 * @param leftMs of the job
 */
function pauseAfter(message: string, leftMs: number): number {
  const hasWaited = /context deadline exceeded|timed out waiting/.test(message);
  return hasWaited && Number.isFinite(leftMs) ? Math.max(1, leftMs) : RETRY_MS;
}

/** What is left pending would block every further attempt. */
async function dropPending({ config, signal }: HelmContext, access: KubeAccess): Promise<void> {
  const newest = (await recordsOf(access, config, signal)).at(-1);
  if (newest && isPending(newest)) await dropRecord(access, newest, signal);
}

/** Helm shows values that break the schema; this complaint does not. */
export async function checkAgainstSchema(
  action: Action,
  { chart, charts }: Loaded,
  config: HelmConfig,
): Promise<void> {
  if (config[action].skipSchemaValidation) return;
  try {
    await charts.checkChartValues({ chart, values: config.values });
  } catch (error) {
    if (!(error instanceof HelmError)) throw error;
    if (error instanceof ChartStopped) throw broken('PrepareHelmValues', error.message, error);
    const message = `unable to ${action} helm chart release: ${error.message}`;
    throw new RetryError({ operation: OPERATION, reason: REASONS[action], message, cause: error });
  }
}

// ---------------------------------------------------------------- what the status shows

const WORKLOADS: Readonly<Record<string, string>> = {
  Pod: 'v1',
  ReplicationController: 'v1',
  Deployment: 'apps/v1',
  ReplicaSet: 'apps/v1',
  StatefulSet: 'apps/v1',
  DaemonSet: 'apps/v1',
};

/** Only what the default checks look at, as upstream has it. */
const statusFor = async (
  record: ReleaseRecord,
  { config, charts }: { readonly config: HelmConfig; readonly charts: ChartRunner },
  note: ReleaseNote,
): Promise<HelmStatus> =>
  statusOf(
    (await objectsIn(record, charts))
      .filter(({ kind, apiVersion }) => WORKLOADS[kind] === apiVersion)
      .map((object) => entryOf(object, config.namespace)),
    note,
  );

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
  const noted = previous?.release;
  if (noted && (noted.name !== config.name || noted.namespace !== config.namespace)) {
    await uninstall(ctx, access, noted, options);
  }
  await uninstall(ctx, access, config, options);
  return done();
}

interface Unwanted {
  readonly name: string;
  readonly namespace: string;
  /** Until its objects are gone, whatever the configuration says. */
  readonly isAwaited?: boolean;
}

/** @throws RetryError when helm could not */
export async function uninstall(
  ctx: HelmContext,
  access: KubeAccess,
  { name, namespace, isAwaited = ctx.config.uninstall.wait }: Unwanted,
  options: HelmOptions,
): Promise<void> {
  if ((await recordsOf(access, { name, namespace }, ctx.signal)).length === 0) return;
  const left = ctx.assertTimeLeft(`${PREFIX}: before deleting release`);
  const answer = await callHelm(ctx, options, () => ({
    args: [
      ...['uninstall', name, '--namespace', namespace],
      ...(isAwaited ? ['--wait'] : []),
      ...timeoutFlag(ctx.config.uninstall, left),
    ],
    files: {},
  }));
  if (answer.isOk || answer.stderr.includes('release: not found')) return;
  throw new RetryError({
    operation: 'RealHelmDeployer.Undeploy',
    reason: 'deleteRelease',
    message: `unable to delete helm chart release: ${shown(answer, ctx)}`,
  });
}
