/** The `scale` subresource: a small object with three values of its parent. */
import type { Admission, Answer, Call, World } from '../api.ts';
import { decodeObject, mediaType } from '../http/body.ts';
import * as field from '../schema/field-errors.ts';
import type { Kind } from '../kinds/kinds.ts';
import { updateManagedFields } from '../apply/apply.ts';
import { entriesOrNone, objectTypeOf, ownedMembers, versionsFor } from '../apply/managed.ts';
import { normalizeMeta } from './meta.ts';
import { writeOptions } from '../http/options.ts';
import { engine } from './patch-engine.ts';
import { formatSelector } from '../tables/cells.ts';
import { badRequest, invalid, methodNotAllowed, notFound, staleObject } from '../status.ts';
import { cloneJson, isObject } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { convertViews, storeKey, viewOf } from '../store/view.ts';
import { updateObject } from './update.ts';
import { managerOf } from './writer.ts';
import type { Writer } from './writer.ts';

/** Scale as a kind, for encoding and messages. */
const SCALE = { group: 'autoscaling', kind: 'Scale' };

export async function scaleSubresource(
  world: World,
  admission: Admission,
  call: Call,
  kind: Kind,
): Promise<Answer> {
  const { namespace, name } = call.info;
  const entry = world.store.get(kind.resource, storeKey(kind, namespace, name));
  if (!entry) throw notFound(kind, name);
  if (call.method === 'GET') {
    await convertViews([entry], kind);
    return answerWith(kind, viewOf(entry, kind));
  }
  if (call.method !== 'PUT' && call.method !== 'PATCH') throw methodNotAllowed();
  const isPut = call.method === 'PUT';
  const options = writeOptions(isPut ? 'UpdateOptions' : 'PatchOptions', call.query);
  const writer: Writer = { world, call, kind, admission, options };
  const wanted = isPut ? put(call, kind) : patch(call, kind);
  const answer = await updateObject(writer, {
    isPut: false,
    subresource: '',
    mutate: (live) => scaled(kind, live, wanted(scaleOf(kind, live)), name),
    track: (next, live, conversions) => {
      const entries = entriesOrNone(() =>
        updateManagedFields({
          before: live,
          after: next,
          manager: managerOf(call, options),
          type: objectTypeOf(kind),
          apiVersion: kind.apiVersion,
          time: '', // upstream's entries of this subresource have no time
          subresource: 'scale',
          owns: ownedMembers(kind, ''),
          versionOf: versionsFor(kind, '', conversions),
        }),
      );
      if (entries) next.metadata.managedFields = entries;
    },
  });
  return answer.type === 'object' ? answerWith(kind, answer.object) : answer;
}

function put(call: Call, kind: Kind): (scale: JsonObject) => JsonObject {
  const { object } = decodeObject(
    call,
    { ...kind, ...SCALE, version: 'v1', apiVersion: 'autoscaling/v1', builtIn: true },
    false,
  );
  return () => object;
}

function patch(call: Call, kind: Kind): (scale: JsonObject) => JsonObject {
  const apply = engine(mediaType(call), { ...kind, ...SCALE, version: 'v1', builtIn: true }, call);
  return (scale) => apply(scale as unknown as KubeObject);
}

/** The parent with the replicas of a Scale. */
function scaled(kind: Kind, live: KubeObject, scale: JsonObject, name: string): KubeObject {
  const metadata = normalizeMeta(scale['metadata'], []);
  if (metadata.name !== '' && metadata.name !== name)
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
  const { resourceVersion } = metadata;
  if (
    resourceVersion !== undefined &&
    resourceVersion !== '0' &&
    resourceVersion !== live.metadata.resourceVersion
  )
    throw staleObject(kind, name);
  const spec = isObject(scale['spec']) ? scale['spec'] : {};
  const replicas = spec['replicas'] ?? 0;
  if (typeof replicas !== 'number')
    throw badRequest(
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  if (replicas < 0)
    throw invalid(SCALE, name, [
      field.invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  const next = cloneJson(live);
  setAt(next, kind.scale?.spec ?? '', replicas);
  return next;
}

const segments = (path: string): string[] => path.split('.').filter((part) => part !== '');

const read = (object: unknown, path: string | undefined): unknown =>
  path === undefined
    ? undefined
    : segments(path).reduce((value: unknown, part) => (isObject(value) ? value[part] : undefined), object);

function setAt(object: KubeObject, path: string, value: unknown): void {
  const parts = segments(path);
  const last = parts.pop();
  let at: JsonObject = object;
  for (const part of parts) {
    if (!isObject(at[part])) at[part] = {};
    at = at[part] as JsonObject;
  }
  if (last !== undefined) at[last] = value;
}

function scaleOf(kind: Kind, parent: KubeObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
  const selector = read(parent, kind.scale?.labelSelector);
  const text =
    typeof selector === 'string'
      ? selector
      : isObject(selector)
        ? formatSelector(selectorObject(selector))
        : '';
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: { ...present('replicas', read(parent, kind.scale?.spec)) },
    status: { replicas: read(parent, kind.scale?.status) ?? 0, ...(text === '' ? {} : { selector: text }) },
  };
}

/** Replication controllers have plain labels instead of a selector object. */
const selectorObject = (selector: JsonObject): JsonObject =>
  'matchLabels' in selector || 'matchExpressions' in selector ? selector : { matchLabels: selector };

const present = (member: string, value: unknown): JsonObject =>
  value === undefined ? {} : { [member]: value };

const answerWith = (kind: Kind, parent: KubeObject): Answer => ({
  type: 'object',
  code: 200,
  kind: { ...kind, ...SCALE, version: 'v1', apiVersion: 'autoscaling/v1', builtIn: true },
  object: scaleOf(kind, parent) as unknown as KubeObject,
});
