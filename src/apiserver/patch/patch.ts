/**
 * JSON patch and JSON merge patch as in upstream, including its quirks: `replace` of a missing object member adds
 * it, and list indices may be negative.
 *
 * @see RFC 6902, RFC 7386
 */
import { copy, equal } from '../../lib/json.ts';
import { isObject, type JsonObject } from '../types.ts';

/** A patch that cannot be applied; `code` and `reason` are for the Status. */
export class PatchError extends Error {
  readonly code: number;
  readonly reason: string | undefined;

  constructor(code: number, reason: string | undefined, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatchError';
    this.code = code;
    this.reason = reason;
  }
}

const MAX_OPERATIONS = 10_000;

const badPatch = (why: string): PatchError =>
  new PatchError(400, 'BadRequest', `error decoding patch: ${why}`);

/** An operation that does not apply; upstream does not report the cause, so it is only in `cause`. */
const rejected = (why: string): PatchError =>
  new PatchError(422, 'Invalid', 'the server rejected our request due to an error in our request', {
    cause: new Error(why),
  });

/** The JSON type of a value with the name that Go's decoder uses. */
export const goTypeName = (value: unknown): string =>
  Array.isArray(value)
    ? 'array'
    : typeof value === 'boolean'
      ? 'bool'
      : value === null
        ? 'null'
        : typeof value;

/**
 * `target` with the merge patch applied; unchanged parts are shared.
 * @throws PatchError 400 if the patch is not an object
 */
export function applyMergePatch<T extends object>(target: T, patch: unknown): T {
  if (patch === null) throw new PatchError(400, 'BadRequest', 'Invalid JSON Patch');
  if (!isObject(patch))
    throw badPatch(
      `json: cannot unmarshal ${goTypeName(patch)} into Go value of type map[string]interface {}`,
    );
  return merged(target as unknown as JsonObject, patch) as unknown as T;
}

function merged(target: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...target };
  for (const name of Object.keys(patch)) {
    const value = patch[name];
    const current = result[name];
    if (value === null || value === undefined) delete result[name];
    else if (current === null || current === undefined) result[name] = withoutNulls(value);
    else if (isObject(value)) result[name] = isObject(current) ? merged(current, value) : withoutNulls(value);
    else result[name] = isObject(current) ? value : withoutNulls(value);
  }
  return result;
}

/** Nulls in a new object mean "no such member"; nulls in lists are values. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (item === null ? null : withoutNulls(item)));
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const name of Object.keys(value)) {
    if (value[name] !== null) result[name] = withoutNulls(value[name]);
  }
  return result;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from: string | undefined;
  readonly value: unknown;
  readonly hasValue: boolean;
}

/**
 * A copy of `target` with the operations applied in order.
 * @throws PatchError 400 if the patch is not a list of operations, 413 if it is too long, 422 if an operation does
 * not apply
 */
export function applyJsonPatch<T extends object>(target: T, operations: unknown): T {
  if (!Array.isArray(operations))
    throw badPatch(
      `json: cannot unmarshal ${goTypeName(operations)} into Go value of type []handlers.jsonPatchOp`,
    );
  if (operations.length > MAX_OPERATIONS) {
    const limit = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${operations.length}`;
    throw new PatchError(413, 'RequestEntityTooLarge', `Request entity too large: ${limit}`);
  }
  const root: { document: unknown } = { document: copy(target) };
  for (const operation of operations) applyOperation(root, readOperation(operation));
  return root.document as T;
}

function readOperation(raw: unknown): Operation {
  if (!isObject(raw))
    throw badPatch(`json: cannot unmarshal ${goTypeName(raw)} into Go value of type handlers.jsonPatchOp`);
  if (typeof raw['path'] !== 'string') throw rejected('operation missing path field');
  return {
    op: typeof raw['op'] === 'string' ? raw['op'] : 'unknown',
    path: raw['path'],
    from: typeof raw['from'] === 'string' ? raw['from'] : undefined,
    value: raw['value'],
    hasValue: raw['value'] !== undefined,
  };
}

function applyOperation(root: { document: unknown }, operation: Operation): void {
  const { op, path, from } = operation;
  const value = (): unknown => copy(operation.value ?? null);
  switch (op) {
    case 'add':
      add(locate(root.document, path), value());
      return;
    case 'remove':
      remove(locate(root.document, path));
      return;
    case 'replace':
      if (path === '') root.document = value();
      else replace(locate(root.document, path), value());
      return;
    case 'move': {
      const source = locate(root.document, from);
      const moved = get(source);
      remove(source);
      add(locate(root.document, path), moved ?? null);
      return;
    }
    case 'copy':
      add(locate(root.document, path), copy(get(locate(root.document, from)) ?? null));
      return;
    case 'test':
      test(root.document, operation);
      return;
    default:
      throw rejected(`unexpected kind: ${op}`);
  }
}

/** The container of a pointer's last segment, and that segment. */
interface Place {
  readonly container: JsonObject | unknown[];
  readonly key: string;
  readonly pointer: string;
}

/** The first segment is ignored, as in upstream, even if the pointer has no leading slash. */
function locate(document: unknown, pointer: string | undefined): Place {
  const segments = (pointer ?? '').split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (pointer === undefined || segments.length < 2) throw rejected(`doc is missing path: "${pointer ?? ''}"`);
  let container = document;
  for (const segment of segments.slice(1, -1)) {
    container = isContainer(container) ? get({ container, key: segment, pointer }) : undefined;
  }
  if (!isContainer(container)) throw rejected(`doc is missing path: "${pointer}"`);
  return { container, key: segments.at(-1) ?? '', pointer };
}

const isContainer = (value: unknown): value is JsonObject | unknown[] =>
  isObject(value) || Array.isArray(value);

/** An index into a list of `length`; negative ones count from its end. */
function indexOf(place: Place, length: number): number {
  if (!/^[+-]?\d+$/.test(place.key)) throw rejected(`not a list index: '${place.key}' in '${place.pointer}'`);
  const index = Number(place.key);
  if (index >= length || index < -length) throw rejected(`no index ${index} in '${place.pointer}'`);
  return index < 0 ? index + length : index;
}

function get(place: Place): unknown {
  const { container, key } = place;
  if (Array.isArray(container)) return container[indexOf(place, container.length)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function add(place: Place, value: unknown): void {
  const { container, key } = place;
  if (!Array.isArray(container)) container[key] = value;
  else if (key === '-') container.push(value);
  else container.splice(indexOf(place, container.length + 1), 0, value);
}

function remove(place: Place): void {
  const { container, key } = place;
  if (Array.isArray(container)) {
    container.splice(indexOf(place, container.length), 1);
    return;
  }
  if (!Object.hasOwn(container, key)) throw rejected(`unable to remove nonexistent key: ${key}`);
  delete container[key];
}

function replace(place: Place, value: unknown): void {
  const { container, key } = place;
  if (Array.isArray(container)) container[indexOf(place, container.length)] = value;
  else container[key] = value;
}

function test(document: unknown, operation: Operation): void {
  const found = operation.path === '' ? document : get(locate(document, operation.path));
  if (!equal(found ?? null, operation.value ?? null))
    throw rejected(`testing value ${operation.path} failed`);
}
