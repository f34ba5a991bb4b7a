/**
 * Which members of a built-in kind its Go type keeps. For Go, `""`, `0`, `false` and an empty list equal an absent
 * member unless the field is a pointer, so these are absent for defaults and rules; and its encoder writes some fields
 * although they are empty. Both follow from the types, never from a list of fields.
 */
import { table } from '../../lib/objects.ts';
import { fieldsOf, messageOf } from '../protobuf/messages.ts';
import type { MessageField } from '../protobuf/messages.ts';
import { isObject } from '../types.ts';
import type { JsonObject } from '../types.ts';
import type { Kind } from './kinds.ts';

/** A value without members of its own, unless it is a struct. */
interface Value {
  /** What an empty field is written as; undefined for structs, whose members decide. */
  readonly zero: unknown;
  /** The members of a struct. */
  readonly struct?: Struct;
  /** The struct where it is one of several forms of a value: a schema instead of a boolean. */
  readonly form?: Struct;
}

interface Member {
  readonly value: Value;
  /** Servers drop it. */
  readonly isDropped: boolean;
  readonly isPointer: boolean;
  readonly isList: boolean;
  readonly isMap: boolean;
  readonly isWritten: boolean;
  /** Whether its values are structs. */
  readonly isDeep: boolean;
}

interface Struct {
  readonly members: ReadonlyMap<string, Member>;
  /** Those that `writeEmpty` visits. */
  readonly visited: readonly (readonly [name: string, member: Member])[];
}

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';

/** Messages with a JSON form of their own, and how it is written when empty. */
const PLAIN: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['string', ''],
  ['bytes', ''],
  ['bool', false],
  ...['int32', 'int64', 'uint32', 'uint64', 'double', 'float'].map((name): [string, unknown] => [name, 0]),
  ['k8s.io.apimachinery.pkg.util.intstr.IntOrString', 0],
  ['k8s.io.apimachinery.pkg.api.resource.Quantity', '0'],
  ['k8s.io.apimachinery.pkg.runtime.RawExtension', null],
  ...['Time', 'MicroTime', 'FieldsV1', 'Verbs'].map((name): [string, unknown] => [`${META}.${name}`, null]),
  [`${META}.Duration`, '0s'],
  ...['authentication', 'authorization', 'certificates'].map((name): [string, unknown] => [
    `k8s.io.api.${name}.v1.ExtraValue`,
    null,
  ]),
  [`${EXTENSIONS}.JSON`, null],
]);

const CORE = 'k8s.io.api.core.v1';

/** Members that a server drops with its default feature gates, and those of features that no longer exist. */
const DROPPED: Readonly<Record<string, readonly string[]>> = table({
  [`${CORE}.Container`]: ['restartPolicyRules'],
  [`${CORE}.EnvVarSource`]: ['fileKeyRef'],
  [`${CORE}.Lifecycle`]: ['stopSignal'],
  [`${CORE}.NodeSpec`]: ['configSource'],
  [`${CORE}.NodeStatus`]: ['config'],
  [`${CORE}.PodSpec`]: ['hostnameOverride'],
  [`${CORE}.PodStatus`]: ['extendedResourceClaimStatus'],
  [`${CORE}.VolumeProjection`]: ['clusterTrustBundle', 'podCertificate'],
  'k8s.io.api.apps.v1.DeploymentStatus': ['terminatingReplicas'],
  'k8s.io.api.apps.v1.ReplicaSetStatus': ['terminatingReplicas'],
  'k8s.io.api.apps.v1.RollingUpdateStatefulSetStrategy': ['maxUnavailable'],
  'k8s.io.api.autoscaling.v2.HPAScalingRules': ['tolerance'],
  'k8s.io.api.coordination.v1.LeaseSpec': ['preferredHolder', 'strategy'],
  'k8s.io.api.discovery.v1.Endpoint': ['deprecatedTopology'],
  'k8s.io.api.storage.v1.CSIDriverSpec': ['nodeAllocatableUpdatePeriodSeconds'],
});

const SCHEMA_OR = /\.JSONSchemaPropsOr(?:Array|Bool|StringArray)$/;

const structs = new Map<string, Struct>();

/** The members of a message; those of inlined structs are its own. */
function structOf(message: string): Struct {
  let struct = structs.get(message);
  if (!struct) {
    const fields = [...(fieldsOf(message)?.values() ?? [])];
    struct = toStruct(fields.flatMap((field) => membersOf(field, DROPPED[message] ?? [])));
    structs.set(message, struct);
  }
  return struct;
}

