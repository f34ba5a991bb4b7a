/** Types of the whole API server. Stored objects are plain JSON and are not changed after the commit. */
import type { ObjectMeta as ClientMeta, OwnerReference } from '../lib/objects.ts';

export type { OwnerReference };

export interface ObjectMeta extends Omit<ClientMeta, 'managedFields'> {
  deletionGracePeriodSeconds?: number;
  managedFields?: ManagedFieldsEntry[];
  selfLink?: string;
}

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface KubeObject {
  kind: string;
  apiVersion: string;
  metadata: ObjectMeta;
  [member: string]: unknown;
}

/** One finding of a validation: path, reason of the cause, and message of the cause. */
export interface FieldError {
  readonly field: string;
  readonly type: string;
  readonly message: string;
}

/** The user of a request, as authentication determined it. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Result of evaluating a selector on an object. */
export type Predicate = (object: KubeObject) => boolean;

export { isObject, type Fields as JsonObject } from '../lib/objects.ts';
export { copy as cloneJson, equal as equalJson } from '../lib/json.ts';

/** The member if it is a string; undefined for all other values. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
