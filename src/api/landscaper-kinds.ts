/**
 * The kinds of our own groups and their paths in the API, without their schemas: a command that only sends requests
 * need not load zod.
 */
import type { ComponentVersionOverwrites } from './kinds/componentversionoverwrites.ts';
import type { Context } from './kinds/context.ts';
import type { CriticalProblems } from './kinds/criticalproblems.ts';
import type { DataObject } from './kinds/dataobject.ts';
import type { DeployItem } from './kinds/deployitem.ts';
import type { Execution } from './kinds/execution.ts';
import type { Installation } from './kinds/installation.ts';
import type { JobRecord } from './kinds/jobrecord.ts';
import type { LsHealthCheck } from './kinds/lshealthcheck.ts';
import type { SyncObject } from './kinds/syncobject.ts';
import type { Target } from './kinds/target.ts';
import type { TargetSync } from './kinds/targetsync.ts';
import { ESPALIER_PREFIX, GROUP, VERSION } from './labels.ts';
import type { ApiKind, ApiObject } from './shared.ts';

/** A kind of our own group: one version, namespaced. */
export const landscaperKind = <T extends ApiObject>(kind: string, plural: string): ApiKind<T> => ({
  group: GROUP,
  version: VERSION,
  kind,
  plural,
  namespaced: true,
});

export const installationKind = landscaperKind<Installation>('Installation', 'installations');
export const executionKind = landscaperKind<Execution>('Execution', 'executions');
export const deployItemKind = landscaperKind<DeployItem>('DeployItem', 'deployitems');
export const targetKind = landscaperKind<Target>('Target', 'targets');
export const dataObjectKind = landscaperKind<DataObject>('DataObject', 'dataobjects');
export const contextKind = landscaperKind<Context>('Context', 'contexts');
export const componentVersionOverwritesKind = landscaperKind<ComponentVersionOverwrites>(
  'ComponentVersionOverwrites',
  'componentversionoverwrites',
);
export const targetSyncKind = landscaperKind<TargetSync>('TargetSync', 'targetsyncs');
export const lsHealthCheckKind = landscaperKind<LsHealthCheck>('LsHealthCheck', 'lshealthchecks');
export const criticalProblemsKind = landscaperKind<CriticalProblems>('CriticalProblems', 'criticalproblems');
export const syncObjectKind = landscaperKind<SyncObject>('SyncObject', 'syncobjects');
/** Not in upstream, so it has a group of its own. */
export const jobRecordKind: ApiKind<JobRecord> = {
  ...landscaperKind<JobRecord>('JobRecord', 'jobrecords'),
  group: ESPALIER_PREFIX,
};
