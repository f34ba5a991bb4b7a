/**
 * Laws for replicas that share the work: an object is reconciled by one replica at a time, only the shard holder writes to
 * an object, a new shard holder sees the writes of the previous one, and no reconcile begins in a shard that is being
 * handed over.
 */
import type { Clock } from '../../lib/clock.ts';
import { compareVersions } from '../../runtime/cache/versions.ts';
import { assign } from '../../runtime/fleet/assign.ts';
import { readFleetState } from '../../runtime/fleet/fleet-state.ts';
import { shardLeaseName, shardOf } from '../../runtime/fleet/names.ts';
import { groupOf, joinKey, keyOf } from '../../runtime/keys.ts';
import type { LeaseObject } from '../../runtime/manager/lease.ts';
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
  readonly clock: Clock;
  readonly fail: (violation: Violation) => void;
}

interface Reconcile {
  readonly host: Host;
  /** Whether its signal has aborted. */
  isAborted: boolean;
}

/** The last write of a process to an object. */
interface Written {
  readonly by: string;
  readonly place: string;
  /** Undefined: the write has deleted the object. */
  readonly version: string | undefined;
  readonly uid: string | undefined;
}

/** A shard whose holder has more shards than it should have. */
interface Leaving {
  readonly holder: string;
  readonly since: number;
}

/** Longer than a watch of the Leases can be broken or silent. */
const NOTICE_MS = 60_000;

export class ReplicaLaws {
  readonly #ports: LawPorts;
  /** By controller and key. */
  readonly #active = new Map<string, Set<Reconcile>>();
  /** The place of the primary for which a process last wrote an object, by process and object. */
  readonly #places = new Map<string, string>();
  readonly #primaries = new Set<string>();
  /** By kind and key. */
  readonly #written = new Map<string, Written>();
  /** By shard. */
  readonly #leaving = new Map<number, Leaving>();

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
    this.#checkSeen(host, place, primary);
    this.#checkLeaving(host, place, id);
    const write = <T extends Obj>(request: Write<T>, signal?: AbortSignal): Promise<T> => {
      const key = 'key' in request ? request.key : keyOf(request.object);
      this.#places.set(objectId(host.name, request.kind, key), place);
      return ctx.write(request, signal);
    };
    return { ctx: { ...ctx, write }, end: () => void all.delete(reconcile) };
  }

  /** The holders of Leases have changed: notes which shards have to be handed over, and since when. */
  assigned(leases: Iterable<View<LeaseObject>>): void {
    const { fleet, clock } = this.#ports;
    const { holders, members } = readFleetState(leases, fleet.name);
    const wanted = assign(holders, [...members.keys()]);
    holders.forEach((holder, shard) => {
      if (holder === undefined || wanted[shard] === holder) this.#leaving.delete(shard);
      else if (this.#leaving.get(shard)?.holder !== holder)
        this.#leaving.set(shard, { holder, since: clock.now() });
    });
  }

  #checkLeaving({ name }: Host, place: string, id: string): void {
    const leaving = this.#leaving.get(shardOf(place));
    if (!leaving?.holder.startsWith(`${name}-`)) return;
    const sinceMs = this.#ports.clock.now() - leaving.since;
    if (sinceMs <= NOTICE_MS) return;
    const what = `${name} began to reconcile ${id} although its shard is to be handed over since ${String(sinceMs)} ms`;
    this.#ports.fail(new Violation('no reconcile begins in a shard that is being handed over', what));
  }

  #checkSeen({ name }: Host, place: string, primary: View<Obj>): void {
    const last = this.#written.get(objectKey(primary));
    if (!last || last.by === name || last.place !== place) return;
    const { uid, resourceVersion } = primary.metadata;
    const isSeen =
      last.version === undefined
        ? last.uid !== uid
        : (compareVersions(resourceVersion, last.version) ?? 0) >= 0;
    if (isSeen) return;
    const wrote = last.version === undefined ? 'deleted it' : `wrote version ${last.version}`;
    const what = `${name} reconciles version ${String(resourceVersion)} of ${primary.kind} ${keyOf(primary)}, but ${last.by} ${wrote}`;
    this.#ports.fail(new Violation('a new shard holder sees the writes of the previous one', what));
  }

  /** An object has changed on the server. */
  changed({ type, object, by }: ObjectChange): void {
    const { namespace, name } = this.#ports.fleet;
    if (!by?.startsWith(`${name}#`)) return;
    const place = this.#placeOf(object, by);
    if (place === undefined) return;
    const { uid, resourceVersion } = object.metadata;
    const version = type === 'DELETED' ? undefined : resourceVersion;
    this.#written.set(objectKey(object), { by, place, version, uid });
    const lease = joinKey(namespace, shardLeaseName(name, shardOf(place)));
    const holder = this.#ports.holderOf(lease) ?? 'no replica';
    if (holder.startsWith(`${by}-`)) return;
    const what = `${by} wrote ${object.kind} ${keyOf(object)} of ${place}, whose shard is held by ${holder}`;
    this.#ports.fail(new Violation('only the shard holder writes to an object', what));
  }

  /** The runtime itself writes finalizers and the status of primaries. */
  #placeOf(object: View<Obj>, by: string): string | undefined {
    const group = groupOf(object.apiVersion);
    const noted = this.#places.get(objectId(by, { group, kind: object.kind }, keyOf(object)));
    if (noted !== undefined) return noted;
    return this.#primaries.has(`${group}/${object.kind}`) ? this.#ports.place(object) : undefined;
  }
}

const objectKey = (object: View<Obj>): string =>
  [groupOf(object.apiVersion), object.kind, keyOf(object)].join(' ');

const objectId = (process: string, { group, kind }: Pick<Kind, 'group' | 'kind'>, key: Key): string =>
  [process, group, kind, key].join(' ');
