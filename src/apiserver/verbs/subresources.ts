/** Subresources other than status: finalize, scale, binding, eviction, log, token. */
import type { Admission, Answer, Call, World } from '../api.ts';
import { decodeObject } from '../http/body.ts';
import type { Kind } from '../kinds/kinds.ts';
import { scaleSubresource } from './scale.ts';
import { badRequest, conflict, internalError, methodNotAllowed, notFound } from '../status.ts';
import type { StatusBody } from '../status.ts';
import type { Entry } from '../store/storage.ts';
import { cloneJson, isObject, textOf } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import { ordered, storeKey, viewOf } from '../store/view.ts';
import { deleteObject } from './delete.ts';
import { timestamp } from '../../lib/clock.ts';

export type SubresourceHandlers = Readonly<Record<string, (call: Call, kind: Kind) => Promise<Answer>>>;

/** @param token handles requests for service account tokens */
export function subresourceHandlers(
  world: World,
  admission: Admission,
  token: (call: Call, kind: Kind) => Promise<Answer>,
): SubresourceHandlers {
  return {
    scale: (call, kind) => scaleSubresource(world, admission, call, kind),
    finalize: (call, kind) => Promise.resolve(finalize(world, call, kind)),
    binding: (call, kind) => Promise.resolve(bind(world, call, kind)),
    eviction: (call, kind) => evict(world, admission, call, kind),
    log: (call, kind) => Promise.resolve(log(world, call, kind)),
    exec: (call, kind) => Promise.resolve(connect(world, call, kind)),
    attach: (call, kind) => Promise.resolve(connect(world, call, kind)),
    portforward: (call, kind) => Promise.resolve(connect(world, call, kind)),
    token,
  };
}

function live(world: World, call: Call, kind: Kind): Entry {
  const { namespace, name } = call.info;
  const entry = world.store.get(kind.resource, storeKey(kind, namespace, name));
  if (!entry) throw notFound(kind, name);
  return entry;
}

function commit(world: World, kind: Kind, entry: Entry, next: KubeObject | undefined): KubeObject {
  const change = world.store.commit(kind.resource, entry.key, entry.rev, next && ordered(next));
  return change.next ? viewOf(change.next, kind) : (next ?? entry.obj);
}

/** Replaces the finalizers in a namespace's spec; a terminating namespace without finalizers is removed. */
function finalize(world: World, call: Call, kind: Kind): Answer {
  if (call.method !== 'PUT') throw methodNotAllowed();
  const { object } = decodeObject(call, kind, false);
  const entry = live(world, call, kind);
  const rv = (object['metadata'] as JsonObject | undefined)?.['resourceVersion'];
  if (typeof rv === 'string' && rv !== '' && rv !== entry.obj.metadata.resourceVersion)
    throw conflict(
      kind,
      call.info.name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  const spec = isObject(object['spec']) ? object['spec'] : {};
  const finalizers = Array.isArray(spec['finalizers']) ? (spec['finalizers'] as string[]) : [];
  const next = cloneJson(entry.obj);
  next['spec'] = finalizers.length > 0 ? { finalizers } : {};
  const isGone =
    finalizers.length === 0 &&
    next.metadata.deletionTimestamp !== undefined &&
    !next.metadata.finalizers?.length;
  if (!isGone) return { type: 'object', code: 200, kind, object: commit(world, kind, entry, next) };
  commit(world, kind, entry, undefined);
  return { type: 'object', code: 200, kind, object: next };
}

const success = (code: number): Answer => {
  const body: StatusBody = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
  return { type: 'status', code, body };
};

/** Binds a pod to a node. */
function bind(world: World, call: Call, kind: Kind): Answer {
  if (call.method !== 'POST') throw methodNotAllowed();
  const { object } = decodeObject(call, { ...kind, kind: 'Binding' }, false);
  const entry = live(world, call, kind);
  const target = isObject(object['target']) ? textOf(object['target']['name']) : '';
  const spec = entry.obj['spec'] as JsonObject;
  if (spec['nodeName'])
    throw conflict(
      kind,
      call.info.name,
      `pod ${call.info.name} is already assigned to node "${textOf(spec['nodeName'])}"`,
    );
  const next = cloneJson(entry.obj);
  next['spec'] = { ...spec, nodeName: target };
  const status = (next['status'] ?? {}) as JsonObject;
  const others = ((status['conditions'] ?? []) as JsonObject[]).filter((c) => c['type'] !== 'PodScheduled');
  next['status'] = {
    ...status,
    conditions: [
      ...others,
      {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: timestamp(world.clock),
      },
    ],
  };
  commit(world, kind, entry, next);
  return success(201);
}

async function evict(world: World, admission: Admission, call: Call, kind: Kind): Promise<Answer> {
  if (call.method !== 'POST') throw methodNotAllowed();
  live(world, call, kind);
  await deleteObject({ world, call: { ...call, body: Buffer.alloc(0) }, kind, admission });
  return success(201);
}

/** No node runs containers, so there is no server to connect to. @throws ApiError always */
function connect(world: World, call: Call, kind: Kind): Answer {
  const { obj } = live(world, call, kind);
  const { name } = call.info;
  const node = isObject(obj['spec']) ? obj['spec']['nodeName'] : undefined;
  if (typeof node !== 'string' || node === '') throw badRequest(`pod ${name} does not have a host assigned`);
  throw internalError(`error dialing backend: node ${node} is simulated and runs no containers`);
}

function log(world: World, call: Call, kind: Kind): Answer {
  if (call.method !== 'GET') throw methodNotAllowed();
  live(world, call, kind);
  return { type: 'bytes', code: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.alloc(0) };
}
