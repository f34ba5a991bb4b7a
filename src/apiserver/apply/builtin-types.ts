/** Ownership of the fields of built-in kinds, and the content of their empty objects. */
import { customObjectType, objectMeta, typeOfSchema, type FieldType, type MapType } from './field-types.ts';
import { kindsData, REF, type NamedSchema } from '../kinds/schemas.ts';
import type { ObjectType } from './managed-fields.ts';
import type { JsonSchema } from '../schema/types.ts';
import { isObject, type JsonObject } from '../types.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

const types = new Map<string, FieldType>();
const objectTypes = new Map<string, ObjectType>();

function resolve(ref: string): FieldType {
  const name = ref.slice(REF.length);
  if (name === OBJECT_META) return objectMeta;
  let type = types.get(name);
  if (!type) types.set(name, (type = typeOfSchema(kindsData().schemas[name], resolve)));
  return type;
}

/** Members that Go programs always write although the schema does not require them. */
const ALWAYS_PRINTED: Readonly<Record<string, JsonObject>> = {
  'io.k8s.api.core.v1.Event': {
    eventTime: null,
    firstTimestamp: null,
    lastTimestamp: null,
    reportingComponent: '',
    reportingInstance: '',
  },
  'io.k8s.api.events.v1.Event': {
    eventTime: null,
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
  },
};

/** The type of a built-in kind; undefined if upstream has no such kind. */
export function builtinObjectType(group: string, version: string, kind: string): ObjectType | undefined {
  const name = kindsData().nameOf(group, version, kind);
  if (name === undefined) return undefined;
  let found = objectTypes.get(name);
  if (!found) {
    const root = resolve(REF + name) as MapType;
    const zero = { ...zeroOf(kindsData().schemas[name] ?? {}), ...ALWAYS_PRINTED[name] };
    found = { root, zero, dropsNulls: true };
    objectTypes.set(name, found);
  }
  return found;
}

/** The type of a custom kind by the schema of its version. */
export const customType = (schema: JsonSchema | undefined): ObjectType => ({
  root: customObjectType(schema),
  zero: {},
  dropsNulls: false,
});

/**
 * The object of a kind as a Go program serialises it when no field is set: structs are present and empty, required
 * lists are null, required strings empty. Setting such a field is not a change.
 */
function zeroOf(schema: NamedSchema): JsonObject {
  const zero: JsonObject = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const target = targetOf(property);
    const isRequired = schema.required?.includes(name) === true;
    if (target?.properties && isEmptyObject(property.default)) zero[name] = zeroOf(target);
    else if (isRequired) zero[name] = property.default ?? null;
  }
  return zero;
}

function targetOf(property: JsonSchema): NamedSchema | undefined {
  const ref = property.$ref ?? property.allOf?.[0]?.$ref;
  return ref === undefined ? undefined : kindsData().schemas[ref.slice(REF.length)];
}

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0;
