/** JobRecord: what one job of a root did. Written by the journal when the job has ended; an addition of ours. */
import { z } from 'zod';
import { jobRecordKind } from '../landscaper-kinds.ts';
import { ESPALIER_PREFIX } from '../labels.ts';
import { ageColumn, anyObject, int64, objectOf, open, time, type Definition } from '../shared.ts';

const request = open({
  reason: z
    .string()
    .describe(
      'Requested, Retry, Predecessor, Schedule, RetryAfterFailure, SpecChanged, Deletion, or Unknown.',
    ),
  manager: z
    .string()
    .optional()
    .describe('Field manager of the annotation that requested the job, such as kubectl-annotate.'),
  predecessor: z.string().optional().describe('Root whose end requested the job.'),
  attempt: int64().optional().describe('Number of the job among those that the schedule has started.'),
});
export type JobRequest = z.infer<typeof request>;

const recordError = open({
  operation: z.string().describe('Operation that failed, as one word.'),
  reason: z.string().describe('Reason of the failure, as one machine-readable word.'),
  message: z.string().describe('What happened and what to do about it; shortened if it is long.'),
  codes: z.array(z.string()).optional().describe('Codes that classify the error; see the error catalogue.'),
});

const times = {
  triggeredAt: time().optional().describe('When the job id was set.'),
  waitedAt: time().optional().describe('When waiting for the objects below began.'),
  endedAt: time().optional().describe('When the job ended.'),
};

const part = open({
  kind: z.string().describe('Installation, Execution or DeployItem.'),
  name: z.string().describe('Name of the object.'),
  title: z.string().describe('Name in the blueprint.'),
  depth: int64().describe('Level below the root: 1 for its sub-installations and its execution.'),
  phase: z.string().optional().describe('Phase in which the job ended.'),
  startedAt: time().optional().describe('When the part began to work.'),
  ...times,
  waitedFor: z
    .array(z.string())
    .optional()
    .describe('Titles of the siblings that had to finish first, in the order in which they finished.'),
  error: recordError.optional().describe('Why the part failed.'),
});
export type JobPart = z.infer<typeof part>;

const recordedImport = open({
  name: z.string().describe('Name of the import in the blueprint.'),
  kind: z.string().describe('DataObject, Target, Secret or ConfigMap.'),
  object: z.string().describe('Name of the imported object.'),
  version: z
    .string()
    .optional()
    .describe(
      'Uid and generation of a data object or a target at that time. It depends on no value, so it cannot be used to guess one.',
    ),
});
export type RecordedImport = z.infer<typeof recordedImport>;

const recordedBlueprint = open({
  digest: z.string().optional().describe('SHA-256 of an inline blueprint.'),
  component: z.string().optional().describe('Component that contains the blueprint.'),
  version: z.string().optional().describe('Version of that component.'),
  resource: z.string().optional().describe('Resource of the component.'),
});

const jobRecordSpec = open({
  root: open({
    name: z.string().describe('Name of the root installation.'),
    uid: z.string().describe('Uid of the root installation.'),
  }).describe('The installation that the job belongs to.'),
  number: int64().describe('Consecutive number of the recorded job of this root.'),
  jobID: z.string().describe('Id of the job.'),
  previousJobID: z
    .string()
    .optional()
    .describe(
      'Id of the job before. If the record before has another one, jobs between them were not recorded.',
    ),
  request: request.describe('Who or what requested the job.'),
  result: z.string().describe('Succeeded, Failed or DeleteFailed.'),
  error: recordError.optional().describe('Why the job failed.'),
  ...times,
  generation: int64().optional().describe('Generation of the spec that the job worked on.'),
  specHash: z.string().optional().describe('SHA-256 of the spec.'),
  blueprint: recordedBlueprint.optional().describe('Which blueprint the job used.'),
  imports: z.array(recordedImport).optional().describe('Which objects the job imported.'),
  importsChanged: z
    .boolean()
    .optional()
    .describe('Whether any imported value had changed since the job before. Absent: not known.'),
  changes: z
    .array(z.string())
    .optional()
    .describe('What changed since the record before: spec, blueprint, component, imports.'),
  parts: z.array(part).optional().describe('The objects below the root, from the top down.'),
  partsOmitted: int64()
    .optional()
    .describe(
      'Number of parts that are not listed, because of their number or because they already have another job.',
    ),
  installation: anyObject().optional().describe('Spec of the root, unless it is compressed or omitted.'),
  installationGzip: z.string().optional().describe('Spec of the root: JSON, compressed by gzip, in base64.'),
  specOmitted: z.string().optional().describe('Why the record does not contain the spec.'),
});
export type JobRecordSpec = z.infer<typeof jobRecordSpec>;

const jobRecord = objectOf(
  'JobRecord',
  { spec: jobRecordSpec.describe('What the job did.') },
  `${ESPALIER_PREFIX}/v1alpha1`,
);
export type JobRecord = z.infer<typeof jobRecord>;

export { jobRecordKind };

export const jobRecordDefinition: Definition = {
  kind: jobRecordKind,
  singular: 'jobrecord',
  shortNames: ['jr'],
  columns: [
    { name: 'Root', type: 'string', path: '.spec.root.name' },
    { name: 'Number', type: 'string', path: '.spec.number' },
    { name: 'Result', type: 'string', path: '.spec.result' },
    { name: 'Reason', type: 'string', path: '.spec.request.reason' },
    { name: 'Ended', type: 'date', path: '.spec.endedAt' },
    { ...ageColumn, isWide: true },
    { name: 'Job', type: 'string', path: '.spec.jobID', isWide: true },
  ],
  statusSubresource: false,
  description:
    'Record of one job of a root installation: who requested it, what it worked on, and how it ended.',
  schema: jobRecord,
};
