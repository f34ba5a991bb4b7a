/**
 * A cache for kinds with very many or very large objects: a watch keeps the metadata of all of them, and a limited number
 * of complete objects is kept in memory. Others are read from the server when they are needed.
 *
 * Example: a reconcile reads a ConfigMap whose complete state is in memory with version 11. The watch has delivered the
 * metadata of version 12, so the object is requested again, once for all that wait for it.
 */
import { deepFreeze } from '../../lib/json.ts';
import type { Clock } from '../../lib/clock.ts';
import { DefinitionError } from '../errors.ts';
import { keyOf } from '../keys.ts';
import { getIfThere } from '../transport/read.ts';
import type { BoundedCache, BoundedCacheOptions, Cache, Client, Key, Kind, Obj, View } from '../types.ts';
import { dropManagedFields, keepsFieldsOf } from './transforms.ts';
import { compareVersions } from './versions.ts';

const MAX_OBJECTS = 1_000;

interface BoundedPorts {
  readonly client: Client;
  readonly clock: Clock;
  /** Of all objects that the options select. */
  readonly metadata: Cache<Obj>;
  readonly freeze?: boolean | undefined;
}

interface Entry<T> {
  readonly obj: View<T>;
  readonly usedAt: number;
}

export class BoundedObjects<T extends Obj> implements BoundedCache<T> {
  readonly kind: Kind<T>;
  readonly metadata: Cache<Obj>;
  readonly #ports: BoundedPorts;
  readonly #maxObjects: number;
  readonly #maxIdleMs: number;
  readonly #transform: (obj: T) => T;
  /** In the order of their last use. */
  readonly #entries = new Map<Key, Entry<T>>();
  readonly #requests = new Map<Key, Promise<View<T> | undefined>>();

  /** @throws DefinitionError if a limit is not a positive number */
  constructor(kind: Kind<T>, options: BoundedCacheOptions<T>, ports: BoundedPorts) {
    this.kind = kind;
    this.metadata = ports.metadata;
    this.#ports = ports;
    this.#maxObjects = positive('maxObjects', options.maxObjects ?? MAX_OBJECTS, kind);
    this.#maxIdleMs = positive('maxIdleMs', options.maxIdleMs ?? Infinity, kind);
    this.#transform = options.transform ?? dropManagedFields;
    ports.metadata.subscribe({
      name: `bounded cache of ${ports.metadata.name}`,
      ownEvents: 'deliver',
      on: ({ type, obj }) => {
        const key = keyOf(obj);
        if (type === 'delete' || this.#isOlder(this.#entries.get(key)?.obj, obj)) this.#entries.delete(key);
        this.#dropIdle();
      },
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  showsFieldsOf(manager: string): boolean {
    return keepsFieldsOf(manager, this.#transform);
  }

  async read(key: Key, signal?: AbortSignal): Promise<View<T> | undefined> {
    signal?.throwIfAborted();
    this.#dropIdle();
    const known = this.metadata.peek(key);
    if (!known && this.metadata.isSynced) return undefined;
    const entry = this.#entries.get(key);
    if (known && entry && !this.#isOlder(entry.obj, known)) {
      this.#put(key, entry.obj);
      return entry.obj;
    }
    const joined = this.#requests.get(key);
    if (joined) {
      const obj = await abortable(joined, signal);
      // The request may have been sent before the event that this reader knows of.
      if (!known || !this.#isOlder(obj, known)) return obj;
    }
    return abortable(this.#request(key), signal);
  }

  #request(key: Key): Promise<View<T> | undefined> {
    const request = this.#get(key).finally(() => {
      if (this.#requests.get(key) === request) this.#requests.delete(key);
    });
    this.#requests.set(key, request);
    return request;
  }

  async #get(key: Key): Promise<View<T> | undefined> {
    const found = await getIfThere(this.#ports.client, this.kind, key);
    if (!found) return undefined;
    const prepared = this.#transform(found);
    const obj = (this.#ports.freeze ? deepFreeze(prepared) : prepared) as View<T>;
    // The watch may already know a newer state, or that the object is gone.
    const known = this.metadata.peek(key);
    if (known && !this.#isOlder(obj, known)) this.#put(key, obj);
    return obj;
  }

  #put(key: Key, obj: View<T>): void {
    this.#entries.delete(key);
    this.#entries.set(key, { obj, usedAt: this.#ports.clock.now() });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxObjects) return;
      this.#entries.delete(oldest);
    }
  }

  #dropIdle(): void {
    const limit = this.#ports.clock.now() - this.#maxIdleMs;
    for (const [key, { usedAt }] of this.#entries) {
      if (usedAt > limit) return;
      this.#entries.delete(key);
    }
  }

  /** Whether a complete object is older than the metadata, or of another object of the same name. */
  #isOlder(obj: View<Obj> | undefined, { metadata }: View<Obj>): boolean {
    if (!obj) return true;
    const order = compareVersions(obj.metadata.resourceVersion, metadata.resourceVersion);
    return order === undefined ? obj.metadata.resourceVersion !== metadata.resourceVersion : order < 0;
  }
}

function positive(name: string, value: number, { kind }: Kind<never> | Kind): number {
  if (value > 0) return value;
  throw new DefinitionError({
    message: `bounded cache of ${kind}: ${name} must be a positive number, not ${String(value)}`,
  });
}

/** Waits for a request that others wait for as well, so one of them must not end it. */
async function abortable<R>(request: Promise<R>, signal: AbortSignal | undefined): Promise<R> {
  if (!signal) return request;
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([request, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
