/** The objects of a manifest with their kinds on the target, and requests for many of them. */
import { parseExactJson } from '../../../src/lib/exact-json.ts';
import { append } from '../../../src/lib/lists.ts';
import { isObject } from '../../../src/lib/objects.ts';
import { AlreadyExists, NoSuchKind, NotFound } from '../../../src/runtime/errors.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { metadataProblem } from '../../objects/manifests/metadata.ts';
import { keyOfRef, type KubeObject } from '../../objects/manifests/model.ts';
import { kindFromCrds } from '../../objects/manifests/order.ts';
import { inParallel } from '../../objects/manifests/parallel.ts';
import { listed, ReleaseError, said, type ReleaseTarget } from './cluster.ts';

/** An object that a revision contains. */
export interface Resource {
  /** With the namespace that it is created in. */
  readonly object: KubeObject;
  readonly kind: Kind<Obj>;
  /** Empty if the kind is not namespaced. */
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

// ---------------------------------------------------------------- from documents

/** No server accepts the metadata of an object; another attempt cannot help. */
class InvalidMetadata extends ReleaseError {
  override readonly outlook = 'final';
}

interface ResourceRules {
  /** Why an object is refused although the target serves its kind. */
  readonly problemOf?: (object: unknown) => string | undefined;
  /** CRDs that are created before the objects. */
  readonly definitions?: readonly KubeObject[];
}

/** @throws ReleaseError if the target does not serve a kind, or a document is not an object */
export async function resourcesOf(
  documents: readonly string[],
  target: ReleaseTarget,
  { problemOf = () => undefined, definitions = [] }: ResourceRules = {},
): Promise<readonly Resource[]> {
  const objects = documents.flatMap((document) => flattened(parseExactJson(document)));
  const problems: string[] = [];
  const resources: Resource[] = [];
  let Problem = ReleaseError;
  for (const object of objects) {
    const refused = problemOf(object);
    if (refused !== undefined) Problem = InvalidMetadata;
    const found = refused ?? (await resourceOf(object, target, definitions));
    if (typeof found === 'string') problems.push(found);
    else resources.push(found);
  }
  if (problems.length === 0) return resources;
  const [first = ''] = problems;
  throw new Problem(problems.length === 1 ? first : `[${[...new Set(problems)].join(', ')}]`);
}

/** Objects of hooks are read when they run, but what no server accepts is refused before. @throws ReleaseError */
export function checkMetadata(documents: readonly string[]): void {
  for (const object of documents.flatMap((document) => flattened(parseExactJson(document)))) {
    const problem = metadataProblem(object);
    if (problem !== undefined) throw new InvalidMetadata(problem);
  }
}

/** Lists are replaced by their elements; empty documents are left out. */
function flattened(document: unknown): readonly unknown[] {
  if (document === null) return [];
  const isList = isObject(document) && String(document['kind']).endsWith('List');
  return isList && Array.isArray(document['items']) ? document['items'].flatMap(flattened) : [document];
}

/** The resource, or why it is invalid. */
async function resourceOf(
  document: unknown,
  target: ReleaseTarget,
  definitions: readonly KubeObject[],
): Promise<Resource | string> {
  if (!isObject(document)) return 'error validating "": error validating data: invalid object to validate';
  const { apiVersion, kind: name, metadata } = document;
  const missing = [
    ...(typeof apiVersion === 'string' && apiVersion !== '' ? [] : ['apiVersion not set']),
    ...(typeof name === 'string' && name !== '' ? [] : ['kind not set']),
  ];
  if (missing.length > 0) {
    const list = missing.length === 1 ? missing.join() : `[${missing.join(', ')}]`;
    return `error validating "": error validating data: ${list}`;
  }
  const meta = isObject(metadata) ? metadata : {};
  const object = { ...document, metadata: meta } as unknown as KubeObject;
  const kind = await kindIn(object, target, definitions);
  if (!kind) {
    const text = (key: string): string => (typeof meta[key] === 'string' ? meta[key] : '');
    const place = `name: "${text('name')}" namespace: "${text('namespace')}" from ""`;
    return `resource mapping not found for ${place}: no matches for kind "${object.kind}" in version "${object.apiVersion}"\nensure CRDs are installed first`;
  }
  if (typeof meta['name'] !== 'string' || meta['name'] === '') return 'resource name may not be empty';
  return placed(object, kind, target.namespace);
}

async function kindIn(
  { apiVersion, kind }: KubeObject,
  { access, signal }: ReleaseTarget,
  definitions: readonly KubeObject[],
): Promise<Kind<Obj> | undefined> {
  try {
    return await access.kindOf(apiVersion, kind, signal);
  } catch (error) {
    if (error instanceof NoSuchKind) return kindFromCrds(definitions, apiVersion, kind);
    throw error;
  }
}

function placed(object: KubeObject, kind: Kind<Obj>, fallback: string): Resource {
  const { namespace: given, ...metadata } = object.metadata;
  const namespace = kind.namespaced ? given || fallback : '';
  const { name } = metadata;
  return {
    object: { ...object, metadata: { ...metadata, ...(kind.namespaced && { namespace }) } },
    kind,
    namespace,
    name,
    key: keyOfRef({ ...object, name, ...(kind.namespaced && { namespace }) }),
  };
}

/** Whether both are the same object, in any version of its API. */
const isSameObject = (a: Resource, b: Resource): boolean =>
  a.key === b.key && a.kind.kind === b.kind.kind && a.kind.group === b.kind.group;

export const findSame = (resources: readonly Resource[], wanted: Resource): Resource | undefined =>
  resources.find((each) => isSameObject(each, wanted));

/** `ConfigMap "settings" in namespace "shop"` */
export const described = ({ kind, name, namespace }: Resource): string =>
  `${kind.kind} "${name}" in namespace "${namespace}"`;

// ---------------------------------------------------------------- requests

export const readLive = (
  { kind, key }: Resource,
  { access, signal }: ReleaseTarget,
): Promise<Obj | undefined> => getIfThere(access.client, kind, key, signal);

/** Calls `fn` for all resources, those of consecutive equal kinds in parallel. @returns the errors */
async function forAll(
  resources: readonly Resource[],
  target: ReleaseTarget,
  fn: (resource: Resource) => Promise<void>,
): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (const batch of batches(resources)) {
    const results = await inParallel(batch, async (resource) => {
      try {
        await fn(resource);
        return [];
      } catch (error) {
        target.signal.throwIfAborted();
        return [error];
      }
    });
    append(errors, results.flat());
  }
  return errors;
}

