/** Schema parts that several kinds share, and the plain types of object metadata. */
import { z } from 'zod';
import type { PrinterColumn, SchemaRule } from '../lib/crd/crd.ts';
import { isDuration } from '../lib/duration.ts';
import { isPathSegment } from '../lib/names.ts';
import type { ObjectMeta } from '../lib/objects.ts';
import { GROUP, VERSION } from './labels.ts';

// ---------------------------------------------------------------- objects

export type { ObjectMeta, OwnerReference } from '../lib/objects.ts';

/** The fields that every object has. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A kind and its path in the API; usable as the runtime's `Kind`. */
export interface ApiKind<T extends ApiObject = ApiObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  /** Exists only for type inference. */
  readonly type?: T;
}

// ---------------------------------------------------------------- building blocks

/**
 * An object schema that keeps unknown fields (a newer version may have written them) but whose TypeScript type
 * shows only the known ones.
 */
export const open = <S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strip> =>
  z.looseObject(shape);

/** Any JSON value, unchanged. */
export const anyJson = (): z.ZodUnknown => z.unknown();

/** An object with arbitrary fields, unchanged. */
export const anyObject = (): z.ZodRecord<z.ZodString, z.ZodUnknown> => z.record(z.string(), z.unknown());

/** RFC 3339 time. */
export const time = (): z.ZodString => z.string().meta({ format: 'date-time' });

export const int64 = (): z.ZodInt => z.int().meta({ format: 'int64' });
export const int32 = (): z.ZodInt => z.int().meta({ format: 'int32' });

/** A Go duration or `none`; see lib/duration.ts. */
export const duration = (): z.ZodString =>
  z.string().refine(isDuration, { message: 'must be a duration such as "90s", "1h30m" or "none"' });

/** Standard metadata. The API server validates it, so this schema checks only its shape. */
const objectMeta = z.looseObject({
  name: z.string().optional(),
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
}) as unknown as z.ZodType<ObjectMeta>;

/**
 * The schema of a kind's whole object, from the schemas of its own fields.
 * @param fields the top-level fields besides `apiVersion`, `kind` and `metadata`
 */
export const objectOf = <S extends z.core.$ZodLooseShape>(
  kind: string,
  fields: S,
  apiVersion = `${GROUP}/${VERSION}`,
) =>
  open({
    apiVersion: z
      .string()
      .describe(`Group and version of this object's schema; ${apiVersion} for this kind.`),
    kind: z.string().describe(`Kind of this object: ${kind}.`),
    metadata: objectMeta,
    ...fields,
  });

/**
 * The name of another object, used as a path segment. A value that would lead to another path is refused whenever
 * the object is read. Other invalid names are not refused; no object with that name is found.
 */
export const objectName = (): z.ZodString =>
  z.string().refine((name) => isPathSegment(name).length === 0, {
    error: ({ input }) =>
      `${JSON.stringify(input)} cannot be the name of an object: it ${isPathSegment(String(input)).join(', ')}`,
  });

// ---------------------------------------------------------------- references

/**
 * A reference that a program writes into a status, or whose names a validation rule checks
 * (validation/execution.ts).
 */
export const objectReference = open({
  name: z.string().describe('Name of the object.'),
  namespace: z.string().optional().describe('Namespace of the object.'),
});

/** The target of a deploy item. */
export const targetReference = open({
  name: objectName().describe('Name of the object.'),
  namespace: objectName().optional().describe('Namespace of the object.'),
});

/** A secret or config map of the same namespace, or one of its keys. */
export const localKeyReference = open({
  name: objectName().describe('Name of the object, in the same namespace.'),
  key: z.string().optional().describe('Key to read. Default: the whole object.'),
});

export const secretReference = open({
  name: objectName().describe('Name of the secret.'),
  namespace: objectName().optional().describe('Namespace of the secret: that of the object, or left out.'),
  key: z.string().optional().describe('Key to read. Default: the whole secret.'),
});
export type SecretReference = z.infer<typeof secretReference>;

export const localObjectReference = open({
  name: objectName().optional().describe('Name of the object, in the same namespace.'),
});

// ---------------------------------------------------------------- status parts

export const lastError = open({
  operation: z.string().describe('Operation that failed, as one word.'),
  reason: z.string().describe('Reason of the failure, as one machine-readable word.'),
  message: z.string().describe('What happened and what to do about it.'),
  lastTransitionTime: time().describe('When the operation last changed.'),
  lastUpdateTime: time().describe('When this error last changed.'),
  codes: z.array(z.string()).optional().describe('Codes that classify the error; see the error catalogue.'),
});
export type LastError = z.infer<typeof lastError>;

