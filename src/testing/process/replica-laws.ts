/**
 * Laws for replicas that share the work: an object is reconciled by one replica at a time, and only the replica that
 * holds its shard writes.
 */
import { shardLeaseName, shardOf } from '../../runtime/fleet/names.ts';
import { joinKey, keyOf } from '../../runtime/keys.ts';
import type { Context, Key, Kind, Obj, View, Write } from '../../runtime/types.ts';
import type { ObjectChange } from '../cluster/local-cluster.ts';
import type { Host } from '../network/exchange.ts';
import { Violation } from '../violation.ts';

interface LawPorts {
  /** The fleet, and the namespace of its Leases. Names of its processes begin with `name#`. */
  readonly fleet: { readonly namespace: string; readonly name: string };
  place(primary: View<Obj>): string;
  /** Holder of the Lease with this key, as the server has it. */
  holderOf(lease: Key): string | undefined;
  readonly fail: (violation: Violation) => void;
}

interface Reconcile {
  readonly host: Host;
  /** Whether its signal has aborted. */
  isAborted: boolean;
}

export class ReplicaLaws {
  readonly #ports: LawPorts;
  /** By controller and key. */
  readonly #active = new Map<string, Set<Reconcile>>();
  /** The place of the primary for which a process last wrote an object, by process and object. */
  readonly #places = new Map<string, string>();
  readonly #primaries = new Set<string>();

  constructor(ports: LawPorts) {
    this.#ports = ports;
  }

  knowPrimary({ group, kind }: Kind): void {
    this.#primaries.add(`${group}/${kind}`);
  }

  /** A reconcile begins. @returns its context, in which writes are noted, and what to call at its end */
  begin<P extends Obj>(
    host: Host,
    primary: View<P>,
    ctx: Context<P>,
  ): { readonly ctx: Context<P>; readonly end: () => void } {
    const id = `${ctx.controller.name} ${ctx.key}`;
    const reconcile: Reconcile = { host, isAborted: false };
    const all = this.#active.get(id) ?? new Set();
    this.#active.set(id, all);
    for (const other of all)
      if (other.host !== host && other.host.isAlive && !other.isAborted)
        this.#ports.fail(
          new Violation(
            'an object is reconciled by one replica at a time',
            `${id} by ${other.host.name} and ${host.name}`,
          ),
        );
    all.add(reconcile);
    ctx.signal.addEventListener('abort', () => (reconcile.isAborted = true), { once: true });
    const place = this.#ports.place(primary);
    const write = <T extends Obj>(request: Write<T>, signal?: AbortSignal): Promise<T> => {
      const key = 'key' in request ? request.key : keyOf(request.object);
      this.#places.set(objectId(host.name, request.kind, key), place);
      return ctx.write(request, signal);
    };
    return { ctx: { ...ctx, write }, end: () => void all.delete(reconcile) };
  }

  /** An object has changed on the server. */
  changed({ object, by }: ObjectChange): void {
    const { namespace, name } = this.#ports.fleet;
    if (!by?.startsWith(`${name}#`)) return;
    const place = this.#placeOf(object, by);
    if (place === undefined) return;
    const lease = joinKey(namespace, shardLeaseName(name, shardOf(place)));
    const holder = this.#ports.holderOf(lease) ?? 'no replica';
    if (holder.startsWith(`${by}-`)) return;
    const what = `${by} wrote ${object.kind} ${keyOf(object)} of ${place}, whose shard is held by ${holder}`;
    this.#ports.fail(new Violation('only the replica that is responsible for an object writes', what));
  }

  /** The runtime itself writes finalizers and the status of primaries. */
  #placeOf(object: View<Obj>, by: string): string | undefined {
    const group = object.apiVersion.includes('/') ? (object.apiVersion.split('/')[0] ?? '') : '';
    const noted = this.#places.get(objectId(by, { group, kind: object.kind }, keyOf(object)));
    if (noted !== undefined) return noted;
    return this.#primaries.has(`${group}/${object.kind}`) ? this.#ports.place(object) : undefined;
  }
}

const objectId = (process: string, { group, kind }: Pick<Kind, 'group' | 'kind'>, key: Key): string =>
  [process, group, kind, key].join(' ');
