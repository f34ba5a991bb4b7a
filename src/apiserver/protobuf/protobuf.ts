/**
 * Decodes request bodies in protobuf, which Go programs send for built-in kinds, to JSON.
 *
 * Go writes every scalar that is not a pointer, so `""`, `0` and `false` arrive for unset fields as well as for
 * fields that were set explicitly. The type data resolves this: zero values of pointer fields were set explicitly.
 */
import { fieldsOf, messageOf } from './messages.ts';
import type { MessageField } from './messages.ts';
import { decodeSpecial } from './special.ts';
import { fieldsOnWire } from './wire.ts';
import type { WireField } from './wire.ts';
import { isObject } from '../types.ts';
import type { JsonObject } from '../types.ts';

/** The body is not a supported protobuf message. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}

const MAGIC = Buffer.from('k8s\0');
/** @throws ProtobufError */
export function decodeProtobuf(body: Buffer): JsonObject {
  if (!body.subarray(0, 4).equals(MAGIC))
    throw new ProtobufError(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  try {
    const envelope = byNumber(body.subarray(4));
    const typeMeta = byNumber(envelope.get(1)?.bytes ?? Buffer.alloc(0));
    const apiVersion = typeMeta.get(1)?.bytes?.toString() ?? '';
    const kind = typeMeta.get(2)?.bytes?.toString() ?? '';
    const raw = envelope.get(2)?.bytes ?? Buffer.alloc(0);
    return { kind, apiVersion, ...decodeMessage(knownMessage(apiVersion, kind), raw) };
  } catch (error) {
    if (error instanceof ProtobufError) throw error;
    throw new ProtobufError('unable to decode the protobuf body', { cause: error });
  }
}

const byNumber = (bytes: Buffer): Map<number, WireField> =>
  new Map(fieldsOnWire(bytes).map((f) => [f.number, f]));

/** @throws ProtobufError */
function knownMessage(apiVersion: string, kind: string): string {
  const found = messageOf(apiVersion, kind);
  if (found === undefined)
    throw new ProtobufError(
      `no kind ${JSON.stringify(kind)} is known for version ${JSON.stringify(apiVersion)} in protobuf`,
    );
  return found;
}

function decodeMessage(name: string, bytes: Buffer): JsonObject {
  const message = fieldsOf(name);
  if (!message) throw new ProtobufError(`no protobuf message is called ${name}`);
  const result: JsonObject = {};
  for (const wire of fieldsOnWire(bytes)) {
    const field = message.get(wire.number);
    if (field) put(result, field, wire);
  }
  return result;
}

function put(result: JsonObject, [, member, type, flags]: MessageField, wire: WireField): void {
  if (type.startsWith('map ')) {
    const map = isObject(result[member]) ? result[member] : (result[member] = {});
    const entry = byNumber(wire.bytes ?? Buffer.alloc(0));
    const value = entry.get(2);
    map[entry.get(1)?.bytes?.toString() ?? ''] = decodeValue(
      type.slice(4),
      value ?? { number: 2, bytes: Buffer.alloc(0), value: 0n },
    );
    return;
  }
  if (flags.includes('i')) {
    Object.assign(result, decodeMessage(type, wire.bytes ?? Buffer.alloc(0)));
    return;
  }
  const value = decodeValue(type, wire);
  if (flags.includes('r')) {
    const list = (result[member] ??= []) as unknown[];
    list.push(value);
  } else if (flags.includes('p') || !isZero(value)) result[member] = value;
}

const isZero = (value: unknown): boolean =>
  value === '' ||
  value === 0 ||
  value === false ||
  value === null ||
  (isObject(value) && Object.keys(value).length === 0);

function decodeValue(type: string, wire: WireField): unknown {
  const bytes = wire.bytes ?? Buffer.alloc(0);
  switch (type) {
    case 'string':
      return bytes.toString('utf8');
    case 'bytes':
      return bytes.toString('base64');
    case 'bool':
      return wire.value !== undefined && wire.value !== 0n;
    case 'int32':
    case 'int64':
      return Number(BigInt.asIntN(64, wire.value ?? 0n));
    case 'uint32':
    case 'uint64':
      return Number(wire.value ?? 0n);
    case 'double':
      return bytes.length === 8 ? bytes.readDoubleLE(0) : 0;
    case 'float':
      return bytes.length === 4 ? bytes.readFloatLE(0) : 0;
    default: {
      const special = decodeSpecial(type, bytes, decodeMessage);
      return special === undefined ? decodeMessage(type, bytes) : special.value;
    }
  }
}
