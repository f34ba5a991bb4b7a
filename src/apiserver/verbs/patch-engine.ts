/** From a patch to an object: applies the patch by media type, and checks the result. Pure. */
import { append } from '../../lib/lists.ts';
import type { Call } from '../api.ts';
import { mediaType, wholeJson } from '../http/body.ts';
import { checkBuiltIn, DecodeError } from '../kinds/builtin-check.ts';
import * as field from '../schema/field-errors.ts';
import type { Kind } from '../kinds/kinds.ts';
import { dropDuplicateOwners, normalizeMeta } from './meta.ts';
import type { WriteOptions } from '../http/options.ts';
import { applyJsonPatch, applyMergePatch, PatchError } from '../patch/patch.ts';
import { ApiError, badRequest, invalid, unsupportedMediaType } from '../status.ts';
import { applyStrategicMerge, goMap, patchKeysOf } from '../patch/strategic.ts';
import { cloneJson } from '../types.ts';
import { inOrderOf } from './writer.ts';
import type { KubeObject } from '../types.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
export const APPLY = 'application/apply-patch+yaml';

/** @throws ApiError 415 for media types that the kind does not support */
export function engine(type: string, kind: Kind, call: Call): (live: KubeObject) => KubeObject {
  switch (type) {
    case MERGE_PATCH: {
      const patch = parse(call.body);
      return (live) => rescued(() => applyMergePatch(live, patch));
    }
    case JSON_PATCH: {
      const operations = parse(call.body);
      return (live) => rescued(() => applyJsonPatch(live, operations));
    }
    case STRATEGIC: {
      const keys = kind.builtIn ? patchKeysOf(kind.group, kind.version, kind.kind) : undefined;
      if (!keys) throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH, APPLY]);
      const patch = parse(call.body);
      return (live) => rescued(() => applyStrategicMerge(live, patch, keys));
    }
    default:
      throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type');
  }
}

function parse(body: Buffer): unknown {
  try {
    return wholeJson(body.toString('utf8'));
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`);
  }
}

function rescued<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof PatchError)
      throw new ApiError(error.code, error.reason, error.message, error.code === 422 ? {} : undefined);
    throw error;
  }
}

/**
 * The patched object in stored form: metadata checked, unknown members dropped, nothing shared with the live object.
 */
export function shape(
  kind: Kind,
  call: Call,
  options: WriteOptions,
  patched: KubeObject,
  live: KubeObject | undefined,
): KubeObject {
  const unknown: string[] = [];
  const { managedFields, ...meta } = patched.metadata;
  const object = cloneJson<KubeObject>({
    ...patched,
    kind: kind.kind,
    apiVersion: kind.apiVersion,
    metadata: meta,
  });
  object.metadata = normalizeMeta(object.metadata, unknown);
  if (managedFields !== undefined)
    object.metadata.managedFields =
      managedFields === live?.metadata.managedFields ? managedFields : cloneJson(managedFields);
  let result = object;
  if (kind.schema) {
    if (options.fieldValidation !== 'Ignore') append(unknown, kind.schema.unknownFields(object));
    result = kind.schema.prune(object);
  } else if (kind.builtIn) decoded(kind, call, object, unknown);
  dropDuplicateOwners(result.metadata, call.warnings);
  if (unknown.length > 0 && options.fieldValidation !== 'Ignore') {
    const findings = inOrderOf(sortedMembers(patched), unknown).map(
      (path) => `unknown field ${JSON.stringify(path)}`,
    );
    if (options.fieldValidation === 'Strict')
      throw invalid({ group: '', kind: '' }, '', [
        field.invalid('patch', blamed(call, patched), `strict decoding error: ${findings.join(', ')}`),
      ]);
    append(call.warnings, findings);
  }
  return result;
}

/** What an error message shows: a strategic patch itself, or the result of another patch. */
const blamed = (call: Call, patched: KubeObject): string =>
  mediaType(call) === STRATEGIC ? goMap(parse(call.body)) : JSON.stringify(sortedMembers(patched));

const sortedMembers = (object: KubeObject): object =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));

function decoded(kind: Kind, call: Call, object: KubeObject, unknown: string[]): void {
  try {
    checkBuiltIn(kind, object, unknown);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw invalid({ group: '', kind: '' }, '', [field.invalid('patch', blamed(call, object), error.message)]);
  }
}
