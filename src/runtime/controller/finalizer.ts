/** Adds and removes our finalizer, without changing finalizers of others. */
import { Conflict, DefinitionError, Invalid, NotFound } from '../errors.ts';
import { keyOf } from '../keys.ts';
import type { Client, JsonOp, Kind, Obj, View, Writer } from '../types.ts';

const MAX_TRIES = 10;
const PATH = '/metadata/finalizers';

/** `widgets.example.io/finalizer` */
export const defaultFinalizer = ({ plural, group }: Kind<never> | Kind): string =>
  group ? `${plural}.${group}/finalizer` : `${plural}/finalizer`;

const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** @throws DefinitionError if `name` is not a valid `prefix/name` */
export function checkFinalizer(name: string): void {
  const [prefix = '', rest = '', ...more] = name.split('/');
  if (more.length === 0 && prefix.length <= 253 && PREFIX.test(prefix) && NAME.test(rest)) return;
  throw new DefinitionError({
    message: `finalizer ${JSON.stringify(name)} is not a name of the form example.org/name`,
  });
}

export const hasFinalizer = (obj: View<Obj>, finalizer: string): boolean =>
  obj.metadata.finalizers?.includes(finalizer) ?? false;

interface FinalizerPorts {
  readonly client: Client;
  readonly write: Writer;
  readonly signal: AbortSignal;
}

/**
 * Adds the finalizer. @returns the object with it, or undefined if the object is gone
 * @throws the last conflict after ten attempts, and any other error of the request
 */
export function addFinalizer<P extends Obj>(
  kind: Kind<P>,
  obj: View<P>,
  finalizer: string,
  ports: FinalizerPorts,
): Promise<View<P> | undefined> {
  return change(kind, obj, ports, (current) => {
    if (hasFinalizer(current, finalizer) || current.metadata.deletionTimestamp !== undefined)
      return undefined;
    const { finalizers } = current.metadata;
    if (!finalizers || finalizers.length === 0) {
      return [
        { op: 'test', path: PATH, value: null },
        { op: 'add', path: PATH, value: [finalizer] },
      ];
    }
    return [
      { op: 'test', path: PATH, value: finalizers },
      { op: 'add', path: `${PATH}/-`, value: finalizer },
    ];
  });
}

/** Removes the finalizer; undefined if the object is already gone. */
export function removeFinalizer<P extends Obj>(
  kind: Kind<P>,
  obj: View<P>,
  finalizer: string,
  ports: FinalizerPorts,
): Promise<View<P> | undefined> {
  return change(kind, obj, ports, (current) => {
    const finalizers = current.metadata.finalizers ?? [];
    const index = finalizers.indexOf(finalizer);
    if (index < 0) return undefined;
    return [
      { op: 'test', path: PATH, value: finalizers },
      { op: 'remove', path: `${PATH}/${String(index)}` },
    ];
  });
}

/**
 * Patches; after a conflict, reads the live object and computes the patch again. Without a patch there is nothing to
 * do.
 */
async function change<P extends Obj>(
  kind: Kind<P>,
  obj: View<P>,
  ports: FinalizerPorts,
  patchFor: (current: View<P>) => readonly JsonOp[] | undefined,
): Promise<View<P> | undefined> {
  const key = keyOf(obj);
  let current = obj;
  for (let tries = 1; ; tries++) {
    const ops = patchFor(current);
    if (!ops) return current;
    try {
      const answer = await ports.write({ verb: 'json', kind, key, ops, lock: true }, ports.signal);
      return answer as View<P>;
    } catch (error) {
      if (error instanceof NotFound) return undefined;
      const isRefused = error instanceof Conflict || error instanceof Invalid;
      if (!isRefused || tries >= MAX_TRIES) throw error;
    }
    const live = await readLive(kind, key, ports);
    if (!live || live.metadata.uid !== obj.metadata.uid) return undefined;
    current = live;
  }
}

async function readLive<P extends Obj>(
  kind: Kind<P>,
  key: string,
  ports: FinalizerPorts,
): Promise<View<P> | undefined> {
  try {
    return (await ports.client.get(kind, key, ports.signal)) as View<P>;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
