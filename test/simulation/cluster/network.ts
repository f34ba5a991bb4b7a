/**
 * The network between the controllers and the server. Each request is two steps, its arrival and its response, and
 * each watch delivers its frames in steps of their own; the scheduler chooses the next step. Faults happen here.
 */
import {
  Conflict,
  ServerFailure,
  TooManyRequests,
  TransportError,
  apiErrorFrom,
  type RequestRef,
} from '../../../src/runtime/errors.ts';
import { keyOf, splitKey } from '../../../src/runtime/keys.ts';
import type { Client, Frame, Kind, Obj, Page, Query, WatchQuery, Write } from '../../../src/runtime/types.ts';
import type { Chance } from '../engine/chance.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import { GIVE_UP_MS, LATE_MS, noFaults, strike, type FaultRates, type RequestFault } from './faults.ts';
import { describeObject, type Stored } from './objects.ts';
import type { Server } from './server.ts';
import { Stream } from './stream.ts';

/** The sender: a process that may be killed, and then neither sends nor receives anything. */
export interface Host {
  readonly name: string;
  isAlive: boolean;
}

export interface Sent {
  readonly host: string;
  readonly verb: string;
  readonly kind: string;
  readonly key: string;
}

export interface NetworkPorts {
  readonly server: Server;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  /** Maximum delay of a frame of a watch, by kind. */
  readonly lagMs: (kind: string) => number;
  /** Whether lists are streamed; otherwise a client has to read pages. */
  readonly streamsLists: boolean;
}

interface Question<T> {
  readonly host: Host;
  readonly sent: Sent;
  readonly label: () => string;
  readonly faults: Readonly<Partial<Record<RequestFault, number>>>;
  /** What the server does with the request. */
  readonly effect: () => T;
  readonly signal: AbortSignal | undefined;
}

export class Network {
  faults: FaultRates = noFaults;
  /** Called for every request that arrives. */
  onRequest: (sent: Sent) => void = () => undefined;
  /** Called before each arrival; a process that is killed here may or may not have sent it. */
  beforeArrival: () => void = () => undefined;
  /** Called when a sender finds out that it gets no answer. */
  onLoss: () => void = () => undefined;
  /** Lost answers that the senders still wait for. */
  outstanding = 0;
  readonly #ports: NetworkPorts;
  readonly #streams = new Set<Stream>();

