/** Rules of `metadata`: format, names, labels, owners, finalizers, and fields that only the server sets. */
import { append } from '../../lib/lists.ts';
import * as field from '../schema/field-errors.ts';
import type { Kind, NameRule } from '../kinds/kinds.ts';
import {
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isPathSegment,
  isQualifiedName,
} from '../../lib/names.ts';
import { badRequest } from '../status.ts';
import { isObject } from '../types.ts';
import type { FieldError, JsonObject, KubeObject, ObjectMeta, OwnerReference } from '../types.ts';

/** Errors in `name`, with upstream's messages; empty if it is valid. */
function nameProblems(rule: NameRule, name: string): string[] {
  switch (rule) {
    case 'path':
      return isPathSegment(name);
    case 'label':
      return isDns1123Label(name);
    case 'label1035':
      return isDns1035Label(name);
    case 'subdomain':
      return isDns1123Subdomain(name);
  }
}

function labelErrors(labels: Record<string, string> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    for (const problem of isQualifiedName(key)) errors.push(field.invalid(path, key, problem));
    for (const problem of isLabelValue(value)) errors.push(field.invalid(path, value, problem));
  }
  return errors;
}

/**
 * @param warnings receives messages for Warning headers
 * @param live the old object; its existing problems cause no warnings
 */
export function metadataErrors(
  object: KubeObject,
  kind: Kind,
  warnings: string[],
  live?: KubeObject,
): FieldError[] {
  const meta = object.metadata;
  const errors: FieldError[] = [];
  const rule = kind.nameRule;
  if (meta.generateName !== undefined && meta.generateName !== '') {
    const base = rule === 'path' ? meta.generateName : meta.generateName.replace(/[-.]$/, '');
    for (const problem of nameProblems(rule, base))
      errors.push(field.invalid('metadata.generateName', meta.generateName, problem));
  }
  if (!meta.name) errors.push(field.required('metadata.name', 'name or generateName is required'));
  else
    for (const problem of nameProblems(rule, meta.name))
      errors.push(field.invalid('metadata.name', meta.name, problem));
  append(errors, labelErrors(meta.labels, 'metadata.labels'));
  append(errors, annotationErrors(meta.annotations));
  append(errors, ownerErrors(meta.ownerReferences ?? []));
  append(errors, finalizerErrors(meta.finalizers ?? [], live?.metadata.finalizers ?? [], kind, warnings));
  return errors;
}

const MAX_ANNOTATIONS_BYTES = 262_144;

function annotationErrors(annotations: Record<string, string> | undefined): FieldError[] {
  const errors: FieldError[] = [];
  let size = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const problem of isQualifiedName(key.toLowerCase()))
      errors.push(field.invalid('metadata.annotations', key, problem));
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > MAX_ANNOTATIONS_BYTES) errors.push(field.tooLong('metadata.annotations', MAX_ANNOTATIONS_BYTES));
  return errors;
}

