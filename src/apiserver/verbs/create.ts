/** Create: from a decoded body to a stored object with a name, a uid and a first version. */
import { timestamp } from '../../lib/clock.ts';
import { randomSuffix } from '../../lib/rng.ts';
import type { Answer, World } from '../api.ts';
import { assertDefinitionStays } from '../crd/crd.ts';
import { writeEmpty } from '../kinds/go-values.ts';
import type { Kind } from '../kinds/kinds.ts';
import { ruleErrors } from '../kinds/rules/engine.ts';
import { objectTypeOf, trackOwners } from '../apply/managed.ts';
import { metadataErrors } from './meta.ts';
import { assertNamespaceOpen } from '../kinds/namespace-state.ts';
import { alreadyExists, plainFailure } from '../status.ts';
import { cloneJson } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { ordered, storageForm, storeKey, toStorage } from '../store/view.ts';
import {
  admit,
  managerOf,
  normalize,
  refuseInvalid,
  settleNamespace,
  stored,
  strategyContext,
  withDefaultStatus,
} from './writer.ts';
import type { Writer } from './writer.ts';

/** @param raw decoded body, owned by this function */
export async function createObject(
  writer: Writer,
  raw: JsonObject,
  duplicates: readonly string[] = [],
): Promise<Answer> {
  const { world, call, kind, options } = writer;
  const namespace = call.info.namespace;
  const object = normalize(writer, raw, duplicates);
  settleNamespace(kind, object, namespace);
  const rv = object.metadata.resourceVersion;
  if (rv !== undefined && rv !== '0')
    throw plainFailure('resourceVersion should not be set on objects to be created');
  return insert(writer, object, (created) => {
    trackOwners({
      object: created,
      kind,
      manager: managerOf(call, options),
      time: timestamp(world.clock),
      subresource: '',
    });
  });
}

/** Stores a normalized object under a new name. @param track records the owners of its fields in managedFields */
export async function insert(
  writer: Writer,
  object: KubeObject,
  track: (object: KubeObject) => void,
): Promise<Answer> {
  const { world, call, kind, options, admission } = writer;
  const meta = object.metadata;
  const base = meta.name === '' && meta.generateName ? meta.generateName.slice(0, 58) : undefined;
  if (base !== undefined) meta.name = base + randomSuffix(world.rng);
  complete(writer, object, track);
  assertPlace(writer, object);

  let next = object;
  if (admission.active) next = (await admit(writer, 'mutating', 'CREATE', next, undefined)) ?? next;
  refuseInvalid(kind, next, [
    ...metadataErrors(next, kind, call.warnings),
    ...(kind.schema?.validate(next) ?? []),
    ...(kind.strategy?.validate?.(next) ?? []),
    ...ruleErrors(kind, next),
  ]);
  if (admission.active) {
    await admit(writer, 'validating', 'CREATE', next, undefined);
    assertPlace(writer, next);
  }
  const converted = kind.webhook && (await storageForm(next, kind));
  if (converted) assertPlace(writer, next);
  claimName(writer, next, base);
  if (converted) converted.metadata.name = next.metadata.name;
  call.noted.name = next.metadata.name;
  if (options.dryRun)
    return { type: 'object', code: 201, kind, object: withDefaultStatus(kind, ordered(next)) };
  return stored(writer, next, converted ?? toStorage(next, kind), { expect: 0, code: 201 });
}

/** Adds what the server decides; `track` comes first, because these fields have no owner. */
function complete(
  { world, call, kind }: Writer,
  object: KubeObject,
  track: (object: KubeObject) => void,
): void {
  setSystemFields(world, kind, object);
  if (kind.status) clearStatus(kind, object);
  track(object);
  kind.strategy?.prepareForCreate?.(object, strategyContext(world, call));
  if (kind.builtIn) writeEmpty(kind, object);
}

/** @throws ApiError if the namespace or the definition accepts no new objects */
function assertPlace({ world, kind }: Writer, { metadata }: KubeObject): void {
  if (kind.namespaced) assertNamespaceOpen(world, kind, metadata.namespace ?? '', metadata.name);
  assertDefinitionStays(world, kind, metadata.name);
}

const MAX_NAMES = 8;

/**
 * Ensures that the name is unused; a generated one may be generated again.
 * @throws ApiError 409
 */
function claimName({ world, kind }: Writer, { metadata }: KubeObject, base: string | undefined): void {
  const holder = (): KubeObject | undefined =>
    world.store.get(kind.resource, storeKey(kind, metadata.namespace ?? '', metadata.name))?.obj;
  for (let attempt = 1; base !== undefined && attempt < MAX_NAMES && holder(); attempt++)
    metadata.name = base + randomSuffix(world.rng);
  const existing = holder();
  if (existing) throw alreadyExists(kind, metadata.name, existing.metadata.deletionTimestamp !== undefined);
}

function setSystemFields(world: World, kind: Kind, object: KubeObject): void {
  const meta = object.metadata;
  meta.uid = world.newUid();
  meta.creationTimestamp = timestamp(world.clock);
  delete meta.resourceVersion;
  delete meta.selfLink;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  if (kind.generation) meta.generation = 1;
}

function clearStatus(kind: Kind, object: KubeObject): void {
  if (kind.builtIn) object['status'] = cloneJson(objectTypeOf(kind).zero['status'] ?? {});
  else delete object['status'];
}
