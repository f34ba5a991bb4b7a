/** Ownership of the fields of built-in kinds. */
import { customObjectType, objectMeta, typeOfSchema, type FieldType, type MapType } from './field-types.ts';
import { emptyObject } from '../kinds/go-values.ts';
import { kindsData, REF } from '../kinds/schemas.ts';
import type { ObjectType } from './managed-fields.ts';
import type { JsonSchema } from '../schema/types.ts';

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

/** The type of a built-in kind; undefined if upstream has no such kind. */
export function builtinObjectType(group: string, version: string, kind: string): ObjectType | undefined {
  const name = kindsData().nameOf(group, version, kind);
  if (name === undefined) return undefined;
  let found = objectTypes.get(name);
  if (!found) {
    const root = resolve(REF + name) as MapType;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    found = { root, zero: emptyObject({ apiVersion, kind }), dropsNulls: true };
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
