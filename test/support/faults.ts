/**
 * A client with faults: one write rejected, one response lost, a watch cut, or from one write on nothing at all, as
 * if the process had been killed. Faults belong to a namespace, so one set of controllers can have many of them at
 * once without the scenes disturbing each other.
 */
import {
  AlreadyExists,
  Conflict,
  ServerFailure,
  ShutdownError,
  TooManyRequests,
  TransportError,
  type ApiErrorFacts,
} from '../../src/runtime/errors.ts';
import { aborted } from '../../src/runtime/manager/signals.ts';
import { leaseKind } from '../../src/runtime/manager/lease.ts';
import type { Client, Frame, Kind, Obj, Query, Write } from '../../src/runtime/types.ts';

/** `lost`: the write took effect, but its response never arrived. `reset`: the write never arrived. */
export const refusals = ['conflict', 'too-many', 'server-error', 'lost', 'reset'] as const;
export type Refusal = (typeof refusals)[number] | 'webhook-down';
/** The process dies right before or right after the write. */
export type Crash = 'crash-before' | 'crash-after';
/** All watches break, those of other namespaces too, after the write took effect and before its response arrives. */
export type Cut = 'cut-watches';

/** The write waits for `release` before it is sent; a write that its caller aborts first is never sent. */
export type Hold = 'hold';

export interface Fault {
  readonly what: Refusal | Crash | Cut | Hold;
  /** The write that it hits, counted from 1 among the matching ones. */
  readonly nth: number;
  readonly matches?: (write: Write) => boolean;
}

interface Armed {
  readonly fault: Fault;
  readonly struck: Deferred;
  readonly released: Deferred;
  count: number;
  hit: Write | undefined;
}

const namespaceOf = (write: Write): string =>
  'object' in write ? (write.object.metadata.namespace ?? '') : (write.key.split('/')[0] ?? '');

/** `create Installation x`, for messages. */
export function nameOfWrite(write: Write | undefined): string {
  if (!write) return 'nothing';
  const name = 'object' in write ? write.object.metadata.name : write.key.split('/')[1];
  return `${write.verb} ${write.kind.kind}${write.sub ? '/status' : ''} ${name ?? ''}`;
}

export class Faults {
  readonly #armed = new Map<string, Armed>();
  readonly #dead = new Set<string>();
  readonly #writes = new Map<string, Write[]>();
  #leaseWrites = 0;
  #killed = false;
  readonly #watches = new Map<AbortController, string>();

  /** Counting starts now. A new fault replaces the previous one. */
  arm(namespace: string, fault: Fault): void {
    this.#armed.set(namespace, { fault, struck: deferred(), released: deferred(), count: 0, hit: undefined });
  }

  /** Resolves when the fault has hit its write, and the write has taken effect if it should. */
  struck(namespace: string): Promise<void> {
    return this.#armed.get(namespace)?.struck.promise ?? Promise.resolve();
  }

  /** The write that the fault has hit. */
  hit(namespace: string): Write | undefined {
    return this.#armed.get(namespace)?.hit;
  }

  /** Sends a write that was held. */
  release(namespace: string): void {
    this.#armed.get(namespace)?.released.resolve();
  }

  isDead(namespace: string): boolean {
    return this.#killed || this.#dead.has(namespace);
  }

  /** Nothing is sent any more, to any namespace. */
  killAll(): void {
    this.#killed = true;
    this.cutWatches();
  }