function batches(resources: readonly Resource[]): readonly Resource[][] {
  const found: Resource[][] = [];
  for (const resource of resources) {
    const last = found.at(-1);
    if (last?.[0]?.object.kind === resource.object.kind) last.push(resource);
    else found.push([resource]);
  }
  return found;
}

/** @throws ReleaseError with all errors */
export async function createAll(resources: readonly Resource[], target: ReleaseTarget): Promise<void> {
  const errors = await forAll(resources, target, (resource) => createOne(resource, target));
  if (errors.length > 0) throw new ReleaseError(listed(errors), { cause: errors[0] });
}

export async function createOne(
  { object, kind }: Resource,
  { access, signal }: ReleaseTarget,
): Promise<void> {
  await access.client.send({ verb: 'create', kind, object }, signal);
}

/** @returns whether all were created; false if one already existed. @throws ReleaseError */
export async function createIfMissing(
  resources: readonly Resource[],
  target: ReleaseTarget,
): Promise<readonly Resource[]> {
  const created: Resource[] = [];
  const errors = await forAll(resources, target, async (resource) => {
    try {
      await createOne(resource, target);
      created.push(resource);
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
    }
  });
  if (errors.length > 0) throw new ReleaseError(said(errors[0]), { cause: errors[0] });
  return created;
}

/** Objects that do not exist count as deleted. @returns the errors */
export const deleteAll = (
  resources: readonly Resource[],
  target: ReleaseTarget,
): Promise<readonly unknown[]> => forAll(resources, target, (resource) => deleteOne(resource, target));

export async function deleteOne({ kind, key }: Resource, { access, signal }: ReleaseTarget): Promise<void> {
  try {
    await access.client.send({ verb: 'delete', kind, key, propagation: 'Background' }, signal);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}
