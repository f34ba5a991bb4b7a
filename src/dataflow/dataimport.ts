/** Values of data imports: from DataObjects, and from Secrets and ConfigMaps, whose entries are read as YAML. */
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

/** A Secret or ConfigMap, as far as imports read it. `data` of a Secret is base64, that of a ConfigMap text. */
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

/** Text over which the content hash of stored data is taken. */
export const storedText = (data: unknown): string => goJson(data ?? null, 2);

/**
 * The version is computed from the data, never believed from the annotation: an edit by hand must be noticed.
 * Whether there is an annotation decides about the form only, so that a right one gives upstream's value.
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

/** Objects of caches never change, and many imports of many installations may name the same large one. */
const measures = new WeakMap<View<DataObject>, Pick<MeasuredImport, 'version' | 'bytes'>>();

/** The same without the size. */
export function importedData(object: View<DataObject>): DataImport {
  const { bytes: _, ...data } = measuredData(object);
  return data;
}

const inexact = new WeakMap<View<ApiObject>, InexactInteger | 'none'>();

/**
 * Why the content of an object cannot be handed on: it has an integer that would lose digits.
 * @param content by the name of its field
 */
export function unfaithful(
  kind: 'data object' | 'target',
  object: View<ApiObject>,
  content: object,
): string | undefined {
  let found = inexact.get(object);
  if (found === undefined) {
    found = inexactIn(content) ?? 'none';
    inexact.set(object, found);
  }
  if (found === 'none') return undefined;
  const { metadata } = object;
  const where = `${kind} ${metadata.namespace ?? ''}/${metadata.name}: ${found.path}`;
  // What is in a target is secret.
  return refusedInteger(where, kind === 'target' ? undefined : found.digits);
}

/** The value, or the sentence that says why there is none. */
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
    // Only aliases make the value larger than its text.
    const bytes = content.includes('*') ? goJson(value).length : content.length;
    return { value, version: sha1Hex(content), isSecret, bytes };
  } catch (error) {
    if (!(error instanceof EntryUnreadable)) throw error;
    const where = `${ref.kind} ${ref.namespace}/${ref.name} cannot be read: key ${error.key}: `;
    return where + (isSecret ? withoutText(error.cause) : error.cause.message);
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

/** What go-yaml says may quote the text. */
function withoutText(error: YamlError): string {
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

/** @param only the key that is wanted; without one, all are */
function decoded(data: Readonly<Record<string, string>> = {}, only?: string): ReadonlyMap<string, Buffer> {
  const entries = Object.entries(data).filter(([key]) => !only || key === only);
  return new Map(entries.map(([key, text]) => [key, Buffer.from(text, 'base64')]));
}

function configEntries({ data = {}, binaryData }: KeyedSource): ReadonlyMap<string, Buffer> {
  const texts = Object.entries(data).map(([key, text]) => [key, Buffer.from(text)] as const);
  return new Map([...texts, ...decoded(binaryData)]);
}
