/** Builds the record of a job from the objects that the job left behind. Pure. */
import { createHash } from 'node:crypto';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { JobRecordSpec, RecordedImport } from '../../src/api/kinds/jobrecord.ts';
import { goJson } from '../../src/lib/gojson.ts';
import { equal } from '../../src/lib/json.ts';
import { packed } from '../../src/lib/gzip.ts';
import type { View } from '../../src/runtime/types.ts';
import { recordedError, type Parts } from './parts.ts';
import { requestOf } from './request.ts';

/** What the journal observed of a job while it ran. */
export interface Observed {
  /** Id of the job before. */
  readonly previousJobID?: string;
  /** Whether the hash of all imports changed. */
  readonly importsChanged?: boolean;
  /** Versions of the imports when the job read them. */
  readonly imports?: readonly RecordedImport[];
}

interface Facts {
  /** The root when the job had ended. */
  readonly root: View<Installation>;
  readonly below: Parts;
  readonly observed: Observed;
  /** Versions of the imports now, in case they were not observed. */
  readonly imports: readonly RecordedImport[];
  /** The latest record of the root. */
  readonly before: View<JobRecordSpec> | undefined;
  readonly maxBytes: number;
}

const ROOT_MESSAGE = 4_000;

export function recordOf({ root, below, observed, imports, before, maxBytes }: Facts): JobRecordSpec {
  const { metadata, status, spec } = root;
  const jobID = status?.jobIDFinished ?? '';
  const isCurrentSpec = status?.observedGeneration === metadata.generation;
  const facts: JobRecordSpec = {
    root: { name: metadata.name, uid: metadata.uid ?? '' },
    number: (before?.number ?? 0) + 1,
    jobID,
    ...(observed.previousJobID && { previousJobID: observed.previousJobID }),
    request: requestOf(root, jobID),
    ...endIn(root),
    ...(status && { generation: status.observedGeneration }),
    ...(isCurrentSpec && { specHash: sha256(goJson(spec)), blueprint: blueprintOf(spec) }),
    imports: [...(observed.imports ?? imports)],
    ...(observed.importsChanged !== undefined && { importsChanged: observed.importsChanged }),
  };
  const changes = before ? changesSince(before, facts) : [];
  const complete = { ...facts, ...(changes.length > 0 && { changes }) };
  return withParts(
    isCurrentSpec
      ? withSpec(complete, spec, maxBytes)
      : { ...complete, specOmitted: 'the spec was changed before the job ended' },
    below,
    maxBytes,
  );
}

function endIn({ status }: View<Installation>) {
  const { triggerTime, waitTime, finishedTime } = status?.transitionTimes ?? {};
  const failure = status?.phase === 'Succeeded' ? undefined : status?.lastError;
  return {
    result: status?.phase ?? '',
    ...(triggerTime && { triggeredAt: triggerTime }),
    ...(waitTime && { waitedAt: waitTime }),
    ...(finishedTime && { endedAt: finishedTime }),
    ...(failure && { error: recordedError(failure, ROOT_MESSAGE) }),
  };
}

function blueprintOf({ blueprint, componentDescriptor }: View<Installation>['spec']) {
  if (blueprint.inline) return { digest: `sha256:${sha256(goJson(blueprint.inline.filesystem))}` };
  const { ref } = componentDescriptor ?? {};
  return {
    ...(ref && { component: ref.componentName, version: ref.version }),
    ...(blueprint.ref && { resource: blueprint.ref.resourceName }),
  };
}

/** Which of spec, blueprint, component and imports differ. */
export function changesSince(before: View<JobRecordSpec>, now: View<JobRecordSpec>): string[] {
  const [old, current] = [before.blueprint, now.blueprint];
  const hasBoth = old !== undefined && current !== undefined;
  const isSame = (...names: ('digest' | 'resource' | 'component' | 'version')[]): boolean =>
    !hasBoth || names.every((name) => old[name] === current[name]);
  return [
    ...(now.specHash !== undefined && before.specHash !== undefined && now.specHash !== before.specHash
      ? ['spec']
      : []),
    ...(isSame('digest', 'resource') ? [] : ['blueprint']),
    ...(isSame('component', 'version') ? [] : ['component']),
    ...((now.importsChanged ?? !equal(before.imports ?? [], now.imports ?? [])) ? ['imports'] : []),
  ];
}

/** Above this size, a spec is compressed. */
const PLAIN_BYTES = 4_096;

/** The spec may take half of the record. */
function withSpec(record: JobRecordSpec, spec: View<Installation>['spec'], maxBytes: number): JobRecordSpec {
  const text = JSON.stringify(spec);
  if (text.length <= PLAIN_BYTES) return { ...record, installation: { ...spec } };
  const installationGzip = Buffer.from(packed(Buffer.from(text))).toString('base64');
  if (installationGzip.length <= maxBytes / 2) return { ...record, installationGzip };
  const kib = (bytes: number): string => `${String(Math.ceil(bytes / 1024))} KiB`;
  const specOmitted = `the spec takes ${kib(installationGzip.length)} compressed, more than ${kib(maxBytes / 2)}, half of journal.recordKiB`;
  return { ...record, specOmitted };
}

/** If not all parts fit, those that failed come first, then those that took longest. */
function withParts(record: JobRecordSpec, { parts, others }: Parts, maxBytes: number): JobRecordSpec {
  let left = maxBytes - Buffer.byteLength(JSON.stringify(record)) - METADATA_BYTES;
  const isKept = new Set<object>();
  const isFailed = (part: (typeof parts)[number]): number => (part.error ? 1 : 0);
  const took = ({ triggeredAt = '', endedAt = '' }: (typeof parts)[number]): number =>
    Date.parse(endedAt) - Date.parse(triggeredAt) || 0;
  for (const part of [...parts].sort((a, b) => isFailed(b) - isFailed(a) || took(b) - took(a))) {
    left -= Buffer.byteLength(JSON.stringify(part)) + 1;
    if (left < 0) break;
    isKept.add(part);
  }
  const partsOmitted = parts.length - isKept.size + others;
  return {
    ...record,
    ...(isKept.size > 0 && { parts: parts.filter((part) => isKept.has(part)) }),
    ...(partsOmitted > 0 && { partsOmitted }),
  };
}

/** Name, labels, owner and managed fields; the managed fields of our only write name one field. */
const METADATA_BYTES = 1_500;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
