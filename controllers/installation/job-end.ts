/** Completes the status with which a job ends: the roots to start next, and the conditions that no longer apply. */
import { hasAnnotation, isBeingDeleted, isFinished, isRoot } from '../../src/api/job.ts';
import { annotations, dataSourceTypes, labels } from '../../src/api/labels.ts';
import type { ImportSet } from '../../src/blueprint/import-set.ts';
import { replacedTargets } from '../../src/dataflow/copies.ts';
import { findImports } from '../../src/dataflow/imports.ts';
import { importsHash } from '../../src/dataflow/imports-hash.ts';
import { installationContext } from '../../src/dataflow/scope.ts';
import { index, type World } from '../../src/landscape/world.ts';
import { withoutExports } from './failed-status.ts';
import { isWaitingForUs } from './intake.ts';
import { cachedImports, exportsOf } from './cached-objects.ts';
import { withNextJobHint } from './next-job-hint.ts';
import { importersFrom, type Inst, type InstStatus } from './related-objects.ts';

interface EndFacts {
  readonly world: World;
  /** Uids of the objects that this reconcile deleted. */
  readonly removed: ReadonlySet<string>;
}

export function completeStatus({ world, removed }: EndFacts, self: Inst, status: InstStatus): InstStatus {
  const hasNoExports = exportsOf(world, self).every(({ metadata: { uid = '' } }) => removed.has(uid));
  const { finishedTime = '' } = status.transitionTimes ?? {};
  return withNextJobHint(
    self,
    withSuccessors(world, self, hasNoExports ? withoutExports(status, finishedTime) : status),
  );
}

/**
 * A root that succeeded starts the roots that import from it, except those that wait for it. The status stores the
 * list, so it survives a crash.
 */
function withSuccessors(world: World, self: Inst, status: InstStatus): InstStatus {
  const isSource =
    status.phase === 'Succeeded' && isRoot(self.metadata) && !self.spec.optimization?.hasNoSiblingExports;
  if (!isSource || isBeingDeleted(self.metadata)) return status;
  const started = importersFrom(world, self).filter((s) => !isWaitingForUs(s) && !isUpToDate(world, s));
  if (started.length === 0) return status;
  return { ...status, dependentsToTrigger: started.map(({ metadata: { name } }) => ({ name })) };
}

/** Whether a root starts only if its imports change, and none has changed since it succeeded. */
function isUpToDate(world: World, self: Inst): boolean {
  const { metadata, status, spec } = self;
  if (!hasAnnotation(metadata, annotations.startIfImportsChanged)) return false;
  const hasSucceededUnchanged =
    isFinished(self) &&
    status?.phase === 'Succeeded' &&
    status.observedGeneration === metadata.generation &&
    status.importsHash !== undefined;
  const importsUncached = spec.imports?.data?.some((i) => i.secretRef ?? i.configMapRef);
  if (!hasSucceededUnchanged || importsUncached) return false;
  const { namespace = '' } = metadata;
  const nothing = (): undefined => undefined;
  const lookups = { ...cachedImports(world, namespace), secret: nothing, configMap: nothing };
  const { imports, missing } = findImports(self, undefined, lookups);
  if (missing.length > 0 || importsHash(imports) !== status.importsHash) return false;
  // The hash covers targets only by their generation, and every job recreates the exports.
  const copies = world.targets
    .byIndex(index.source, `${namespace}/${installationContext(metadata.name)}`)
    .filter(({ metadata: { labels: l } }) => l?.[labels.dataSourceType] === dataSourceTypes.import);
  return copies.length === targetsIn(imports) && replacedTargets(imports, copies).length === 0;
}

const targetsIn = ({ targets, targetLists, targetMaps }: ImportSet): number =>
  [
    targets.size,
    ...[...targetLists.values()].map((list) => list.length),
    ...[...targetMaps.values()].map((map) => Object.keys(map).length),
  ].reduce((sum, count) => sum + count, 0);