  /** Breaks watches, as a broken connection does: all, or those of some kinds. */
  cutWatches(kinds?: readonly string[]): void {
    for (const [watch, kind] of this.#watches) if (kinds?.includes(kind) ?? true) watch.abort();
  }

  /**
   * Reads so far, such as `get Secret ns/name`, `list Context` and `raw GET /version`; lists that are streamed are
   * lists, too.
   */
  readonly reads: string[] = [];

  /** Writes sent to a namespace so far, including rejected ones. */
  writes(namespace: string): readonly Write[] {
    return this.#writes.get(namespace) ?? [];
  }

  /** Number of writes of leases that the server has accepted so far. */
  get leaseWrites(): number {
    return this.#leaseWrites;
  }

  around(client: Client): Client {
    return {
      get: (kind, key, signal) => {
        if (this.isDead(key.split('/')[0] ?? '')) return Promise.reject(dead());
        this.reads.push(`get ${kind.kind} ${key}`);
        return client.get(kind, key, signal);
      },
      list: (kind, query, signal) => {
        if (this.#killed) throw dead();
        this.#noteList(kind, query);
        return client.list(kind, query, signal);
      },
      watch: (kind, query, signal) => this.#watch(client, kind, query, signal),
      send: async (write, signal) => {
        const answer = await this.#send(write, () => client.send(write, signal), signal);
        if (write.kind.kind === leaseKind.kind) this.#leaseWrites++;
        return answer;
      },
      raw: (method, path, body, signal) => {
        if (this.#killed) return Promise.reject(dead());
        this.reads.push(`raw ${method} ${path}`);
        return client.raw(method, path, body, signal);
      },
      close: () => client.close(),
    };
  }

  #noteList(kind: Kind, { namespace, labels, fields }: Query): void {
    const where = [namespace, labels, fields].filter((each) => each !== undefined);
    this.reads.push(['list', kind.kind, ...where].join(' '));
  }

  async #send<T>(write: Write, send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const namespace = namespaceOf(write);
    if (this.isDead(namespace)) throw dead();
    const writes = this.#writes.get(namespace) ?? [];
    this.#writes.set(namespace, writes);
    writes.push(write);
    const armed = this.#armed.get(namespace);
    if (!armed || armed.hit || !(armed.fault.matches?.(write) ?? true)) return send();
    if (++armed.count !== armed.fault.nth) return send();
    armed.hit = write;
    if (armed.fault.what === 'hold') {
      armed.struck.resolve();
      await Promise.race([armed.released.promise, ...(signal ? [aborted(signal)] : [])]);
      signal?.throwIfAborted();
      return send();
    }
    try {
      return await this.#fail(armed.fault.what, write, namespace, send);
    } finally {
      armed.struck.resolve();
    }
  }

  async #fail<T>(
    what: Exclude<Fault['what'], Hold>,
    write: Write,
    namespace: string,
    send: () => Promise<T>,
  ): Promise<T> {
    switch (what) {
      case 'crash-before':
        this.#dead.add(namespace);
        throw dead();
      case 'crash-after':
        this.#dead.add(namespace);
        await send();
        throw dead();
      case 'cut-watches': {
        const answer = await send();
        this.cutWatches();
        return answer;
      }
      case 'lost':
        await send();
        throw new TransportError({
          message: 'lost the connection while waiting for the answer',
          safeToRepeat: false,
        });
      case 'reset':
        throw new TransportError({ message: 'the connection was reset', safeToRepeat: false });
      default:
        throw refusal(what, write);
    }
  }

  async *#watch<T extends Obj>(
    client: Client,
    kind: Kind<T>,
    query: Parameters<Client['watch']>[1],
    signal: AbortSignal,
  ): AsyncGenerator<Frame<T>> {
    if (this.#killed) throw dead();
    if (query.sendInitialEvents) this.#noteList(kind, query);
    const cut = new AbortController();
    this.#watches.set(cut, kind.kind);
    try {
      yield* client.watch(kind, query, AbortSignal.any([signal, cut.signal]));
    } catch (error) {
      const isCut = cut.signal.aborted && !signal.aborted;
      throw isCut
        ? new TransportError({ message: 'the watch was cut', safeToRepeat: true, cause: error })
        : error;
    } finally {
      this.#watches.delete(cut);
    }
  }
}

interface Deferred {
  readonly promise: Promise<void>;
  resolve(): void;
}

function deferred(): Deferred {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const dead = (): Error => new ShutdownError({ message: 'the process is dead' });

function refusal(what: Exclude<Refusal, 'lost' | 'reset'>, write: Write): Error {
  const name = 'object' in write ? write.object.metadata.name : write.key;
  const ref = { verb: write.verb, kind: write.kind.kind, namespace: namespaceOf(write), name };
  const facts = (status: number, reason: string): ApiErrorFacts => ({
    message: 'refused on behalf of a test',
    status,
    reason,
    ref,
  });
  switch (what) {
    case 'conflict':
      return write.verb === 'create'
        ? new AlreadyExists(facts(409, 'AlreadyExists'))
        : new Conflict(facts(409, 'Conflict'));
    case 'too-many':
      return new TooManyRequests({ ...facts(429, 'TooManyRequests'), retryAfterMs: 1_000 });
    case 'webhook-down':
      return new ServerFailure({
        ...facts(500, 'InternalError'),
        message: 'Internal error occurred: failed calling webhook "x": connection refused',
      });
    case 'server-error':
      return new ServerFailure(facts(500, 'InternalError'));
  }
}