  constructor(ports: NetworkPorts) {
    this.#ports = ports;
    ports.server.onChange((change) => {
      for (const stream of this.#streams) stream.see(change);
    });
  }

  client(host: Host): Client {
    return {
      get: <T extends Obj>(kind: Kind<T>, key: string, signal?: AbortSignal) =>
        this.#ask<T>({
          host,
          sent: { host: host.name, verb: 'get', kind: kind.kind, key },
          label: () => `get ${kind.kind} ${key}`,
          faults: this.#readFaults(),
          effect: () => this.#ports.server.get(kind, key) as unknown as T,
          signal,
        }),
      list: (kind, query, signal) => this.#list(host, kind, query, signal),
      watch: (kind, query, signal) => this.#watch(host, kind, query, signal),
      send: <T extends Obj>(write: Write<T>, signal?: AbortSignal) =>
        this.#send(host, write, signal) as Promise<unknown> as Promise<T>,
      raw: () => Promise.reject(new Error('nothing of the simulation sends raw requests')),
      close: () => Promise.resolve(),
    };
  }

  /** Silence for a while on all watches of a kind. */
  stall(kind: string, ms: number): void {
    for (const stream of this.#streams) if (stream.kind.kind === kind) stream.stall(ms);
  }

  // -------------------------------------------------------------- requests

  /** A read that is lost without effect is the same for all faults, so most faults make no difference to it. */
  #readFaults(): Question<unknown>['faults'] {
    const { tooMany = 0, serverError = 0, reset = 0 } = this.faults.request;
    return { tooMany, serverError, reset };
  }

  #send(host: Host, write: Write, signal: AbortSignal | undefined): Promise<Obj> {
    const key = 'key' in write ? write.key : keyOf(write.object);
    const { request } = this.faults;
    // The server never reports a conflict for a name that is free.
    const faults = write.verb === 'create' ? { ...request, conflict: 0 } : request;
    return this.#ask({
      host,
      sent: {
        host: host.name,
        verb: write.sub ? `${write.verb} ${write.sub}` : write.verb,
        kind: write.kind.kind,
        key,
      },
      label: () => describeWrite(write, key),
      faults,
      effect: () => this.#ports.server.write(write, host.name),
      signal,
    });
  }

  #ask<T>(question: Question<T>): Promise<T> {
    const { host, label, signal } = question;
    const { scheduler, chance } = this.#ports;
    const { trace } = scheduler;
    return new Promise<T>((resolve, reject) => {
      if (!host.isAlive) return;
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      let isOver = false;
      const onAbort = (): void => {
        isOver = true;
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const answer = (how: string, then: () => void, delayMs: number): void => {
        scheduler.add(() => {
          if (isOver || !host.isAlive) return;
          isOver = true;
          signal?.removeEventListener('abort', onAbort);
          trace.note(() => `${host.name}   ← ${label()}: ${how}`);
          then();
        }, delayMs);
      };
      const refused = (error: Error, how: string, delayMs = 0): void => {
        answer(how, () => reject(error), delayMs);
      };
      const lost = (delayMs: number): void => {
        this.outstanding++;
        refused(noAnswer(), 'no answer', delayMs);
        scheduler.add(() => {
          this.outstanding--;
          this.onLoss();
        }, delayMs);
      };
      const carryOut = (then: (result: T) => void): void => {
        try {
          then(question.effect());
        } catch (error) {
          if (!isAnswer(error)) throw error;
          refused(error, error.name);
        }
      };
      scheduler.add(() => {
        this.beforeArrival();
        // Requests in transit when their sender was killed may still arrive.
        if (!host.isAlive && chance.happens(0.5)) return;
        this.onRequest(question.sent);
        const fault = strike(question.faults, chance);
        trace.note(() => `${host.name} → ${label()}${fault ? `  [${fault}]` : ''}`);
        switch (fault) {
          case undefined:
            carryOut((result) => answer('ok', () => resolve(result), 0));
            return;
          case 'lost':
            carryOut(() => lost(chance.between(1, GIVE_UP_MS)));
            return;
          case 'reset':
            lost(chance.happens(0.5) ? 0 : chance.between(1, GIVE_UP_MS));
            return;
          case 'late':
            lost(chance.between(1, 1_000));
            scheduler.add(
              () => {
                trace.note(() => `${host.name} → ${label()}  [arrives late]`);
                try {
                  question.effect();
                } catch (error) {
                  if (!isAnswer(error)) throw error;
                }
              },
              chance.between(1_000, LATE_MS),
            );
            return;
          default:
            refused(refusal(fault, question.sent), fault);
        }
      });
    });
  }

  // -------------------------------------------------------------- lists and watches

  async *#list<T extends Obj>(
    host: Host,
    kind: Kind<T>,
    query: Query,
    signal?: AbortSignal,
  ): AsyncGenerator<Page<T>> {
    const { server } = this.#ports;
    yield await this.#ask({
      host,
      sent: { host: host.name, verb: 'list', kind: kind.kind, key: '' },
      label: () => `list ${kind.kind}`,
      faults: this.#readFaults(),
      effect: () => ({
        items: server.list(kind as Kind).filter((object) => isIn(object, query)) as unknown as T[],
        resourceVersion: String(server.version),
      }),
      signal,
    });
  }

  async *#watch<T extends Obj>(
    host: Host,
    kind: Kind<T>,
    query: WatchQuery,
    signal: AbortSignal,
  ): AsyncGenerator<Frame<T>> {
    const { server, scheduler, chance } = this.#ports;
    const from = query.resourceVersion;
    const stream = await this.#ask({
      host,
      sent: { host: host.name, verb: 'watch', kind: kind.kind, key: '' },
      label: () => `watch ${kind.kind} from ${from ?? 'the beginning'}`,
      faults: this.#readFaults(),
      effect: () => {
        if (query.sendInitialEvents && !this.#ports.streamsLists) {
          const message = 'sendInitialEvents is forbidden for watch unless the feature gate is enabled';
          throw apiErrorFrom(422, { reason: 'Invalid', message }, { verb: 'watch', kind: kind.kind });
        }
        if (from !== undefined && !query.sendInitialEvents && strike(this.faults.watch, chance) === 'gone') {
          throw apiErrorFrom(410, { reason: 'Expired', message: 'too old resource version' }, refOf(kind));
        }
        const opened = new Stream(kind, {
          scheduler,
          chance,
          server,
          faults: () => this.faults,
          isAlive: () => host.isAlive,
          owner: host.name,
          lagMs: this.#ports.lagMs(kind.kind),
          isSelected: (object) => isIn(object, query),
        });
        this.#streams.add(opened);
        opened.open(query);
        return opened;
      },
      signal,
    });
    const onAbort = (): void => {
      stream.end(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      yield { type: 'OPEN' };
      for (;;) {
        const frame = await stream.next();
        if (!frame) return;
        yield frame as unknown as Frame<T>;
      }
    } finally {
      signal.removeEventListener('abort', onAbort);
      stream.end();
      this.#streams.delete(stream);
    }
  }

  /** Closes what killed processes have left open. */
  forget(host: Host): void {
    for (const stream of this.#streams) if (stream.owner === host.name) this.#streams.delete(stream);
  }
}

