/** Sources that other code calls: webhooks, sockets and message queues report events to them. */
import { keyOf } from '../keys.ts';
import type { Readable } from './polling.ts';
import type { Source, SourceHost } from './sources.ts';
import type { Key, Obj, View } from '../types.ts';
import { Values, type ValueShape } from './values.ts';

/** A source that raises an event for each call of `emit`, for example by a webhook. */
export interface InboundSource extends Source {
  /** Queues a primary; ignored before the controller has started. */
  emit(key: Key): void;
}

/** Where the events of a source arrive. */
export interface InboundOptions {
  /**
   * Every replica receives every event. Required if replicas share the work: only the replica that is responsible for
   * the primary handles the event. Default `false`.
   */
  readonly everyReplica?: boolean;
}

/**
 * A source that raises events on demand.
 * @param name unique within the controller
 */
export function inboundSource(name: string, { everyReplica = false }: InboundOptions = {}): InboundSource {
  const hosts = new Set<SourceHost>();
  return {
    name,
    stage: 'normal',
    isLocal: !everyReplica,
    emit(key) {
      for (const host of hosts) host.emit(key, { source: name, action: 'generic' });
    },
    attach: (host) => ({ start: (signal) => listen(hosts, host, signal), of: () => [] }),
  };
}

/** A source that receives values from other code, and keeps them. */
export interface CachingInbound<V, P extends Obj> extends ValueShape<V>, InboundOptions {
  readonly name: string;
  /** Called once for a primary without pushed values. */
  fetch?(primary: View<P>): Promise<readonly V[]>;
}

/** A source to which values are pushed, and from which they can be read. */
export interface CachingInboundSource<V, P extends Obj> extends Source<P>, Readable<V> {
  /** Stores a new value; raises an event if it differs from the stored one. */
  push(key: Key, value: V): void;
  /** Removes one value, or all values of a primary. */
  remove(key: Key, id?: string): void;
  load(primary: View<P>): Promise<readonly V[]>;
}

/**
 * A source to which values are pushed: changed values raise an event, and pushed values can be read without a
 * request.
 */
export function cachingInboundSource<V, P extends Obj = Obj>(
  spec: CachingInbound<V, P>,
): CachingInboundSource<V, P> {
  const hosts = new Set<SourceHost<P>>();
  const values = new Values<V>(spec);
  const raise = (key: Key): void => {
    for (const host of hosts) host.emit(key, { source: spec.name, action: 'generic' });
  };
  return {
    name: spec.name,
    stage: 'normal',
    isLocal: spec.everyReplica !== true,
    of: (primary) => values.of(keyOf(primary)),
    push(key, value) {
      if (values.put(key, value)) raise(key);
    },
    remove(key, id) {
      if (values.remove(key, id)) raise(key);
    },
    async load(primary) {
      const key = keyOf(primary);
      if (!values.has(key) && spec.fetch) {
        const found = await spec.fetch(primary);
        if (!values.has(key)) values.set(key, found);
      }
      return values.of(key);
    },
    attach: (host) => ({
      start: (signal) => listen(hosts, host, signal),
      of: (primary) => values.of(keyOf(primary)),
    }),
  };
}

function listen<H>(hosts: Set<H>, host: H, signal: AbortSignal): Promise<void> {
  hosts.add(host);
  signal.addEventListener('abort', () => hosts.delete(host), { once: true });
  return Promise.resolve();
}
