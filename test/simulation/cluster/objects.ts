/** Objects of the simulation, and predicates for them. */
import { contextKind } from '../../../src/api/kinds/context.ts';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { executionKind, type Execution } from '../../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { namespaceKind, secretKind } from '../../../src/landscape/world.ts';
import { eventKind } from '../../../src/runtime/controller/recorder.ts';
import type { Kind, Obj, View } from '../../../src/runtime/types.ts';

export type Stored = View<Obj> & {
  readonly spec?: unknown;
  readonly status?: Readonly<Record<string, unknown>> | undefined;
};
export type Inst = View<Installation>;
export type Exec = View<Execution>;
export type Item = View<DeployItem>;
/** Kinds that take part in jobs. */
export type JobObject = Inst | Exec | Item;

export const NAMESPACE = 'sim';

/** Kinds whose status is a subresource. */
const withStatus = new Set<string>([installationKind.kind, executionKind.kind, deployItemKind.kind]);
export const hasStatusSubresource = (kind: string): boolean => withStatus.has(kind);
export const isJobObject = (object: Stored | undefined): object is Stored & JobObject =>
  object !== undefined && withStatus.has(object.kind);

export const kinds = {
  installation: installationKind as Kind,
  execution: executionKind as Kind,
  item: deployItemKind as Kind,
  dataObject: dataObjectKind as Kind,
  target: targetKind as Kind,
  context: contextKind as Kind,
  targetSync: targetSyncKind as Kind,
  secret: secretKind as Kind,
  namespace: namespaceKind,
  event: eventKind as Kind,
} as const;

export const ownerUid = (object: View<Obj>): string | undefined =>
  object.metadata.ownerReferences?.find((ref) => ref.controller === true)?.uid;

export const nameOf = ({ kind, metadata }: View<Obj>): string => `${kind} ${metadata.name}`;

/** First characters of a job id, enough to distinguish the jobs of one run. */
export const short = (id: unknown): string => (typeof id === 'string' && id !== '' ? id.slice(0, 4) : '-');

/** `Installation r1 Progressing 3f2a/-` and other relevant fields. */
export function describeObject(object: Stored): string {
  const { metadata } = object;
  const status = (object.status ?? {}) as { readonly phase?: string } & Readonly<Record<string, unknown>>;
  const { annotations = {} } = metadata;
  const notes = Object.entries(annotations)
    .filter(([key]) => /operation$|delete-|reconcile-if|reconcile-reason/.test(key))
    .map(([key, value]) => `${key.split('/')[1]}=${value}`);
  const parts = [
    nameOf(object),
    ...(isJobObject(object)
      ? [status.phase ?? '-', `${short(status['jobID'])}/${short(status['jobIDFinished'])}`]
      : []),
    ...(metadata.deletionTimestamp ? ['going'] : []),
    ...notes,
  ];
  const { lastError } = status as { lastError?: { reason?: string; message?: string } };
  if (lastError) parts.push(`(${lastError.reason ?? ''}: ${(lastError.message ?? '').slice(0, 200)})`);
  return parts.join(' ');
}
