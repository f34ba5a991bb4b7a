/**
 * The field managers of our commands. A user who rolls back an installation states its intent as with `espalier apply`, so
 * `apply` owns the fields that other commands of ours have written: otherwise it conflicts with ourselves, and does
 * not remove what a rollback has added.
 */
import { isObject, ownField } from '../lib/objects.ts';
import { Conflict } from '../runtime/errors.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import type { Client, Kind, Obj } from '../runtime/types.ts';

/** Of all requests of commands that name no other one. */
export const CLI_MANAGER = 'espalier-cli';
/** Of `espalier apply`. */
export const APPLY_MANAGER = 'espalier-apply';

type Entry = Readonly<Record<string, unknown>>;

const isOf = (manager: string, operation: string) => (entry: Entry) =>
  entry['manager'] === manager && entry['operation'] === operation && !entry['subresource'];

/** Fields of both; a set of fields is nested objects, so that lists need no rules. */
function union(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b)) return a ?? b;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...keys].map((key) => [key, union(ownField(a, key), ownField(b, key))]));
}

/**
 * The managed fields of an object with the spec of our other commands moved to `apply`. Pure.
 * @returns undefined if `apply` does not manage the object, or if there is nothing to move
 */
export function movedToApply(managedFields: unknown): readonly Entry[] | undefined {
  const entries = Array.isArray(managedFields) ? (managedFields as unknown[]).filter(isObject) : [];
  const from = entries.filter(isOf(CLI_MANAGER, 'Update'));
  const specs = from.map(({ fieldsV1 }) => ownField(fieldsV1, 'f:spec')).filter((spec) => spec !== undefined);
  const to = entries.find(isOf(APPLY_MANAGER, 'Apply'));
  if (!to || specs.length === 0) return undefined;
  return entries.flatMap((entry): Entry[] => {
    const fields = isObject(entry['fieldsV1']) ? entry['fieldsV1'] : {};
    if (entry === to) {
      const spec = specs.reduce<unknown>(union, ownField(fields, 'f:spec'));
      return [{ ...entry, fieldsV1: { ...fields, 'f:spec': spec } }];
    }
    if (!from.includes(entry)) return [entry];
    const { 'f:spec': _, ...rest } = fields;
    return Object.keys(rest).length > 0 ? [{ ...entry, fieldsV1: rest }] : [];
  });
}

const MAX_ATTEMPTS = 10;

/**
 * Lets `apply` own the spec that our other commands have written to an object.
 * @returns whether it owns more than before
 */
export async function moveToApply(client: Client, kind: Kind, key: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const found: Obj | undefined = await getIfThere(client, kind, key);
    const managedFields = movedToApply(found?.metadata.managedFields);
    if (!found || !managedFields) return false;
    const { resourceVersion } = found.metadata;
    try {
      await client.send({ verb: 'merge', kind, key, body: { metadata: { resourceVersion, managedFields } } });
      return true;
    } catch (error) {
      // The controllers write to the object, too.
      if (!(error instanceof Conflict) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
