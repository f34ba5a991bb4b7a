/** Strategic merge patch rules of a built-in kind: which members are merged, and by which key. */
import { kindsData, REF } from '../kinds/schemas.ts';
import type { JsonSchema } from '../schema/types.ts';

/** The rules for one place in an object. */
export interface PatchKeys {
  readonly isMerged: boolean;
  readonly isReplaced: boolean;
  readonly mergeKey: string | undefined;
  /** The rules for a member of this map. */
  member(name: string): PatchKeys;
  /** The rules for the items of this list. */
  readonly items: PatchKeys;
}

/** Without rules, maps are merged and lists are replaced. */
export const plainKeys: PatchKeys = {
  isMerged: false,
  isReplaced: false,
  mergeKey: undefined,
  member: () => plainKeys,
  get items() {
    return plainKeys;
  },
};

const cache = new Map<JsonSchema, PatchKeys>();

function keysOf(schema: JsonSchema | undefined): PatchKeys {
  if (!schema) return plainKeys;
  let found = cache.get(schema);
  if (!found) cache.set(schema, (found = makeKeys(schema)));
  return found;
}

function makeKeys(schema: JsonSchema): PatchKeys {
  const body = bodyOf(schema);
  const strategies = (schema['x-kubernetes-patch-strategy'] ?? '').split(',');
  const values = typeof body?.additionalProperties === 'object' ? body.additionalProperties : undefined;
  return {
    isMerged: strategies.includes('merge'),
    isReplaced: strategies.includes('replace'),
    mergeKey: schema['x-kubernetes-patch-merge-key'],
    member: (name) => keysOf(body?.properties?.[name] ?? values),
    get items() {
      return keysOf(body?.items);
    },
  };
}

/** The schema itself, or the referenced one. */
function bodyOf(schema: JsonSchema): JsonSchema | undefined {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return ref === undefined ? schema : kindsData().schemas[ref.slice(REF.length)];
}

/** The rules of a built-in kind; undefined if upstream has no such kind, and strategic merge is refused. */
export function patchKeysOf(group: string, version: string, kind: string): PatchKeys | undefined {
  const name = kindsData().nameOf(group, version, kind);
  return name === undefined ? undefined : keysOf(kindsData().schemas[name]);
}
