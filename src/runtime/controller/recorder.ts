/**
 * Reports to users in Events, which `kubectl describe` and `kubectl get events` show.
 *
 * They are core/v1 Events: both commands read that API first, and the server stores Events of both APIs in one place.
 * Equal Events are one object with a count; many similar ones are combined; too frequent Events of an object are
 * dropped. Nothing here fails or delays a reconcile.
 */
import { timestamp, type Clock } from '../../lib/clock.ts';
import { cutMiddle } from '../../lib/cut.ts';
import { randomSuffix, type Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import { AlreadyExists, NotFound } from '../errors.ts';
import { isTemporary } from '../transport/failure.ts';
import { joinKey } from '../keys.ts';
import { TokenBucket } from '../queue/rate-limit.ts';
import type { Client, EventOptions, Kind, Obj, View } from '../types.ts';
import type { Fence } from './writer.ts';

/** Content of an Event, and the object that it is about. */
export interface EventFacts extends EventOptions {
  /** The object the event is about. */
  readonly regarding: View<Obj>;
  /** The component that reports it. */
  readonly component: string;
  readonly type: 'Normal' | 'Warning';
  /** In CamelCase, for programs. */
  readonly reason: string;
  /** A sentence, for users. */
  readonly note: string;
}

/**
 * Writes Events that `kubectl describe` shows. Equal ones are one object with a count; too frequent Events of an
 * object are dropped for a while. Never throws.
 */
export interface Recorder {
  record(facts: EventFacts): void;
  /** Resolves when everything recorded so far has been sent or dropped. */
  flush(): Promise<void>;
}

/** An Event of the core API. */
export interface CoreEvent extends Obj {
  involvedObject: object;
  reason: string;
  message: string;
  type: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

export const eventKind: Kind<CoreEvent> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

const SIMILAR_LIMIT = 10;
const SIMILAR_WINDOW_MS = 600_000;
const PER_OBJECT = { perSecond: 1 / 300, burst: 25 } as const;
const MAX_PENDING = 1_000;
const MAX_REMEMBERED = 4_096;
const MAX_NOTE = 1_024;
const TRIES = 3;
const COMBINED = '(combined from similar events): ';

interface RecorderPorts {
  readonly client: Client;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly fence: Fence;
  /** Unique name of this process among the replicas. */
  readonly identity: string;
}

/** One Event object, stored or not yet sent. */
interface Line {
  facts: EventFacts;
  count: number;
  readonly first: string;
  last: string;
  /** Name of the stored object. */
  name: string | undefined;
  isPending: boolean;
}

interface Similar {
  since: number;
  readonly notes: Set<string>;
}

export function createRecorder(ports: RecorderPorts): Recorder {
  return new EventRecorder(ports);
}

class EventRecorder implements Recorder {
  readonly #ports: RecorderPorts;
  readonly #lines = new Remembered<Line>(MAX_REMEMBERED);
  readonly #similar = new Remembered<Similar>(MAX_REMEMBERED);
  readonly #budgets = new Remembered<TokenBucket>(MAX_REMEMBERED);
  readonly #pending: Line[] = [];
  /** Since the queue was last empty. */
  #dropped = 0;
  #sending: Promise<void> | undefined;

  constructor(ports: RecorderPorts) {
    this.#ports = ports;
  }

  record(facts: EventFacts): void {
    const { clock, log } = this.#ports;
    const short = { ...facts, note: shorten(facts.note) };
    const line = this.#lineFor(short);
    line.count++;
    line.last = timestamp(clock);
    if (line.isPending || !this.#mayTalk(facts)) return;
    if (this.#pending.length >= MAX_PENDING) {
      if (this.#dropped++ === 0)
        log.warn({ reason: facts.reason, limit: MAX_PENDING }, 'too many queued events, dropping some');
      return;
    }
    line.isPending = true;
    this.#pending.push(line);
    this.#sending ??= this.#sendAll();
  }

  async flush(): Promise<void> {
    await this.#sending;
  }

  /** The entry for equal Events, or the combined entry for many similar ones. */
  #lineFor(facts: EventFacts): Line {
    const now = this.#ports.clock.now();
    const group = [facts.component, objectId(facts.regarding), facts.type, facts.reason].join('\n');
    if (facts.keepsLast || facts.name !== undefined)
      return this.#line(`${group}\nlast ${facts.name ?? ''}`, facts);
    const similar = this.#similar.get(group, () => ({ since: now, notes: new Set<string>() }));
    if (now - similar.since >= SIMILAR_WINDOW_MS) {
      similar.since = now;
      similar.notes.clear();
    }
    const isKnown = similar.notes.has(facts.note);
    const isOneTooMany = !isKnown && similar.notes.size >= SIMILAR_LIMIT;
    if (!isOneTooMany) similar.notes.add(facts.note);
    return isOneTooMany
      ? this.#line(group, { ...facts, note: shorten(COMBINED + facts.note) })
      : this.#line(`${group}\n${facts.note}`, facts);
  }

  #line(key: string, facts: EventFacts): Line {
    const at = timestamp(this.#ports.clock);
    const line = this.#lines.get(key, () => ({
      facts,
      count: 0,
      first: at,
      last: at,
      name: undefined,
      isPending: false,
    }));
    line.facts = facts;
    return line;
  }

  #mayTalk({ component, regarding }: EventFacts): boolean {
    const key = `${component}\n${objectId(regarding)}`;
    const bucket = this.#budgets.get(key, () => new TokenBucket(PER_OBJECT));
    return bucket.tryTake(this.#ports.clock.now());
  }

  async #sendAll(): Promise<void> {
    // Waits for the caller to end, so that Events that it records together are sent together.
    await Promise.resolve();
    for (let line = this.#pending.shift(); line; line = this.#pending.shift()) {
      line.isPending = false;
      await this.#send(line);
    }
    if (this.#dropped > 0)
      this.#ports.log.warn({ dropped: this.#dropped }, 'dropped events, because the API server was too slow');
    this.#dropped = 0;
    this.#sending = undefined;
  }

  async #send(line: Line): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        this.#ports.fence();
        await this.#write(line);
        return;
      } catch (error) {
        if (isTemporary(error) && tries < TRIES) continue;
        const fields = { reason: line.facts.reason, err: String(error) };
        this.#ports.log.debug(fields, 'recording an event failed');
        return;
      }
    }
  }

  async #write(line: Line): Promise<void> {
    const { client } = this.#ports;
    const namespace = line.facts.regarding.metadata.namespace ?? 'default';
    if (line.name !== undefined) {
      try {
        await this.#update(line, joinKey(namespace, line.name));
        return;
      } catch (error) {
        if (!(error instanceof NotFound)) throw error;
        // Events are deleted after an hour; this one must be created again.
        line.name = undefined;
      }
    }
    const object = this.#objectOf(line, namespace);
    try {
      await client.send({ verb: 'create', kind: eventKind, object });
    } catch (error) {
      // A previous process has created the Event of this name.
      if (!(error instanceof AlreadyExists) || line.facts.name === undefined) throw error;
      await this.#update(line, joinKey(namespace, object.metadata.name));
    }
    line.name = object.metadata.name;
  }

  async #update({ count, last, facts }: Line, key: string): Promise<void> {
    const body = { count, lastTimestamp: last, message: facts.note };
    await this.#ports.client.send({ verb: 'merge', kind: eventKind, key, body });
  }

  #objectOf({ facts, count, first, last }: Line, namespace: string): CoreEvent {
    const { metadata, apiVersion, kind } = facts.regarding;
    const { name, uid, resourceVersion } = metadata;
    const generated = (): string => `${name.slice(0, 240)}.${randomSuffix(this.#ports.rng, 10)}`;
    const owner = facts.isOwned && uid !== undefined && { apiVersion, kind, name, uid };
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: {
        name: facts.name ?? generated(),
        namespace,
        ...(owner && { ownerReferences: [owner] }),
      },
      involvedObject: { apiVersion, kind, namespace: metadata.namespace, name, uid, resourceVersion },
      reason: facts.reason,
      message: facts.note,
      type: facts.type,
      count,
      firstTimestamp: first,
      lastTimestamp: last,
      source: { component: facts.component },
      reportingComponent: facts.component,
      reportingInstance: this.#ports.identity,
    };
  }
}

/** A map with a maximum size, which drops the entry that was not used for the longest time. */
class Remembered<V> {
  readonly #limit: number;
  readonly #map = new Map<string, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string, make: () => V): V {
    const value = this.#map.get(key) ?? make();
    this.#map.delete(key);
    this.#map.set(key, value);
    if (this.#map.size > this.#limit) {
      const [oldest] = this.#map.keys();
      if (oldest !== undefined) this.#map.delete(oldest);
    }
    return value;
  }
}

const objectId = ({ kind, metadata }: View<Obj>): string =>
  metadata.uid ?? `${kind} ${joinKey(metadata.namespace, metadata.name)}`;

/** The end is kept, because it often says what to do. */
const shorten = (note: string): string => cutMiddle(note, MAX_NOTE);