function ownerErrors(owners: readonly OwnerReference[]): FieldError[] {
  const errors: FieldError[] = [];
  let controller: OwnerReference | undefined;
  const path = 'metadata.ownerReferences';
  owners.forEach((owner) => {
    if (!owner.apiVersion)
      errors.push(field.invalid(`${path}.apiVersion`, owner.apiVersion ?? '', 'version must not be empty'));
    if (!owner.kind) errors.push(field.invalid(`${path}.kind`, owner.kind ?? '', 'must not be empty'));
    if (!owner.name) errors.push(field.invalid(`${path}.name`, owner.name ?? '', 'must not be empty'));
    if (!owner.uid) errors.push(field.invalid(`${path}.uid`, owner.uid ?? '', 'must not be empty'));
    if (owner.controller !== true) return;
    if (controller)
      errors.push(
        field.invalid(
          'metadata.ownerReferences',
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`,
        ),
      );
    controller = owner;
  });
  return errors;
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function finalizerErrors(
  finalizers: readonly string[],
  before: readonly string[],
  kind: Kind,
  warnings: string[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers) {
    const problems = isQualifiedName(finalizer);
    for (const problem of problems) errors.push(field.invalid('metadata.finalizers', finalizer, problem));
    if (problems.length > 0 || finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer)) continue;
    if (kind.builtIn)
      errors.push(
        field.invalid(
          'metadata.finalizers',
          finalizer,
          'name is neither a standard finalizer name nor is it fully qualified',
        ),
      );
    else if (!before.includes(finalizer))
      warnings.push(
        `metadata.finalizers: ${JSON.stringify(finalizer)}: prefer a domain-qualified finalizer name ${finalizer.includes('.') ? 'including a path (/) ' : ''}to avoid accidental conflicts with other finalizer writers`,
      );
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion'))
    errors.push(
      field.invalid(
        'metadata.finalizers',
        finalizers,
        'finalizer orphan and foregroundDeletion cannot be both set',
      ),
    );
  return errors;
}

// ---------------------------------------------------------------- format

/** Parses a member; undefined omits it. */
type Reader = (value: unknown, key: string) => unknown;

const text: Reader = (value, key) => {
  if (typeof value !== 'string') throw wrongType(typeName(value), key, 'string');
  return value === '' ? undefined : value;
};

const whole: Reader = (value, key) => {
  if (typeof value !== 'number') throw wrongType(typeName(value), key, 'int64');
  return value;
};

const list =
  (type: string): Reader =>
  (value, key) => {
    if (!Array.isArray(value)) throw wrongType(typeName(value), key, type);
    return value.length === 0 ? undefined : value;
  };

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ...['name', 'generateName', 'namespace', 'selfLink', 'uid', 'resourceVersion'].map(
    (key): [string, Reader] => [key, text],
  ),
  ['creationTimestamp', time],
  ['deletionTimestamp', time],
  ['generation', whole],
  ['deletionGracePeriodSeconds', whole],
  ['labels', stringMap],
  ['annotations', stringMap],
  [
    'finalizers',
    (value, key) => {
      const items = list('[]string')(value, key) as unknown[] | undefined;
      for (const item of items ?? [])
        if (typeof item !== 'string') throw wrongType(typeName(item), key, 'string');
      return items;
    },
  ],
  ['ownerReferences', list('[]v1.OwnerReference')],
  [
    'managedFields',
    // An empty list requests a reset of managedFields.
    (value, key) => (Array.isArray(value) ? value : list('[]v1.ManagedFieldsEntry')(value, key)),
  ],
]);

/**
 * Metadata in the stored format: known members of the right type, no empty ones.
 * @throws ApiError 400 for wrong types
 */
export function normalizeMeta(raw: unknown, unknown: string[], path = 'metadata'): ObjectMeta {
  if (raw === undefined || raw === null) return { name: '' };
  if (!isObject(raw)) throw wrongType(typeName(raw), '', 'v1.ObjectMeta');
  const meta: JsonObject = { name: '' };
  for (const [key, value] of Object.entries(raw)) {
    if (value === null || value === undefined) continue;
    const read = READERS.get(key);
    if (!read) {
      unknown.push(`${path}.${key}`);
      continue;
    }
    const kept = read(value, key);
    if (kept !== undefined) meta[key] = kept;
  }
  return meta as unknown as ObjectMeta;
}

function stringMap(value: unknown, key: string): Record<string, string> | undefined {
  if (!isObject(value)) throw wrongType(typeName(value), key, 'map[string]string');
  const entries = Object.entries(value).map(([k, v]): [string, string] => {
    if (v === null) return [k, ''];
    if (typeof v !== 'string') throw wrongType(typeName(v), key, 'string');
    return [k, v];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function time(value: unknown, key: string): string {
  const parsed = typeof value === 'string' ? Date.parse(value) : NaN;
  if (Number.isNaN(parsed)) {
    if (typeof value !== 'string') throw wrongType(typeName(value), key, 'v1.Time');
    throw badRequest(
      `parsing time ${JSON.stringify(JSON.stringify(value))} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`,
    );
  }
  return `${new Date(parsed).toISOString().slice(0, 19)}Z`;
}

const wrongType = (actual: string, key: string, expected: string): Error =>
  badRequest(
    key === ''
      ? `json: cannot unmarshal ${actual} into Go value of type ${expected}`
      : `json: cannot unmarshal ${actual} into Go struct field ObjectMeta.${key} of type ${expected}`,
  );

const typeName = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'object'
      ? 'object'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value;

/** Drops duplicate owners and adds a warning. */
export function dropDuplicateOwners(meta: ObjectMeta, warnings: string[]): void {
  const owners = meta.ownerReferences;
  if (!owners || owners.length < 2) return;
  const seen = new Set<string>();
  const kept = owners.filter((owner) => !seen.has(owner.uid) && seen.add(owner.uid));
  if (kept.length === owners.length) return;
  const uids = [...new Set(owners.map((o) => o.uid).filter((uid, i, all) => all.indexOf(uid) !== i))];
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`,
  );
  meta.ownerReferences = kept;
}
