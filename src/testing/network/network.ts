/**
 * The network between the controllers and the server. Each request is two steps, its arrival and its response, and
 * each watch delivers its frames in steps of their own; the scheduler chooses the next step. Faults happen here.
 */
import { apiErrorFrom, type RequestRef } from '../../runtime/errors.ts';
import { keyOf, splitKey } from '../../runtime/keys.ts';
import type { Client, Frame, Kind, Obj, Page, Query, WatchQuery, Write } from '../../runtime/types.ts';
import type { Chance } from '../engine/chance.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import {
  Exchange,
  type Host,
  type LostResponses,
  type SimulatedRequest,
  type SentRequest,
} from './exchange.ts';
import { noFaults, drawFault, type FaultRates, type ScriptedFault } from './faults.ts';
import type { Backend } from './backend.ts';
import { Stream } from './stream.ts';

interface NetworkPorts {
  readonly server: Backend;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  /** Maximum delay of a frame of a watch, by kind. */
  readonly lagMs: (kind: string) => number;
  /** Whether lists are streamed; otherwise a client has to read pages. */
  readonly streamsLists: boolean;
}

export class Network {
  faults: FaultRates = noFaults;
  /** Called for every request that arrives. */
  onRequest: (sent: SentRequest) => void = () => undefined;
  /** Called before each arrival; a process that is killed here may or may not have sent it. */
  beforeArrival: () => void = () => undefined;
  /** Called when a sender finds out that it gets no answer. */
  onLoss: () => void = () => undefined;
  /** A fault that a test has requested for this request. */
  scripted: (sent: SentRequest) => ScriptedFault | undefined = () => undefined;
  /** Kills the sender of a request. */
  onCrash: (host: Host) => void = () => undefined;
  readonly #lostResponses: LostResponses = { outstanding: 0, onLoss: () => this.onLoss() };
  readonly #ports: NetworkPorts;
  readonly #streams = new Set<Stream>();

  constructor(ports: NetworkPorts) {
    this.#ports = ports;
  }

  /** Lost answers that the senders still wait for. */
  get outstanding(): number {
    return this.#lostResponses.outstanding;
  }

  client(host: Host): Client {
    return {
      get: <T extends Obj>(kind: Kind<T>, key: string, signal?: AbortSignal) =>
        this.#ask<T>({
          host,
          sent: { host: host.name, verb: 'get', kind: kind.kind, key },
          label: () => `get ${kind.kind} ${key}`,
          faults: this.#readFaults(),
          effect: () => this.#ports.server.get(kind, key) as T | Promise<T>,
          signal,
        }),
      list: (kind, query, signal) => this.#list(host, kind, query, signal),
      watch: (kind, query, signal) => this.#watch(host, kind, query, signal),
      send: <T extends Obj>(write: Write<T>, signal?: AbortSignal) =>
        this.#send(host, write, signal) as Promise<unknown> as Promise<T>,
      raw: (method, path, _body, signal) => this.#raw(host, { method, path, signal }),
      close: () => Promise.resolve(),
    };
  }

  /** A call of a service outside of the cluster, with the faults of a write. */
  call<T>(host: Host, label: string, effect: () => T | Promise<T>): Promise<T> {
    const { conflict: _, ...faults } = this.faults.request;
    return this.#ask({
      host,
      sent: { host: host.name, verb: 'call', kind: label, key: '' },
      label: () => `call ${label}`,
      faults,
      effect,
      signal: undefined,
    });
  }

  /** Breaks all watches, or those of a kind. */
  cut(kind?: string): void {
    for (const stream of [...this.#streams])
      if (kind === undefined || stream.kind.kind === kind) stream.cut();
  }

  /** Silence for a while on all watches of a kind. */
  stall(kind: string, ms: number): void {
    for (const stream of this.#streams) if (stream.kind.kind === kind) stream.stall(ms);
  }

  // -------------------------------------------------------------- requests

  #raw(
    host: Host,
    { method, path, signal }: { method: string; path: string; signal: AbortSignal | undefined },
  ): Promise<unknown> {
    if (method !== 'GET')
      return Promise.reject(new Error(`${method} ${path}: simulations support only GET of paths`));
    return this.#ask({
      host,
      sent: { host: host.name, verb: 'get', kind: path, key: '' },
      label: () => `get ${path}`,
      faults: this.#readFaults(),
      effect: () => this.#ports.server.read(path),
      signal,
    });
  }

  /** A read that is lost without effect is the same for all faults, so most faults make no difference to it. */
  #readFaults(): SimulatedRequest<unknown>['faults'] {
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
      label: () => describeWrite(write, key, this.#ports.server),
      faults,
      effect: () => this.#ports.server.write(write, host.name),
      signal,
    });
  }

  #ask<T>(request: SimulatedRequest<T>): Promise<T> {
    const { host, signal } = request;
    const { scheduler, chance } = this.#ports;
    return new Promise<T>((resolve, reject) => {
      if (!host.isAlive) return;
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const exchange = new Exchange(request, {
        scheduler,
        chance,
        resolve,
        reject,
        lostResponses: this.#lostResponses,
      });
      scheduler.add(() => {
        this.beforeArrival();
        // Requests in transit when their sender was killed may still arrive.
        if (!host.isAlive && chance.happens(0.5)) return;
        this.onRequest(request.sent);
        const fault = this.scripted(request.sent) ?? drawFault(request.faults, chance);
        if (fault === 'crashBefore') this.onCrash(host);
        else if (fault === 'crashAfter') exchange.takeEffect(() => this.onCrash(host));
        else exchange.arrive(fault);
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
      effect: () => server.list(kind as Kind, query) as Page<T> | Promise<Page<T>>,
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
      effect: async () => {
        if (query.sendInitialEvents && !this.#ports.streamsLists) {
          const message = 'sendInitialEvents is forbidden for watch unless the feature gate is enabled';
          throw apiErrorFrom(422, { reason: 'Invalid', message }, { verb: 'watch', kind: kind.kind });
        }
        if (
          from !== undefined &&
          !query.sendInitialEvents &&
          drawFault(this.faults.watch, chance) === 'gone'
        ) {
          throw apiErrorFrom(410, { reason: 'Expired', message: 'too old resource version' }, refOf(kind));
        }
        const opened = new Stream(kind, {
          scheduler,
          chance,
          faults: () => this.faults,
          isAlive: () => host.isAlive,
          owner: host.name,
          lagMs: this.#ports.lagMs(kind.kind),
        });
        await opened.open(query, server);
        this.#streams.add(opened);
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
    for (const stream of this.#streams)
      if (stream.owner === host.name) {
        stream.abandon();
        this.#streams.delete(stream);
      }
  }
}

const refOf = (kind: Kind, key = ''): RequestRef => ({
  verb: 'watch',
  kind: kind.kind,
  ...(key && splitKey(key)),
});

function describeWrite(write: Write, key: string, server: Backend): string {
  if (write.verb === 'create') return `create ${server.describe(write.object)}`;
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