const condition = open({
  type: z.string().describe('What the condition is about.'),
  status: z.string().describe('True, False, Unknown or Progressing.'),
  lastTransitionTime: time().describe('When the status last changed.'),
  lastUpdateTime: time().describe('When this condition last changed.'),
  reason: z.string().describe('Reason of the status, as one machine-readable word.'),
  message: z.string().describe('Reason, human-readable.'),
  codes: z.array(z.string()).optional().describe('Codes that classify the error; see the error catalogue.'),
  observedGeneration: int64()
    .optional()
    .describe('Generation of the object that the condition is about; in Ready, Reconciling and Stalled.'),
});
export type Condition = z.infer<typeof condition>;

const transitionTimes = open({
  triggerTime: time().optional().describe('When the job id was set.'),
  initTime: time().optional().describe('When the job began: phase Init or InitDelete was entered.'),
  waitTime: time().optional().describe('When the objects below were triggered and waiting for them began.'),
  finishedTime: time().optional().describe('When the job ended.'),
});

/** Fields of the job protocol; the same in installations, executions and deploy items. */
export const jobStatus = {
  jobID: z.string().optional().describe('The current job. It is running as long as jobIDFinished differs.'),
  jobIDFinished: z.string().optional().describe('The last job that ended, successfully or not.'),
  phase: z.string().optional().describe('Phase of the current job, or result of the last one.'),
  transitionTimes: transitionTimes.optional().describe('When the current job reached its stages.'),
  lastError: lastError
    .optional()
    .describe('Current error, or the objects that the job waits for. Empty if there is no error.'),
  conditions: z.array(condition).optional().describe('Results of the steps of the last job.'),
};

/** Only in installations and executions. */
export const phaseTransitionTime = time().optional().describe('When the phase last changed.');

/** The status fields that installations, executions and deploy items have in common. */
export type JobStatus = z.infer<
  z.ZodObject<typeof jobStatus & { phaseTransitionTime: typeof phaseTransitionTime }>
>;

/** Template name and object name of one child. */
export const nameMapping = open({
  specName: z.string().describe('Name in the specification of the parent.'),
  objectName: z.string().describe('Name of the object created from it.'),
});

// ---------------------------------------------------------------- definition of a kind

export const phaseColumn: PrinterColumn = { name: 'Phase', type: 'string', path: '.status.phase' };
export const exportRefColumn: PrinterColumn = {
  name: 'ExportRef',
  type: 'string',
  path: '.status.exportRef.name',
};
export const typeColumn: PrinterColumn = { name: 'Type', type: 'string', path: '.spec.type' };
/** What the condition Ready says: the result of the last job, or what the current one waits for. */
export const messageColumn: PrinterColumn = {
  name: 'Message',
  type: 'string',
  path: '.status.conditions[?(@.type=="Ready")].message',
};
export const jobColumn: PrinterColumn = { name: 'Job', type: 'string', path: '.status.jobID', isWide: true };
export const finishedColumn: PrinterColumn = {
  name: 'Finished',
  type: 'date',
  path: '.status.transitionTimes.finishedTime',
  isWide: true,
};
export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' };
/** Since when it is being deleted; without it, kubectl does not show that an object waits for finalizers. */
export const deletedColumn: PrinterColumn = {
  name: 'Deleted',
  type: 'date',
  path: '.metadata.deletionTimestamp',
};
export const annotationColumn = (name: string, annotation: string): PrinterColumn => ({
  name,
  type: 'string',
  path: `.metadata.annotations.${annotation.replaceAll('.', '\\.')}`,
});
export const labelColumn = (name: string, label: string): PrinterColumn => ({
  name,
  type: 'string',
  path: `.metadata.labels.${label.replaceAll('.', '\\.')}`,
});

/** The values from which the CRD of a kind is generated. */
export interface Definition {
  readonly kind: ApiKind;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly columns: readonly PrinterColumn[];
  /** Names for `kubectl get` that several kinds share. */
  readonly categories?: readonly string[];
  /** Whether the kind has a status subresource. */
  readonly statusSubresource: boolean;
  readonly description: string;
  readonly schema: z.ZodType;
  /** Rules that a schema cannot express. Every object that upstream's controllers write must satisfy them. */
  readonly rules?: readonly SchemaRule[];
}
