/** Carries out effects: the only place where a decision becomes requests. */
import { Conflict, NotFound } from '../runtime/errors.ts';
import type { Kind, Obj, View, Writer } from '../runtime/types.ts';
import type { Amendment, Effect } from './decision.ts';

/** What effects are carried out with. */
export interface ApplyPorts {
  readonly write: Writer;
  /** Reads an object from the server, past every cache. */
  readonly read: (kind: Kind, key: string) => Promise<Obj>;
  readonly signal?: AbortSignal;
}

export const keyOf = (obj: View<Obj>): string =>
  obj.metadata.namespace ? `${obj.metadata.namespace}/${obj.metadata.name}` : obj.metadata.name;

/**
 * Remembers the versions that our own writes made, so that a second patch to the same object within one pass
 * builds on the first instead of conflicting with it.
 */
export class Applier {
  readonly #ports: ApplyPorts;
  readonly #versions = new Map<string, string>();

  /** @param written what was stored by other means since the effects were decided upon, nobody else's write in between */
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
    // A replacement would undo what was written before it in this pass: let it conflict, and the pass be repeated.
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
 * One effect. Deleting what is gone is success; everything else that fails throws, and the pass is repeated from
 * what is there then.
 * @throws the errors of runtime/errors.ts
 */
async function carryOut(effect: Effect, ports: ApplyPorts): Promise<Obj | undefined> {
  const { write, signal } = ports;
  switch (effect.do) {
    case 'create':
      return write({ verb: 'create', kind: effect.kind, object: effect.object, lock: true }, signal);
    case 'patch':
      return lockedPatch(effect.kind, effect.target, effect.body, write, effect.sub, signal);
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

/** A merge patch that fails with Conflict when `target` is not the newest version. */
export function lockedPatch<T extends Obj>(
  kind: Kind<T>,
  target: View<T>,
  body: object,
  write: Writer,
  sub?: 'status',
  signal?: AbortSignal,
): Promise<T> {
  const metadata = {
    ...(body as { metadata?: object }).metadata,
    resourceVersion: target.metadata.resourceVersion,
  };
  return write(
    {
      verb: 'merge',
      kind,
      key: keyOf(target as View<Obj>),
      body: { ...body, metadata },
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

/** @throws Conflict when others keep writing the object faster than we can */
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
      return await lockedPatch(kind, latest, body, ports.write, undefined, ports.signal);
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === MAX_AMENDS) throw error;
      latest = await ports.read(kind, keyOf(target));
      if (latest.metadata.uid !== target.metadata.uid) throw error;
    }
  }
}

/** The merge patch that an amendment amounts to for this version; undefined when there is nothing to do. */
export function amendmentOf(object: View<Obj>, change: Amendment): object | undefined {
  const { finalizers = [], annotations = {} } = object.metadata;
  const spec = (object as { spec?: Readonly<Record<string, unknown>> }).spec ?? {};
  const dropped = Object.entries(change.dropAnnotations ?? {}).filter(
    ([key, value]) => annotations[key] === value,
  );
  const filled = Object.entries(change.specDefaults ?? {}).filter(([key]) => !spec[key]);
  const finalizer = change.addFinalizer;
  const isAdded = finalizer !== undefined && !finalizers.includes(finalizer);
  if (dropped.length === 0 && filled.length === 0 && !isAdded) return undefined;
  return {
    metadata: {
      ...(isAdded && { finalizers: [...finalizers, finalizer] }),
      ...(dropped.length > 0 && { annotations: Object.fromEntries(dropped.map(([key]) => [key, null])) }),
    },
    ...(filled.length > 0 && { spec: Object.fromEntries(filled) }),
  };
}
