/**
 * Update and patch: from the live object to its next state.
 *
 * Everything between "load the current object" and "commit" is one synchronous step, unless webhooks have to be called;
 * then the object may have changed meanwhile, and the step is repeated with the new state.
 */
import { timestamp } from '../../lib/clock.ts';
import type { Answer } from '../api.ts';
import * as field from '../schema/field-errors.ts';
import { settleIdentity } from './identity-rules.ts';
import { writeEmpty } from '../kinds/go-values.ts';
import type { Kind } from '../kinds/kinds.ts';
import { ruleErrors } from '../kinds/rules/engine.ts';
import { sameButTimes, trackOwners } from '../apply/managed.ts';
import { Conversions } from '../apply/versions.ts';
import { metadataErrors } from './meta.ts';
import { notFound, staleObject } from '../status.ts';
import { Stale } from '../store/storage.ts';
import type { Entry } from '../store/storage.ts';
import { cloneJson, equalJson } from '../types.ts';
import type { FieldError, JsonObject, KubeObject } from '../types.ts';
import { convertViews, ordered, storageForm, storeKey, toStorage, viewOf } from '../store/view.ts';
import { admit, managerOf, refuseInvalid, stored, strategyContext, withDefaults } from './writer.ts';
import type { Writer } from './writer.ts';

interface Change {
  /**
   * The desired object, created from the live one; the caller owns it from then on. Its `managedFields` are those of
   * the request: absent or null keeps the old ones.
   */
  readonly mutate: (live: KubeObject, conversions: Conversions) => KubeObject;
  /**
   * PUT of an object or its status contains the resource version or omits it; patches inherit it from the live object.
   */
  readonly isPut: boolean;
  readonly subresource: string;
  /** Replaces the update of managedFields, for server-side apply. */
  readonly track?: (next: KubeObject, live: KubeObject, conversions: Conversions) => void;
}

const MAX_ATTEMPTS = 5;

export async function updateObject(writer: Writer, change: Change): Promise<Answer> {
  const { world, call, kind } = writer;
  const { namespace, name } = call.info;
  for (let attempt = 1; ; attempt++) {
    const entry = world.store.get(kind.resource, storeKey(kind, namespace, name));
    if (!entry) throw notFound(kind, name);
    if (kind.webhook) await convertViews([entry], kind);
    try {
      return await updateOnce(writer, change, entry);
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
      if (attempt >= MAX_ATTEMPTS) throw staleObject(kind, name);
    }
  }
}

async function updateOnce(writer: Writer, change: Change, entry: Entry): Promise<Answer> {
  const { world, call, kind, options, admission } = writer;
  const live = viewOf(entry, kind);
  const conversions = new Conversions();
  const computed = conversions.run(() => desiredState(writer, change, live, conversions));
  let next = computed instanceof Promise ? await computed : computed;
  if (admission.active) next = (await admit(writer, 'mutating', 'UPDATE', next, live)) ?? next;
  if (sameButTimes(next, live)) return { type: 'object', code: 200, kind, object: live, entry };
  refuseInvalid(kind, next, [
    ...metadataErrors(next, kind, call.warnings, live),
    ...finalizersAfterDeletion(next, live),
    ...(kind.schema?.validate(next, live) ?? []),
    ...(kind.strategy?.validate?.(next) ?? []),
    ...(kind.strategy?.validateUpdate?.(next, live) ?? []),
    ...ruleErrors(kind, next, live),
  ]);
  if (admission.active) await admit(writer, 'validating', 'UPDATE', next, live);
  if (options.dryRun) return { type: 'object', code: 200, kind, object: ordered(next) };
  if (isGone(kind, next)) {
    world.store.commit(kind.resource, entry.key, entry.rev, undefined);
    return { type: 'object', code: 200, kind, object: ordered(next) };
  }
  const form = kind.webhook ? await storageForm(next, kind) : toStorage(next, kind);
  return stored(writer, next, form, { expect: entry.rev, code: 200 });
}

/** The object after the change, with its managedFields. */
function desiredState(
  writer: Writer,
  { mutate, track, isPut, subresource }: Change,
  live: KubeObject,
  conversions: Conversions,
): KubeObject {
  const { world, call, kind, options } = writer;
  let next = mutate(live, conversions);
  settleIdentity(writer, isPut, next, live);
  next = mergeSubresource(kind, subresource, next, live);
  next = withDefaults(kind, next);
  kind.strategy?.prepareForUpdate?.(next, live, strategyContext(world, call));
  if (kind.builtIn) writeEmpty(kind, next);
  bumpGeneration(kind, subresource, next, live);
  if (track) track(next, live, conversions);
  else
    trackOwners({
      live,
      object: next,
      kind,
      manager: managerOf(call, options),
      time: timestamp(world.clock),
      subresource,
      conversions,
    });
  return next;
}

/** The parts of the desired object that a write through this resource or subresource may change. */
function mergeSubresource(kind: Kind, subresource: string, next: KubeObject, live: KubeObject): KubeObject {
  if (subresource === 'status') {
    const metadata = kind.builtIn
      ? next.metadata
      : {
          ...live.metadata,
          ...(next.metadata.managedFields ? { managedFields: next.metadata.managedFields } : {}),
        };
    const result: KubeObject = {
      ...cloneJson({ ...live, metadata: {} as KubeObject['metadata'] }),
      metadata: cloneJson(metadata),
    };
    delete result['status'];
    if (next['status'] !== undefined) result['status'] = next['status'];
    return result;
  }
  if (kind.status) {
    const { status: _, ...rest } = next;
    return {
      ...rest,
      ...(live['status'] === undefined ? {} : { status: cloneJson(live['status']) }),
    };
  }
  return next;
}

function bumpGeneration(kind: Kind, subresource: string, next: KubeObject, live: KubeObject): void {
  if (!kind.generation || subresource === 'status') return;
  const content = ({ metadata: _, status, ...rest }: KubeObject): JsonObject =>
    kind.status ? rest : { ...rest, status };
  if (!equalJson(content(next), content(live)))
    next.metadata.generation = (live.metadata.generation ?? 0) + 1;
}

function finalizersAfterDeletion(next: KubeObject, live: KubeObject): FieldError[] {
  if (live.metadata.deletionTimestamp === undefined) return [];
  const old = new Set(live.metadata.finalizers);
  const added = (next.metadata.finalizers ?? []).filter((f) => !old.has(f));
  if (added.length === 0) return [];
  const list = added.map((f) => JSON.stringify(f)).join(', ');
  return [
    field.forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}

/** A terminating object is deleted by the write that removes its last finalizer. */
function isGone(kind: Kind, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers } = object.metadata;
  if (deletionTimestamp === undefined || (finalizers?.length ?? 0) > 0) return false;
  if (kind.resource === '/namespaces') {
    const spec = object['spec'] as { finalizers?: string[] } | undefined;
    return (spec?.finalizers?.length ?? 0) === 0;
  }
  return deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0;
}
