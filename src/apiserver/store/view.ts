/** The served form of a stored entry, with its bytes cached in the entry. */
import type { Kind } from '../kinds/kinds.ts';
import type { Entry } from './storage.ts';
import type { KubeObject } from '../types.ts';

/** The object in the version of `kind`. Must not be modified. */
export function viewOf(entry: Entry, kind: Kind): KubeObject {
  const cached = entry.view;
  if (cached?.of === kind) return cached.obj;
  const obj = show(entry, kind);
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

/**
 * Objects are read with the current schemas, regardless of those at the time of the write: defaults are those of the version in
 * which the object is stored, also in another version.
 */
function show(entry: Entry, kind: Kind): KubeObject {
  const { obj: stored } = entry;
  if (kind.convert) return kind.convert.fromStorage(stored);
  if (needsWebhook(stored, kind)) {
    const converted = entry.converted?.get(kind);
    if (!converted) throw new TypeError(`${entry.key} was not converted to ${kind.apiVersion}`);
    return converted;
  }
  if (!kind.schema && stored.apiVersion === kind.apiVersion) return stored;
  const obj = inVersion(decoded(stored, kind), kind);
  return stored.apiVersion === kind.apiVersion ? obj : pruned(obj, kind);
}

const inVersion = (object: KubeObject, { apiVersion }: Kind): KubeObject =>
  object.apiVersion === apiVersion ? object : { ...object, apiVersion };

const pruned = (object: KubeObject, { schema }: Kind): KubeObject => (schema ? schema.prune(object) : object);

/** A stored object with the defaults of its own version. */
function decoded(stored: KubeObject, kind: Kind): KubeObject {
  const version = kind.versions?.(stored.apiVersion) ?? kind;
  return version.schema ? version.schema.applyDefaults(pruned(stored, version)) : stored;
}

const needsWebhook = (stored: KubeObject, kind: Kind): boolean =>
  kind.webhook !== undefined && stored.apiVersion !== kind.apiVersion;

/**
 * Converts entries with the webhook of their kind, all with one request, so that `viewOf` can return them. Entries are
 * converted once.
 * @returns undefined if there is nothing to convert
 * @throws ApiError 500 of the webhook
 */
export function convertViews(entries: readonly (Entry | undefined)[], kind: Kind): Promise<void> | undefined {
  const open = entries.filter(
    (entry) => entry !== undefined && needsWebhook(entry.obj, kind) && !entry.converted?.has(kind),
  ) as Entry[];
  return open.length > 0 ? convertAll(open, kind) : undefined;
}

async function convertAll(entries: readonly Entry[], kind: Kind): Promise<void> {
  const stored = entries.map(({ obj }) => decoded(obj, kind));
  const converted = (await kind.webhook?.(stored, kind.apiVersion)) ?? [];
  entries.forEach((entry, i) => {
    keepView(entry, kind, pruned(converted[i] as KubeObject, kind));
  });
}

/** Stores the form of an entry for a kind with a conversion webhook. */
export function keepView(entry: Entry, kind: Kind, object: KubeObject): void {
  (entry.converted ??= new Map<object, KubeObject>()).set(kind, object);
}

/** The stored form of an object of `kind`, by its webhook if it has one. @throws ApiError 500 of the webhook */
export async function storageForm(object: KubeObject, kind: Kind): Promise<KubeObject> {
  const { webhook, apiVersion, storageVersion } = kind;
  if (!webhook || apiVersion === storageVersion) return toStorage(object, kind);
  const [converted = object] = await webhook([object], storageVersion);
  return pruned(converted, kind.versions?.(storageVersion) ?? kind);
}

/** The stored form of an object of `kind`, which has no webhook. */
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
