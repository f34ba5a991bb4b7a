/** Carries out effects: the only place where decisions become requests. */
import { Conflict, NotFound } from '../runtime/errors.ts';
import { keyOf } from '../runtime/keys.ts';
import type { Kind, Obj, View, Writer } from '../runtime/types.ts';
import type { Amendment, Effect } from './decision.ts';
import type { AddReadiness } from './readiness.ts';

export interface PatchPorts {
  readonly write: Writer;
  /** Completes patches of a status; default: none is completed. */
  readonly readiness?: AddReadiness;
  readonly signal?: AbortSignal;
}

export interface ApplyPorts extends PatchPorts {
  /** Reads an object from the server, past every cache. */
  readonly read: (kind: Kind, key: string) => Promise<Obj>;
}

/**
 * Remembers the versions that our own writes returned, so that a second patch of the same object in one reconcile
 * uses the new version instead of ending in a conflict.
 */
export class Applier {
  readonly #ports: ApplyPorts;
  readonly #versions = new Map<string, string>();

  /** @param written the newest version of an object that was stored elsewhere after the effects were decided */
  constructor(ports: ApplyPorts, written?: View<Obj>) {
    this.#ports = ports;
    if (written) this.#remember(written);
  }

  /** @throws the errors of runtime/errors.ts */
  async carryOut(effect: Effect): Promise<void> {
    const answer = await carryOut(this.#onNewest(effect), this.#ports);
    if (answer) this.#remember(answer);
  }

  #remember({ metadata: { uid, resourceVersion } }: View<Obj>): void {
    if (uid && resourceVersion) this.#versions.set(uid, resourceVersion);
  }

  #onNewest(effect: Effect): Effect {
    // A replacement would undo earlier writes of this reconcile: it ends in a conflict, and the reconcile is repeated.
    if (effect.do !== 'patch' && effect.do !== 'amend') return effect;
    const resourceVersion = this.#versions.get(effect.target.metadata.uid ?? '');
    if (!resourceVersion) return effect;
    return {
      ...effect,
      target: { ...effect.target, metadata: { ...effect.target.metadata, resourceVersion } },
    };
  }
}

/**
 * Carries out one effect. Deleting an object that does not exist succeeds; every other failure throws, and the reconcile is
 * repeated with the current objects.
 * @throws the errors of runtime/errors.ts
 */
async function carryOut(effect: Effect, ports: ApplyPorts): Promise<Obj | undefined> {
  const { write, signal } = ports;
  switch (effect.do) {
    case 'create':
      return write({ verb: 'create', kind: effect.kind, object: effect.object, lock: true }, signal);
    case 'patch':
      return lockedPatch(effect.kind, effect.target, effect.body, ports, effect.sub);
    case 'replace': {
      const { resourceVersion } = effect.target.metadata;
      const object = { ...effect.object, metadata: { ...effect.object.metadata, resourceVersion } } as Obj;
      return write({ verb: 'replace', kind: effect.kind, object, lock: true }, signal);
    }
    case 'amend':
      return amendMetadata(effect.kind, effect.target, effect.change, ports);
    case 'delete':
      await deleteIfThere(effect.kind, effect.target, write, signal);
      return undefined;
  }
}

/** A merge patch that fails with Conflict unless `target` is the newest version. */
export function lockedPatch<T extends Obj>(
  kind: Kind<T>,
  target: View<T>,
  body: object,
  { write, readiness, signal }: PatchPorts,
  sub?: 'status',
): Promise<T> {
  const metadata = {
    ...(body as { metadata?: object }).metadata,
    resourceVersion: target.metadata.resourceVersion,
  };
  const { status: patch } = body as { readonly status?: object };
  const status = sub && patch && readiness?.(target, patch);
  return write(
    {
      verb: 'merge',
      kind,
      key: keyOf(target as View<Obj>),
      body: { ...body, ...(status && { status }), metadata },
      lock: true,
      ...(sub && { sub }),
    },
    signal,
  );
}

async function deleteIfThere(
  kind: Kind,
  target: View<Obj>,
  write: Writer,
  signal?: AbortSignal,
): Promise<void> {
  const uid = target.metadata.uid;
  try {
    await write({ verb: 'delete', kind, key: keyOf(target), ...(uid && { uid }) }, signal);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

const MAX_AMENDS = 5;

/** @throws Conflict after MAX_AMENDS conflicts in a row */
async function amendMetadata(
  kind: Kind,
  target: View<Obj>,
  change: Amendment,
  ports: ApplyPorts,
): Promise<Obj | undefined> {
  let latest: View<Obj> = target;
  for (let attempt = 1; ; attempt++) {
    const body = amendmentOf(latest, change);
    if (!body) return undefined;
    try {
      return await lockedPatch(kind, latest, body, ports);
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === MAX_AMENDS) throw error;
      latest = await ports.read(kind, keyOf(target));
      if (latest.metadata.uid !== target.metadata.uid) throw error;
    }
  }
}

/** The merge patch of an amendment for this version of the object; undefined if it needs no change. */
export function amendmentOf(object: View<Obj>, change: Amendment): object | undefined {
  const { finalizers = [], annotations = {} } = object.metadata;
  const spec = (object as { spec?: Readonly<Record<string, unknown>> }).spec ?? {};
  const dropped = Object.entries(change.dropAnnotations ?? {}).filter(
    ([key, value]) => annotations[key] === value,
  );
  const set = Object.entries(change.setAnnotations ?? {}).filter(
    ([key, value]) => annotations[key] !== value,
  );
  const filled = Object.entries(change.specDefaults ?? {}).filter(([key]) => !spec[key]);
  const finalizer = change.addFinalizer;
  const isAdded = finalizer !== undefined && !finalizers.includes(finalizer);
  const changed = [...dropped.map(([key]) => [key, null] as const), ...set];
  if (changed.length === 0 && filled.length === 0 && !isAdded) return undefined;
  return {
    metadata: {
      ...(isAdded && { finalizers: [...finalizers, finalizer] }),
      ...(changed.length > 0 && { annotations: Object.fromEntries(changed) }),
    },
    ...(filled.length > 0 && { spec: Object.fromEntries(filled) }),
  };
}
