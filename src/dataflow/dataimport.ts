/** Values of data imports: from DataObjects, and from Secrets and ConfigMaps, whose entries are parsed as YAML. */
import type { DataObject } from '../api/kinds/dataobject.ts';
import { annotations } from '../api/labels.ts';
import type { ApiObject } from '../api/shared.ts';
import type { DataImport } from '../blueprint/import-set.ts';
import { inexactIn, refusedInteger, type InexactInteger } from '../lib/exact-json.ts';
import { goJson } from '../lib/gojson.ts';
import { sha1Hex } from '../lib/hash.ts';
import type { View } from '../lib/objects.ts';
import { parseYaml, YamlError } from '../lib/yaml.ts';
import { IntegerTooLong } from '../lib/yaml-error.ts';

/**
 * The fields of a Secret or ConfigMap that imports read. `data` of a Secret is base64, that of a ConfigMap a plain
 * string.
 */
export interface KeyedSource {
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
}

/** An import with the size of its value as JSON. */
export interface MeasuredImport extends DataImport {
  readonly bytes: number;
}

interface KeyedReference {
  readonly kind: 'secret' | 'configmap';
  readonly namespace: string;
  readonly name: string;
  readonly key?: string | undefined;
}

/** The text that the content hash of stored data covers. */
export const storedText = (data: unknown): string => goJson(data ?? null, 2);

/**
 * The version is computed from the data, because the annotation is wrong after a manual edit. The annotation only
 * determines the format of the version, so that a correct annotation yields upstream's value.
 */
export function measuredData(object: View<DataObject>): MeasuredImport {
  const value = object.data ?? null;
  let measure = measures.get(object);
  if (!measure) {
    const isStored = (object.metadata.annotations?.[annotations.dataHash] ?? '') !== '';
    const text = isStored ? storedText(value) : goJson(value);
    measure = { version: sha1Hex(text), bytes: text.length };
    measures.set(object, measure);
  }
  return { value, ...measure };
}

/** Cached objects are immutable, and many imports may reference the same large object. */
const measures = new WeakMap<View<DataObject>, Pick<MeasuredImport, 'version' | 'bytes'>>();

/** The import without its size. */
export function importedData(object: View<DataObject>): DataImport {
  const { bytes: _, ...data } = measuredData(object);
  return data;
}

const inexactInteger = new WeakMap<View<ApiObject>, InexactInteger | 'none'>();

/**
 * Why the content of an object cannot be used: it contains an integer that would lose digits.
 * @param content keyed by field name
 */
export function inexactIntegerMessage(
  kind: 'data object' | 'target',
  object: View<ApiObject>,
  content: object,
): string | undefined {
  let found = inexactInteger.get(object);
  if (found === undefined) {
    found = inexactIn(content) ?? 'none';
    inexactInteger.set(object, found);
  }
  if (found === 'none') return undefined;
  const { metadata } = object;
  const where = `${kind} ${metadata.namespace ?? ''}/${metadata.name}: ${found.path}`;
  // The content of a target is secret.
  return refusedInteger(where, kind === 'target' ? undefined : found.digits);
}

/** The value, or a message that says why there is none. */
export function keyedImport(ref: KeyedReference, source: KeyedSource | undefined): MeasuredImport | string {
  if (!source) return `${ref.kind}s "${ref.name}" not found`;
  const { key } = ref;
  const entries = ref.kind === 'secret' ? decoded(source.data, key) : configEntries(source);
  const isSecret = ref.kind === 'secret';
  try {
    if (key === undefined || key === '') return { ...wholeImport(entries), isSecret };
    const content = entries.get(key);
    if (!content) return missingKey(ref, key);
    const value = entryValue(key, content);
    // Only YAML aliases make the value larger than its text.
    const bytes = content.includes('*') ? goJson(value).length : content.length;
    return { value, version: sha1Hex(content), isSecret, bytes };
  } catch (error) {
    if (!(error instanceof EntryUnreadable)) throw error;
    const where = `${ref.kind} ${ref.namespace}/${ref.name} cannot be read: key ${error.key}: `;
    return where + (isSecret ? withoutContent(error.cause) : error.cause.message);
  }
}

class EntryUnreadable extends Error {
  readonly key: string;
  override readonly cause: YamlError;

  constructor(key: string, cause: YamlError) {
    super(cause.message);
    this.key = key;
    this.cause = cause;
  }
}

/** The message of the YAML parser may quote the content. */
function withoutContent(error: YamlError): string {
  const line = `line ${String(error.line ?? 1)}`;
  return error instanceof IntegerTooLong ? refusedInteger(line) : `${line} is not valid YAML`;
}

/** @throws EntryUnreadable */
function entryValue(key: string, content: Buffer): unknown {
  try {
    return parseYaml(content.toString('utf8'));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new EntryUnreadable(key, error);
  }
}

function wholeImport(entries: ReadonlyMap<string, Buffer>): MeasuredImport {
  const read = [...entries].map(([name, content]) => [name, entryValue(name, content)] as const);
  const value = Object.fromEntries(read);
  const text = goJson(value);
  return { value, version: sha1Hex(text), bytes: text.length };
}

const missingKey = ({ kind, namespace, name }: KeyedReference, key: string): string =>
  kind === 'secret'
    ? `key ${key} in secret ${namespace}/${name} does not exist`
    : `key '${key}' in configmap '${namespace}/${name}' does not exist`;

/** @param only the key to decode; without it, all keys */
function decoded(data: Readonly<Record<string, string>> = {}, only?: string): ReadonlyMap<string, Buffer> {
  const entries = Object.entries(data).filter(([key]) => !only || key === only);
  return new Map(entries.map(([key, text]) => [key, Buffer.from(text, 'base64')]));
}

function configEntries({ data = {}, binaryData }: KeyedSource): ReadonlyMap<string, Buffer> {
  const decodedStrings = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const);
  return new Map([...decodedStrings, ...decoded(binaryData)]);
}
