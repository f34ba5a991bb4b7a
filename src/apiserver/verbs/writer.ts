/** Common steps of create and update: normalise the object, call webhooks, commit. */
import { timestamp } from '../../lib/clock.ts';
import { append } from '../../lib/lists.ts';
import type { Admission, Answer, Call, World } from '../api.ts';
import { reportFindings } from '../http/body.ts';
import { checkBuiltIn, DecodeError } from '../kinds/builtin-check.ts';
import { dropEmpty, writeEmpty } from '../kinds/go-values.ts';
import type { Kind, StrategyContext } from '../kinds/kinds.ts';
import { dropDuplicateOwners, normalizeMeta } from './meta.ts';
import type { WriteOptions } from '../http/options.ts';
import { badRequest, invalid } from '../status.ts';
import type { Entry } from '../store/storage.ts';
import type { FieldError, JsonObject, KubeObject } from '../types.ts';
import { convertViews, ordered, storeKey, viewOf } from '../store/view.ts';

export interface Writer {
  readonly world: World;
  readonly call: Call;
  readonly kind: Kind;
  readonly admission: Admission;
  readonly options: WriteOptions;
}

export const managerOf = (call: Call, options: WriteOptions): string =>
  options.fieldManager !== '' ? options.fieldManager : call.userAgent.split('/')[0] || 'unknown';

export const strategyContext = (world: World, call: Pick<Call, 'user'>): StrategyContext => ({
  user: call.user,
  now: timestamp(world.clock),
  random: () => world.rng.next(),
  *all(resource) {
    for (const entry of world.store.resource(resource).entries.values()) yield entry.obj;
  },
});

/** Normalised metadata, without unknown members, with defaults. */
export function normalize(writer: Writer, raw: JsonObject, duplicates: readonly string[]): KubeObject {
  const { kind, call, options } = writer;
  const unknown: string[] = [];
  const metadata = normalizeMeta(raw['metadata'], unknown);
  let object = { ...raw, metadata } as unknown as KubeObject;
  if (kind.schema) {
    if (options.fieldValidation !== 'Ignore') append(unknown, kind.schema.unknownFields(object));
    object = kind.schema.prune(object);
  } else if (kind.builtIn) decoded(kind, object, unknown);
  const findings = [
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...inOrderOf(raw, unknown).map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  reportFindings(findings, options.fieldValidation, kind, call.warnings);
  dropDuplicateOwners(object.metadata, call.warnings);
  return withDefaults(kind, object);
}

/** Paths in the order of their first members in the document. */
export function inOrderOf(document: object, paths: readonly string[]): string[] {
  const members = Object.keys(document);
  const place = (path: string): number => members.indexOf(/^[^.[]*/.exec(path)?.[0] ?? '');
  return [...paths].sort((a, b) => place(a) - place(b));
}

function decoded(kind: Kind, object: KubeObject, unknown: string[]): void {
  try {
    checkBuiltIn(kind, object, unknown);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(
      `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: ${error.message}`,
    );
  }
}

export function withDefaults(kind: Kind, object: KubeObject): KubeObject {
  if (kind.schema) return kind.schema.applyDefaults(object);
  if (!kind.builtIn) return object;
  dropEmpty(kind, object);
  kind.strategy?.defaults?.(object);
  writeEmpty(kind, object);
  return object;
}

/** @throws ApiError 400 if the body names another namespace than the URL */
export function settleNamespace(kind: Kind, object: KubeObject, namespace: string): void {
  if (!kind.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  if (object.metadata.namespace !== undefined && object.metadata.namespace !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  object.metadata.namespace = namespace;
}

export function refuseInvalid(kind: Kind, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(kind, object.metadata.name, errors);
}

/** Calls the webhooks; returns the object with their changes, if any. */
export async function admit(
  writer: Writer,
  phase: 'mutating' | 'validating',
  operation: 'CREATE' | 'UPDATE',
  object: KubeObject,
  oldObject: KubeObject | undefined,
): Promise<KubeObject | undefined> {
  const { call, kind, options, admission } = writer;
  const changed = await admission.admit({
    phase,
    operation,
    kind,
    subresource: call.info.subresource,
    name: object.metadata.name,
    namespace: call.info.namespace,
    object,
    oldObject,
    user: call.user,
    dryRun: options.dryRun,
    options: {
      kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
      apiVersion: 'meta.k8s.io/v1',
      ...(options.dryRun ? { dryRun: ['All'] } : {}),
      ...(options.fieldManager === '' ? {} : { fieldManager: options.fieldManager }),
    },
    warnings: call.warnings,
  });
  if (!changed) return undefined;
  return normalize(writer, changed, []);
}

/** A new object as it is read: without the status that was sent, but with the default of its definition. */
export const withDefaultStatus = (kind: Kind, object: KubeObject): KubeObject =>
  kind.status && kind.schema ? kind.schema.applyDefaults(object) : object;

/**
 * Commits and returns the stored object.
 * @param form its stored form
 * @param expect 0 if the object must not exist yet
 */
export function stored(
  writer: Writer,
  object: KubeObject,
  form: KubeObject,
  { expect, code }: { readonly expect: number; readonly code: number },
): Answer | Promise<Answer> {
  const { world, kind } = writer;
  const { namespace, name } = object.metadata;
  const next = ordered(form);
  const change = world.store.commit(kind.resource, storeKey(kind, namespace ?? '', name), expect, next);
  const entry = change.next as Entry;
  if (!kind.convert && form.apiVersion === kind.apiVersion)
    entry.view ??= { of: kind, obj: expect === 0 ? withDefaultStatus(kind, next) : next };
  const answer = (): Answer => ({ type: 'object', code, kind, object: viewOf(entry, kind), entry });
  return convertViews([entry], kind)?.then(answer) ?? answer();
}
