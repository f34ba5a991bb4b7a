/**
 * Events for the browser. All viewers of a topic share its state: a new viewer receives a snapshot, and after each
 * change all receive the items that differ.
 */
import type { Clock } from '../../lib/clock.ts';
import { readableJson } from '../../lib/printable.ts';
import type { Node } from '../tree/tree.ts';
import { partsOf, rowOf } from './items.ts';
import type { Model, WatchedModel } from './model.ts';
import { sentRow } from './sent-row.ts';

/** All landscapes, or one of them. */
export type Topic =
  | { readonly kind: 'landscapes' }
  | { readonly kind: 'landscape'; readonly namespace: string; readonly name: string };

interface Item {
  readonly id: string;
}

/** The items that a topic contains now. */
export function itemsOf(model: Model, topic: Topic): readonly Item[] {
  if (topic.kind === 'landscapes') return model.roots().map(rowOf);
  const root = model.root(topic.namespace, topic.name);
  return root ? partsOf(root) : [];
}

/** An item as JSON. */
interface Encoded {
  readonly id: string;
  readonly json: string;
}

const encodedItem = (item: Item): Encoded => ({ id: item.id, json: readableJson(item) });

/** Remembers the results for as long as the trees exist; an unchanged tree is the same object. */
function remembered<T>(of: (root: Node) => T): (root: Node) => T {
  const known = new WeakMap<Node, { readonly value: T }>();
  return (root) => {
    const found = known.get(root) ?? { value: of(root) };
    known.set(root, found);
    return found.value;
  };
}

const encodedRow = remembered((root) => encodedItem(sentRow(rowOf(root))));
const encodedParts = remembered((root) => partsOf(root).map(encodedItem));

type Send = (event: string, json: string) => void;

interface Channel {
  readonly topic: Topic;
  readonly viewers: Set<Send>;
  /** JSON of the items that the viewers have received, by id. */
  sent: ReadonlyMap<string, string>;
}

export interface Feed {
  /** Sends a snapshot immediately, then changes, until the returned function is called. */
  open(topic: Topic, send: Send): () => void;
  close(): void;
}

/** Changes within this time are sent together. */
const MIN_PAUSE_MS = 150;
/** Computing changes takes at most this share of the time. */
const MAX_SHARE = 0.25;
const HEALTH_MS = 5_000;

export function createFeed(model: WatchedModel, clock: Clock): Feed {
  // Trees and rows are remembered, so that the first viewer need not wait for them.
  encoded(model, { kind: 'landscapes' });
  const channels = new Map<string, Channel>();
  let cancelFlush: (() => void) | undefined;
  let nextFlushAt = -Infinity;

  const flush = (): void => {
    const startedAt = clock.now();
    cancelFlush = undefined;
    for (const channel of channels.values()) sendChanges(channel, model);
    const took = clock.now() - startedAt;
    nextFlushAt = clock.now() + Math.max(MIN_PAUSE_MS, took / MAX_SHARE);
  };
  const stopListening = model.onChange(() => {
    if (channels.size === 0) return;
    cancelFlush ??= clock.at(Math.max(clock.now(), nextFlushAt), flush);
  });

  const health = (): string => readableJson({ problem: model.problem() });
  let cancelHealth: (() => void) | undefined;
  const beat = (): void => {
    cancelHealth = clock.at(clock.now() + HEALTH_MS, () => {
      for (const { viewers } of channels.values()) for (const send of viewers) send('health', health());
      beat();
    });
  };
  beat();

  return {
    open(topic, send) {
      const id = JSON.stringify(topic);
      const shared = channels.get(id);
      if (shared) sendChanges(shared, model);
      const channel = shared ?? { topic, viewers: new Set(), sent: encoded(model, topic) };
      channels.set(id, channel);
      channel.viewers.add(send);
      send('health', health());
      send('snapshot', `{"items":[${sendFirst([...channel.sent.values()], [send])}]}`);
      return () => {
        channel.viewers.delete(send);
        if (channel.viewers.size === 0) channels.delete(id);
      };
    },
    close() {
      stopListening();
      cancelFlush?.();
      cancelHealth?.();
      channels.clear();
    },
  };
}

function encoded(model: Model, topic: Topic): ReadonlyMap<string, string> {
  const byId = (items: readonly Encoded[]) => new Map(items.map(({ id, json }) => [id, json]));
  if (topic.kind === 'landscapes') return byId(model.roots().map(encodedRow));
  const root = model.root(topic.namespace, topic.name);
  return byId(root ? encodedParts(root) : []);
}

function sendChanges(channel: Channel, model: Model): void {
  const before = channel.sent;
  const now = encoded(model, channel.topic);
  const set = [...now].flatMap(([id, json]) => (before.get(id) === json ? [] : [json]));
  const gone = [...before.keys()].filter((id) => !now.has(id));
  channel.sent = now;
  if (set.length === 0 && gone.length === 0) return;
  const last = sendFirst(set, channel.viewers);
  const json = `{"set":[${last}],"gone":${JSON.stringify(gone)}}`;
  for (const send of channel.viewers) send('change', json);
}

/** More items are sent as several events, because the browser reads an event in one task. */
const MAX_ITEMS = 500;

/** Sends the first items as events of their own. @returns the JSON of the last ones */
function sendFirst(items: readonly string[], viewers: Iterable<Send>): string {
  let at = 0;
  for (; items.length - at > MAX_ITEMS; at += MAX_ITEMS) {
    const json = `{"items":[${items.slice(at, at + MAX_ITEMS).join(',')}]}`;
    for (const send of viewers) send('items', json);
  }
  return items.slice(at).join(',');
}
