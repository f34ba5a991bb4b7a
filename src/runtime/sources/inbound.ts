/** Sources that are told: webhooks, sockets, message queues call them, and they raise events. */
import { keyOf } from '../keys.ts';
import type { Readable } from './polling.ts';
import type { Source, SourceHost } from './sources.ts';
import type { Key, Obj, View } from '../types.ts';
import { Values, type ValueShape } from './values.ts';

/** A source that raises an event whenever `emit` is called, as by a webhook. */
export interface InboundSource extends Source {
  /** Raises an event for a primary; before the controller has started it means nothing. */
  emit(key: Key): void;
}

/**
 * Makes a source that raises events when it is told to.
 * @param name unique within the controller
 */
export function inboundSource(name: string): InboundSource {
  const hosts = new Set<SourceHost>();
  return {
    name,
    stage: 'normal',
    emit(key) {
      for (const host of hosts) host.emit(key, { source: name, action: 'generic' });
    },
    attach: (host) => ({ start: (signal) => listen(hosts, host, signal), of: () => [] }),
  };
}

/** A source that is told the state of things by others, and keeps it. */
export interface CachingInbound<V, P extends Obj> extends ValueShape<V> {
  readonly name: string;
  /** Asked once for a primary of which nothing has been pushed. */
  fetch?(primary: View<P>): Promise<readonly V[]>;
}

/** A source to which states are pushed; what is pushed is known from then on. */
export interface CachingInboundSource<V, P extends Obj> extends Source<P>, Readable<V> {
  /** Takes a new state; raises an event when it differs from the known one. */
  push(key: Key, value: V): void;
  /** Takes note that a value, or all of a primary's, is gone. */
  remove(key: Key, id?: string): void;
  load(primary: View<P>): Promise<readonly V[]>;
}

/**
 * Makes a source into which states are pushed: what is news raises an event, and what was pushed can be read
 * without asking.
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
