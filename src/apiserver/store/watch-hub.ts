/**
 * Manages watches. Each change is encoded once per form and shared by all watchers of that form; the frames of one
 * event loop turn are sent in one write. A watcher that is too slow is disconnected; it never misses single events.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Kind } from '../kinds/kinds.ts';
import { ApiError } from '../status.ts';
import type { Change, Entry, Resource, Store } from './storage.ts';
import type { KubeObject, Predicate } from '../types.ts';
import { convertViews, jsonOf, viewOf } from './view.ts';

/** The destination of a watch's frames. */
export interface Sink {
  /** Bytes that are accepted but not sent yet. */
  readonly queued: number;
  write(chunk: Buffer): void;
  end(): void;
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** The requested form of objects. */
export interface Form {
  /** Equal for watchers that can share frames; undefined disables sharing. */
  readonly id: string | undefined;
  /** JSON of the object in an event; undefined: the object itself. */
  readonly encode?: (object: KubeObject) => Buffer;
}

export interface WatchRequest {
  readonly kind: Kind;
  /** Prefix of the watched keys. */
  readonly prefix: string;
  readonly matches: Predicate | undefined;
  readonly form: Form;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

const MAX_QUEUED_BYTES = 8 * 1024 * 1024;
const MAX_QUEUED_FRAMES = 10_000;
const BOOKMARK_MS = 60_000;

class Watcher {
  readonly request: WatchRequest;
  readonly #sink: Sink;
  readonly #hub: WatchHub;
  #pending: Buffer[] = [];
  /**
   * Initial frames and bytes, which do not count against the limit: they may be large, and do not mean that the
   * watcher is slow.
   */
  #freeFrames = 0;
  #freeBytes = 0;
  #closed = false;
  /** Resolves when earlier events are sent that wait for a conversion webhook. */
  #converting: Promise<void> | undefined;
  readonly onClose: (() => void)[] = [];

  constructor(hub: WatchHub, request: WatchRequest, sink: Sink) {
    this.#hub = hub;
    this.request = request;
    this.#sink = sink;
  }

  push(frame: Buffer): void {
    if (this.#closed) return;
    this.#pending.push(frame);
    this.#hub.markDirty(this);
  }

  /**
   * Sends the initial events.
   * @param entries that they are about
   */
  begin(entries: readonly (Entry | undefined)[], framesOf: () => readonly Buffer[]): void {
    this.#whenConverted(entries, () => {
      const frames = framesOf();
      for (const frame of frames) this.#freeBytes += frame.length;
      this.#freeFrames += frames.length;
      for (const frame of frames) this.push(frame);
    });
  }