const toStruct = (members: readonly (readonly [string, Member])[]): Struct => ({
  members: new Map(members),
  visited: members.filter(([, { isWritten, isDeep }]) => isWritten || isDeep),
});

function membersOf(
  [, name, type, flags]: MessageField,
  dropped: readonly string[],
): (readonly [string, Member])[] {
  const has = (flag: string): boolean => flags.includes(flag);
  if (has('i')) return [...structOf(type).members];
  const isMap = type.startsWith('map ');
  const value = valueOf(isMap ? type.slice(4) : type);
  const isDeep = value.zero === undefined || 'form' in value;
  const kept = {
    isPointer: has('p'),
    isList: has('r'),
    isMap,
    isWritten: has('w'),
    isDropped: dropped.includes(name),
  };
  return [[name, { value, ...kept, isDeep }]];
}

function valueOf(type: string): Value {
  if (SCHEMA_OR.test(type)) {
    return {
      zero: null,
      get form() {
        return structOf(`${EXTENSIONS}.JSONSchemaProps`);
      },
    };
  }
  if (PLAIN.has(type)) return { zero: PLAIN.get(type) };
  // Types refer to each other.
  return {
    zero: undefined,
    get struct() {
      return structOf(type);
    },
  };
}

type TypeName = Pick<Kind, 'apiVersion' | 'kind'>;

const kinds = new WeakMap<Kind, Struct>();

function structOfKind(kind: Kind): Struct {
  let struct = kinds.get(kind);
  if (!struct) kinds.set(kind, (struct = rootStruct(kind)));
  return struct;
}

function rootStruct({ apiVersion, kind }: TypeName): Struct {
  const { members } = structOf(messageOf(apiVersion, kind) ?? '');
  // Metadata is the same for all kinds, see verbs/meta.ts.
  return toStruct([...members].filter(([name]) => name !== 'metadata'));
}

/** What an object is written as when no field is set, so setting these fields to the same is not a change. */
export function emptyObject(type: TypeName): JsonObject {
  const object: JsonObject = { metadata: {} };
  writeIn(rootStruct(type), object);
  return object;
}

/** Removes the members that are absent for Go, in place. */
export function dropEmpty(kind: Kind, object: JsonObject): void {
  dropIn(structOfKind(kind), object);
}

/** Adds the empty members that Go's encoder writes, in place. */
export function writeEmpty(kind: Kind, object: JsonObject): void {
  writeIn(structOfKind(kind), object);
}

function dropIn(struct: Struct, object: JsonObject): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    const member = struct.members.get(name);
    // Messages do not contain the type of an embedded object.
    if (value === null || member?.isDropped || (!member && value === '')) delete object[name];
    else if (member) dropMember(member, object, name, value);
  }
}

function dropMember(member: Member, object: JsonObject, name: string, value: unknown): void {
  if (member.isMap || member.isList) {
    const items = typeof value === 'object' && value !== null ? Object.values(value) : [value];
    if (items.length === 0) delete object[name];
    else if (member.isDeep) items.forEach((item) => dropInside(member.value, item));
  } else if (member.isDeep) dropInside(member.value, value);
  else if (!member.isPointer && (value === member.value.zero || value === '')) delete object[name];
}

function dropInside(type: Value, value: unknown): void {
  const struct = type.struct ?? type.form;
  if (struct && isObject(value)) dropIn(struct, value);
  else if (struct && Array.isArray(value)) value.forEach((item: unknown) => dropInside(type, item));
}

function writeIn(struct: Struct, object: JsonObject): void {
  for (const [name, member] of struct.visited) {
    const value = object[name];
    if (value === undefined) {
      if (member.isWritten) object[name] = emptyOf(member);
    } else if (member.isDeep) writeInside(member, value);
  }
}

function emptyOf({ isList, isMap, isPointer, value }: Member): unknown {
  if (isList || isMap || isPointer) return null;
  if (!value.struct) return value.zero;
  const empty: JsonObject = {};
  writeIn(value.struct, empty);
  return empty;
}

function writeInside({ value: type, isMap }: Member, value: unknown): void {
  const struct = type.struct ?? type.form;
  if (!struct) return;
  if (Array.isArray(value)) {
    for (const item of value) if (isObject(item)) writeIn(struct, item);
  } else if (isObject(value)) {
    if (!isMap) writeIn(struct, value);
    else for (const item of Object.values(value)) if (isObject(item)) writeIn(struct, item);
  }
}
