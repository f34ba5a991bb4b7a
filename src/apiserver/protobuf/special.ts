/** Messages with a special JSON form: quantities, times, numbers or strings, embedded JSON. Pure. */
import { table } from '../../lib/objects.ts';
import { fieldsOnWire } from './wire.ts';
import type { WireField } from './wire.ts';
import type { JsonObject } from '../types.ts';

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1';
const EXTENSIONS = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1';

type Fields = ReadonlyMap<number, readonly WireField[]>;
type DecodeMessage = (name: string, bytes: Buffer) => JsonObject;
type Special = (fields: Fields, decode: DecodeMessage) => unknown;

const first = (fields: Fields, number: number): WireField | undefined => fields.get(number)?.[0];
const text = (fields: Fields, number: number): string => first(fields, number)?.bytes?.toString() ?? '';
const number = (fields: Fields, at: number): number =>
  Number(BigInt.asIntN(64, first(fields, at)?.value ?? 0n));
const json = (fields: Fields): unknown => {
  const raw = text(fields, 1);
  return raw === '' ? null : (JSON.parse(raw) as unknown);
};
const strings = (fields: Fields): string[] => (fields.get(1) ?? []).map((f) => f.bytes?.toString() ?? '');

function time(fields: Fields, decimals: number): string | null {
  if (fields.size === 0) return null;
  const seconds = number(fields, 1);
  const nanos = number(fields, 2);
  const base = new Date(seconds * 1000).toISOString().slice(0, 19);
  return decimals === 0 ? `${base}Z` : `${base}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z`;
}

/** A schema, a list of schemas, a boolean, or a list of strings. */
const schemaOr =
  (other: (fields: Fields, decode: DecodeMessage) => unknown, schemaField: number): Special =>
  (fields, decode) => {
    const schema = first(fields, schemaField)?.bytes;
    return schema === undefined ? other(fields, decode) : decode(`${EXTENSIONS}.JSONSchemaProps`, schema);
  };

const SPECIAL: Readonly<Record<string, Special>> = table({
  'k8s.io.apimachinery.pkg.api.resource.Quantity': (fields) => text(fields, 1),
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': (fields) =>
    number(fields, 1) === 1 ? text(fields, 3) : number(fields, 2),
  [`${META}.Time`]: (fields) => time(fields, 0),
  [`${META}.MicroTime`]: (fields) => time(fields, 6),
  [`${META}.FieldsV1`]: json,
  [`${META}.Verbs`]: strings,
  'k8s.io.apimachinery.pkg.runtime.RawExtension': json,
  'k8s.io.api.authentication.v1.ExtraValue': strings,
  'k8s.io.api.authorization.v1.ExtraValue': strings,
  'k8s.io.api.certificates.v1.ExtraValue': strings,
  [`${EXTENSIONS}.JSON`]: json,
  [`${EXTENSIONS}.JSONSchemaPropsOrBool`]: schemaOr((fields) => number(fields, 1) !== 0, 2),
  [`${EXTENSIONS}.JSONSchemaPropsOrArray`]: schemaOr(
    (fields, decode) =>
      (fields.get(2) ?? []).map((f) => decode(`${EXTENSIONS}.JSONSchemaProps`, f.bytes ?? Buffer.alloc(0))),
    1,
  ),
  [`${EXTENSIONS}.JSONSchemaPropsOrStringArray`]: schemaOr(
    (fields) => (fields.get(2) ?? []).map((f) => f.bytes?.toString() ?? ''),
    1,
  ),
});

/** The value of a special message; undefined if `type` is an ordinary one. */
export function decodeSpecial(
  type: string,
  bytes: Buffer,
  decode: DecodeMessage,
): { value: unknown } | undefined {
  const special = SPECIAL[type];
  if (!special) return undefined;
  const fields = new Map<number, WireField[]>();
  for (const field of fieldsOnWire(bytes)) {
    const list = fields.get(field.number);
    if (list) list.push(field);
    else fields.set(field.number, [field]);
  }
  return { value: special(fields, decode) };
}