  deliver(change: Change): void {
    const { prefix } = this.request;
    if (prefix !== '' && !change.key.startsWith(prefix)) return;
    this.#whenConverted([change.prev, change.next], () => {
      const frame = frameFor(this.request, change);
      if (frame) this.push(frame);
    });
  }

  /** Bookmarks follow the events before them. */
  bookmark(rev: number): void {
    this.#whenConverted([], () => {
      this.push(bookmarkFrame(this.request, rev, false));
    });
  }

  /** Runs at once, unless a conversion webhook has to be called; then in the order of the calls. */
  #whenConverted(entries: readonly (Entry | undefined)[], run: () => void): void {
    const { kind } = this.request;
    const converting = kind.webhook && convertViews(entries, kind);
    if (!converting && !this.#converting) {
      run();
      return;
    }
    const before = this.#converting;
    const turn = Promise.all([before, converting]).then(run, (error: unknown) => {
      this.#fail(error);
    });
    this.#converting = turn;
    void turn.then(() => {
      if (this.#converting === turn) this.#converting = undefined;
    });
  }

  #fail(error: unknown): void {
    if (error instanceof ApiError) this.push(frame('ERROR', Buffer.from(JSON.stringify(error.body))));
    this.close();
  }

  flush(): void {
    if (this.#closed || this.#pending.length === 0) return;
    const { queued } = this.#sink;
    const isSlow =
      queued > MAX_QUEUED_BYTES + this.#freeBytes ||
      this.#pending.length > MAX_QUEUED_FRAMES + this.#freeFrames;
    // After the initial events are sent, the exemption ends.
    if (this.#freeFrames === 0 && queued === 0) this.#freeBytes = 0;
    this.#freeFrames = 0;
    if (isSlow) {
      this.#pending = [];
      this.close();
      return;
    }
    const frames = this.#pending;
    this.#pending = [];
    this.#sink.write(frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
  }

  /** Sends pending frames and ends the stream. */
  close(): void {
    if (this.#closed) return;
    this.flush();
    this.#closed = true;
    this.#hub.remove(this);
    for (const fn of this.onClose) fn();
    this.#sink.end();
  }

  get closed(): boolean {
    return this.#closed;
  }
}

export class WatchHub {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #watchers = new Map<string, Set<Watcher>>();
  readonly #dirty = new Set<Watcher>();
  #flushing = false;
  #cancelBookmarks: (() => void) | undefined;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    store.listeners.add((resource, change) => {
      this.#deliver(resource, change);
    });
  }

  get size(): number {
    let count = 0;
    for (const watchers of this.#watchers.values()) count += watchers.size;
    return count;
  }

  /** Starts a watch; the caller sends the earlier events. */
  add(request: WatchRequest, sink: Sink): Watcher {
    const watcher = new Watcher(this, request, sink);
    let watchers = this.#watchers.get(request.kind.resource);
    if (!watchers) this.#watchers.set(request.kind.resource, (watchers = new Set()));
    watchers.add(watcher);
    watcher.onClose.push(
      this.#clock.at(this.#clock.now() + request.timeoutMs, () => {
        if (request.bookmarks) watcher.bookmark(this.#store.rev);
        watcher.close();
      }),
    );
    if (request.bookmarks) this.#armBookmarks();
    return watcher;
  }

  remove(watcher: Watcher): void {
    this.#watchers.get(watcher.request.kind.resource)?.delete(watcher);
    this.#dirty.delete(watcher);
  }

  /** Ends the watches of a resource, of one served kind of it, or all. */
  cut(which: { resource?: string; kind?: Kind } = {}): void {
    for (const [resource, watchers] of this.#watchers) {
      if (which.resource !== undefined && which.resource !== resource) continue;
      for (const watcher of [...watchers])
        if (which.kind === undefined || watcher.request.kind === which.kind) watcher.close();
    }
  }

  close(): void {
    this.cut();
    this.#cancelBookmarks?.();
  }

  markDirty(watcher: Watcher): void {
    this.#dirty.add(watcher);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      const dirty = [...this.#dirty];
      this.#dirty.clear();
      for (const each of dirty) each.flush();
    });
  }

  #deliver(resource: Resource, change: Change): void {
    const watchers = this.#watchers.get(resource.id);
    if (!watchers) return;
    for (const watcher of watchers) watcher.deliver(change);
    // Only shared by the current watchers; later ones encode it again.
    delete change.frames;
  }

  #armBookmarks(): void {
    if (this.#cancelBookmarks) return;
    this.#cancelBookmarks = this.#clock.at(this.#clock.now() + BOOKMARK_MS, () => {
      this.#cancelBookmarks = undefined;
      let any = false;
      for (const watchers of this.#watchers.values())
        for (const watcher of watchers) {
          if (!watcher.request.bookmarks) continue;
          any = true;
          watcher.bookmark(this.#store.rev);
        }
      if (any) this.#armBookmarks();
    });
  }
}

/** The frame of a change for a watcher, or undefined. With a selector, changes can become ADDED and DELETED events. */
export function frameFor(request: WatchRequest, change: Change): Buffer | undefined {
  if (request.prefix !== '' && !change.key.startsWith(request.prefix)) return undefined;
  const { kind, matches } = request;
  const before = change.prev !== undefined && (!matches || matches(viewOf(change.prev, kind)));
  const after = change.next !== undefined && (!matches || matches(viewOf(change.next, kind)));
  if (!before && !after) return undefined;
  const type: EventType = !after ? 'DELETED' : before ? 'MODIFIED' : 'ADDED';
  return eventFrame(request, type, change);
}

function eventFrame(request: WatchRequest, type: EventType, change: Change): Buffer {
  const { kind, form } = request;
  // Frames that wait for a webhook are encoded when the change is not shared any more.
  const id = form.id === undefined || kind.webhook ? undefined : `${type} ${form.id}`;
  if (id !== undefined) {
    const shared = change.frames?.get(id);
    if (shared) return shared;
  }
  let body: Buffer;
  if (type === 'DELETED' && change.prev) {
    const object = viewOf(change.prev, kind);
    const last = { ...object, metadata: { ...object.metadata, resourceVersion: String(change.rev) } };
    body = form.encode ? form.encode(last) : Buffer.from(JSON.stringify(last));
  } else {
    const entry = change.next as NonNullable<Change['next']>;
    body = form.encode ? form.encode(viewOf(entry, kind)) : jsonOf(entry, kind);
  }
  const built = frame(type, body);
  if (id !== undefined) (change.frames ??= new Map<string, Buffer>()).set(id, built);
  return built;
}

export function frame(type: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"type":"${type}","object":`), body, Buffer.from('}\n')]);
}

/** @param initialEnd marks the end of the initial events of a streaming list */
export function bookmarkFrame(request: WatchRequest, rev: number, initialEnd: boolean): Buffer {
  const object: KubeObject = {
    kind: request.kind.kind,
    apiVersion: request.kind.apiVersion,
    metadata: {
      resourceVersion: String(rev),
      ...(initialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    } as unknown as KubeObject['metadata'],
  };
  const body = request.form.encode ? request.form.encode(object) : Buffer.from(JSON.stringify(object));
  return frame('BOOKMARK', body);
}
