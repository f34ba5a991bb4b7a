/** Values of data imports: from DataObjects, and from Secrets and ConfigMaps, whose entries are parsed as YAML. */
import type { DataObject } from '../api/kinds/dataobject.ts';
import { annotations } from '../api/labels.ts';
import type { ApiObject } from '../api/shared.ts';
import type { DataImport } from '../blueprint/import-set.ts';
import { inexactIn, refusedInteger, type InexactInteger } from '../lib/exact-json.ts';
import { goJson } from '../lib/gojson.ts';
import { sha1Hex } from '../lib/hash.ts';
import type { View } from '../lib/objects.ts';
import {
  readTexts,
  TextsTooLarge,
  TextUnreadable,
  type ReadText,
  type TextReader,
  type TextsJob,
} from '../lib/yaml-texts.ts';
import { IntegerTooLong, YamlError } from '../lib/yaml-error.ts';
import { MAX_IMPORT_BYTES, wayOutOfImports } from './import-limits.ts';

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

export interface KeyedReference {
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
  const entries = entriesOf(ref, source);
  if (typeof entries === 'string') return entries;
  try {
    return importOf(ref, entries, readTexts(jobOf(entries), MAX_IMPORT_BYTES));
  } catch (error) {
    return problemOf(ref, error);
  }
}

/** The same with a reader for texts of any size. */
export async function readKeyedImport(
  ref: KeyedReference,
  source: KeyedSource | undefined,
  reader: TextReader,
): Promise<MeasuredImport | string> {
  const entries = entriesOf(ref, source);
  if (typeof entries === 'string') return entries;
  try {
    return importOf(ref, entries, await reader.readTexts(jobOf(entries)));
  } catch (error) {
    return problemOf(ref, error);
  }
}

type Entries = readonly (readonly [key: string, content: Buffer])[];

const isWhole = ({ key }: KeyedReference): boolean => key === undefined || key === '';

/** The entries to import, or a message. */
function entriesOf(ref: KeyedReference, source: KeyedSource | undefined): Entries | string {
  if (!source) return `${ref.kind}s "${ref.name}" not found`;
  const { key = '' } = ref;
  const entries = ref.kind === 'secret' ? decoded(source.data, key) : configEntries(source);
  if (isWhole(ref)) return [...entries];
  const content = entries.get(key);
  return content ? [[key, content]] : missingKey(ref, key);
}

const jobOf = (entries: Entries): TextsJob => ({
  texts: entries.map(([key, content]) => [key, content.toString('utf8')]),
});

function importOf(ref: KeyedReference, entries: Entries, read: readonly ReadText[]): MeasuredImport {
  const isSecret = ref.kind === 'secret';
  const [first] = entries;
  const [only] = read;
  if (!isWhole(ref) && first && only) {
    const [, content] = first;
    return { value: only.value, version: sha1Hex(content), isSecret, bytes: only.bytes };
  }
  const value = Object.fromEntries(entries.map(([key], index) => [key, read[index]?.value]));
  const text = goJson(value);
  return { value, version: sha1Hex(text), bytes: text.length, isSecret };
}

/** @throws any other error */
function problemOf(ref: KeyedReference, error: unknown): string {
  const where = `${ref.kind} ${ref.namespace}/${ref.name} cannot be read: `;
  if (error instanceof TextsTooLarge) return `${where}${error.message}: ${wayOutOfImports}`;
  if (!(error instanceof TextUnreadable && error.cause instanceof YamlError)) throw error;
  const why = ref.kind === 'secret' ? withoutContent(error.cause) : error.cause.message;
  return `${where}key ${error.key}: ${why}`;
}

/** The message of the YAML parser may quote the content. */
function withoutContent(error: YamlError): string {
  const line = `line ${String(error.line ?? 1)}`;
  return error instanceof IntegerTooLong ? refusedInteger(line) : `${line} is not valid YAML`;
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
