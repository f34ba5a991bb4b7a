/** The served form of a stored entry, with its bytes cached in the entry. */
import type { Kind } from '../kinds/kinds.ts';
import type { Entry } from './storage.ts';
import type { KubeObject } from '../types.ts';

/** The object in the version of `kind`. Must not be modified. */
export function viewOf(entry: Entry, kind: Kind): KubeObject {
  const cached = entry.view;
  if (cached?.of === kind) return cached.obj;
  const obj = show(entry.obj, kind);
  entry.view = { of: kind, obj };
  return obj;
}

/** JSON of `viewOf`, without a line end. */
export function jsonOf(entry: Entry, kind: Kind): Buffer {
  const obj = viewOf(entry, kind);
  const view = entry.view as NonNullable<Entry['view']>;
  return (view.json ??= kept(JSON.stringify(obj)));
}

/** A separate buffer: small buffers share memory slabs, and a kept one would keep its whole slab in memory. */
function kept(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

/** Objects are read with the current schema, regardless of the schema at the time of the write. */
function show(stored: KubeObject, kind: Kind): KubeObject {
  if (kind.convert) return kind.convert.fromStorage(stored);
  if (!kind.schema && stored.apiVersion === kind.apiVersion) return stored;
  const obj: KubeObject = { ...stored, apiVersion: kind.apiVersion };
  const schema = kind.storageSchema ?? kind.schema;
  return schema ? schema.applyDefaults(schema.prune(obj)) : obj;
}

/** The stored form of an object of `kind`. */
export function toStorage(object: KubeObject, kind: Kind): KubeObject {
  if (kind.convert) return kind.convert.toStorage(object);
  return kind.apiVersion === kind.storageVersion ? object : { ...object, apiVersion: kind.storageVersion };
}

/** Puts kind, apiVersion and metadata first; `itemBytes` relies on this order. */
export const ordered = (object: KubeObject): KubeObject => {
  const { kind, apiVersion, metadata, ...rest } = object;
  return { kind, apiVersion, metadata, ...rest };
};

/** Bytes of an item in a built-in list, without kind and apiVersion. */
export function itemBytes(entry: Entry, kind: Kind): Buffer {
  const json = jsonOf(entry, kind);
  if (!kind.builtIn) return json;
  const head = `{"kind":"${kind.kind}","apiVersion":"${kind.apiVersion}",`;
  if (json.toString('latin1', 0, head.length) !== head)
    throw new TypeError(`stored ${kind.kind} ${entry.key} does not begin with its kind`);
  return Buffer.concat([Buffer.from('{'), json.subarray(head.length)]);
}

export const storeKey = (kind: Kind, namespace: string, name: string): string =>
  kind.namespaced ? `${namespace}/${name}` : name;