const isIn = ({ metadata }: Stored, { namespace }: Query): boolean =>
  namespace === undefined || metadata.namespace === namespace;

const isAnswer = (error: unknown): error is Error =>
  error instanceof Error && (error instanceof TransportError || 'status' in error);

const refOf = (kind: Kind, key = ''): RequestRef => ({
  verb: 'watch',
  kind: kind.kind,
  ...(key && splitKey(key)),
});

const noAnswer = (): Error =>
  new TransportError({ message: 'lost the connection while waiting for the answer', safeToRepeat: false });

function refusal(fault: 'conflict' | 'tooMany' | 'serverError', { verb, kind, key }: Sent): Error {
  const ref = { verb, kind, ...splitKey(key) };
  switch (fault) {
    case 'conflict':
      return new Conflict({ message: 'the object has been modified', status: 409, reason: 'Conflict', ref });
    case 'tooMany':
      return new TooManyRequests({
        message: 'too many requests',
        status: 429,
        reason: 'TooManyRequests',
        ref,
        retryAfterMs: 1_000,
      });
    case 'serverError':
      return new ServerFailure({
        message: 'etcdserver: leader changed',
        status: 500,
        reason: 'InternalError',
        ref,
      });
  }
}

function describeWrite(write: Write, key: string): string {
  if (write.verb === 'create') return `create ${describeObject(write.object)}`;
  const text = 'body' in write ? JSON.stringify(shortened(write.body)) : '';
  return `${write.verb} ${write.kind.kind}${write.sub ? `/${write.sub}` : ''} ${key} ${text.slice(0, 300)}`;
}

/** Without fields that are long and say little. */
function shortened(body: object): object {
  const { metadata = {}, status, ...rest } = body as { metadata?: object; status?: object };
  const { resourceVersion, ...meta } = metadata as { resourceVersion?: string };
  const {
    transitionTimes: _t,
    phaseTransitionTime: _p,
    ...state
  } = (status ?? {}) as Record<string, unknown>;
  return {
    ...(resourceVersion && { v: resourceVersion }),
    ...(Object.keys(meta).length > 0 && { metadata: meta }),
    ...(status && { status: state }),
    ...rest,
  };
}
