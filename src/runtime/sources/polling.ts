/** Sources that poll: one request for all primaries, or one for each. */
import type { Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/clock.ts';
import { isPositive } from '../../lib/positive.ts';
import { DefinitionError } from '../errors.ts';
import { keyOf } from '../keys.ts';
import type { AttachedSource, Source, SourceHost } from './sources.ts';
import type { Key, Obj, View } from '../types.ts';
import { Values, type ValueShape } from './values.ts';

const DEFAULT_PERIOD_MS = 5_000;

/** A source whose values other code can update after it has changed the resource itself. */
export interface Correctable<V> {
  /** Stores a value that was just written: the next read returns it, and the next poll finds no change. */
  remember(key: Key, value: V): void;
  forget(key: Key, id?: string): void;
}

/** A source whose values can be read with their type. */
export interface Readable<V> {
  /** The stored values of a primary, without a request. */
  of(primary: View<Obj>): readonly V[];
}

/** A source that polls with one request for all primaries. */
export interface PollSource<V> extends ValueShape<V> {
  readonly name: string;
  /** Time from the end of a poll to the start of the next. Default 5 s. */
  readonly everyMs?: number;
  /** All values of all primaries; a missing primary has none. */
  fetch(signal: AbortSignal): Promise<ReadonlyMap<Key, readonly V[]>>;
}

/** @throws DefinitionError if the period would be a loop without a pause */
export function checkPeriod({ name, everyMs }: Pick<PollSource<never>, 'name' | 'everyMs'>): void {
  if (everyMs === undefined || isPositive(everyMs)) return;
  throw new DefinitionError({
    message: `source ${name}: everyMs must be a positive number of milliseconds, not ${String(everyMs)}`,
  });
}

/** Polls all values periodically, and raises events for changed ones. It is synced after the first poll. */
export function pollSource<V>(spec: PollSource<V>): Source & Correctable<V> & Readable<V> {
  checkPeriod(spec);
  const values = new Values<V>(spec);
  const polls = new Set<Set<Key>>();
  const corrected = (key: Key): void => {
    for (const poll of polls) poll.add(key);
  };
  return {
    name: spec.name,
    stage: 'normal',
    of: (primary) => values.of(keyOf(primary)),
    remember(key, value) {
      corrected(key);
      values.put(key, value);
    },
    forget(key, id) {
      corrected(key);
      values.remove(key, id);
    },
    attach: (host) => {
      const poll = pollOf(spec, { values, polls }, host);
      return {
        start: (signal) => startPolling(spec, poll, host, signal),
        of: (primary) => values.of(keyOf(primary)),
        refresh: (_, signal) => poll(signal),
      };
    },
  };
}

interface Polled<V> {
  readonly values: Values<V>;
  /** For each active poll: the primaries that were updated since it started, whose values it may not contain. */
  readonly polls: Set<Set<Key>>;
}

/**
 * One poll: stores the values, and raises events for changed ones, unless it is the first. A poll that ends after a
 * later one has started is ignored.
 * @throws the error of `fetch`
 */
type Poll = (signal: AbortSignal) => Promise<void>;

function pollOf<V>(spec: PollSource<V>, { values, polls }: Polled<V>, host: SourceHost): Poll {
  let started = 0;
  let isFirst = true;
  return async (signal) => {
    const corrected = new Set<Key>();
    const number = ++started;
    polls.add(corrected);
    try {
      const found = await spec.fetch(signal);
      if (number < started) return;
      const changed = takeOver(values, found, corrected);
      if (!isFirst) for (const key of changed) host.emit(key, { source: spec.name, action: 'generic' });
      isFirst = false;
    } finally {
      polls.delete(corrected);
    }
  };
}

async function startPolling<V>(
  spec: PollSource<V>,
  poll: Poll,
  host: SourceHost,
  signal: AbortSignal,
): Promise<void> {
  const everyMs = spec.everyMs ?? DEFAULT_PERIOD_MS;
  const tryPoll = async (): Promise<boolean> => {
    try {
      await poll(signal);
      return true;
    } catch (error) {
      if (!signal.aborted) host.log.warn({ source: spec.name, err: String(error) }, 'poll failed');
      return false;
    }
  };
  while (!(await tryPoll())) await sleep(host.clock, everyMs, signal);
  void repeat(
    host.clock,
    signal,
    () => everyMs,
    async () => {
      await tryPoll();
    },
  );
}

/** Stores the result of a poll, except for the primaries in `except`. @returns primaries with changed values */
function takeOver<V>(
  values: Values<V>,
  answer: ReadonlyMap<Key, readonly V[]>,
  except: ReadonlySet<Key>,
): Key[] {
  const isOpen = (key: Key): boolean => !except.has(key);
  const changed = values.keys().filter((key) => isOpen(key) && !answer.has(key) && values.remove(key));
  for (const [key, found] of answer) if (isOpen(key) && values.set(key, found)) changed.push(key);
  return changed;
}

/** Repeats a function until the signal aborts. */
async function repeat(
  clock: Clock,
  signal: AbortSignal,
  delayMs: () => number,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sleep(clock, delayMs(), signal);
    } catch {
      return;
    }
    await work();
  }
}

/** A source that polls for each primary while it exists. */
export interface PerResourceSource<V, P extends Obj> extends ValueShape<V> {
  readonly name: string;
  fetch(primary: View<P>, signal: AbortSignal): Promise<readonly V[]>;
  /**
   * Milliseconds until the next poll of a primary, a positive number, given the last result. Before the first poll it is
   * called with undefined, and may return 0.
   */
  delayMs(last: readonly V[] | undefined): number;
  /** Which primaries to poll. Default: all. */
  when?(primary: View<P>): boolean;
}

interface Question {
  /** Whether the result was a change. */
  readonly answer: Promise<boolean>;
  /** The values were updated after the request was sent. */
  isOutdated: boolean;
}

/** A source that polls for each primary, from its creation to its deletion. */
export interface PerResourceHandle<V, P extends Obj> extends Source<P>, Correctable<V>, Readable<V> {
  /** The stored values; if there are none, they are requested first. Raises no event. */
  load(primary: View<P>): Promise<readonly V[]>;
}

/**
 * Creates a source that polls for each primary while it exists. Values that were not polled yet are requested by the
 * first read, without an event.
 */
export function perResourceSource<V, P extends Obj = Obj>(
  spec: PerResourceSource<V, P>,
): PerResourceHandle<V, P> {
  const values = new Values<V>(spec);
  const asking = new Map<Key, Question>();
  let life: AbortSignal | undefined;
  const ask = (primary: View<P>): Promise<boolean> => {
    const key = keyOf(primary);
    const known = asking.get(key);
    if (known) return known.answer;
    const question: Question = {
      isOutdated: false,
      answer: spec
        .fetch(primary, life ?? new AbortController().signal)
        .then((found) => !question.isOutdated && values.set(key, found))
        .finally(() => asking.delete(key)),
    };
    asking.set(key, question);
    return question.answer;
  };
  /** Requests that are in flight may not contain the update. */
  const corrected = (key: Key): void => {
    const question = asking.get(key);
    if (question) question.isOutdated = true;
  };
  return {
    name: spec.name,
    stage: 'normal',
    of: (primary) => values.of(keyOf(primary)),
    remember(key, value) {
      corrected(key);
      // With several values per primary, one value is not the complete result.
      if (values.has(key) || !spec.idOf) values.put(key, value);
    },
    forget(key, id) {
      corrected(key);
      values.remove(key, id);
    },
    async load(primary) {
      while (!values.has(keyOf(primary))) await ask(primary);
      return values.of(keyOf(primary));
    },
    attach(host) {
      const attached = perResource({ spec, values, ask, host }, (signal) => {
        life = signal;
      });
      return {
        ...attached,
        /** As at the start of a process, values are requested by the next poll or the first read. */
        refresh(isTaken) {
          for (const key of new Set([...values.keys(), ...asking.keys()])) {
            const primary = host.primaries.peek(key);
            if (primary && !isTaken(primary)) continue;
            corrected(key);
            values.remove(key);
          }
          return Promise.resolve();
        },
      };
    },
  };
}

interface PrimaryPolling<V, P extends Obj> {
  readonly spec: PerResourceSource<V, P>;
  readonly values: Values<V>;
  /** Requests the values of a primary. @returns whether they have changed */
  readonly ask: (primary: View<P>) => Promise<boolean>;
  readonly host: SourceHost<P>;
}

/** Starts polling for each primary that is created, and stops when it is deleted or not wanted any more. */
function perResource<V, P extends Obj>(
  polling: PrimaryPolling<V, P>,
  onStart: (signal: AbortSignal) => void,
): AttachedSource<P> {
  const { spec, values, host } = polling;
  const polls = new Map<Key, AbortController>();
  const watchOver = (key: Key): void => {
    if (polls.has(key)) return;
    const poll = new AbortController();
    polls.set(key, poll);
    void pollPrimary(key, polling, poll.signal);
  };
  const leave = (key: Key): void => {
    polls.get(key)?.abort(new Error('primary deleted'));
    polls.delete(key);
    values.remove(key);
  };
  const isWanted = (primary: View<P>): boolean =>
    !spec.when || host.guard(`condition of source ${spec.name}`, () => spec.when?.(primary) ?? true, false);
  return {
    start(signal) {
      onStart(signal);
      const unsubscribe = host.primaries.subscribe({
        name: `${host.controller}/${spec.name}`,
        ownEvents: 'deliver',
        on(change) {
          const key = keyOf(change.obj);
          if (change.type === 'delete' || !isWanted(change.obj)) leave(key);
          else watchOver(key);
        },
        onLeave: (obj) => {
          leave(keyOf(obj));
        },
      });
      signal.addEventListener('abort', () => {
        unsubscribe();
        for (const key of [...polls.keys()]) leave(key);
      });
      return Promise.resolve();
    },
    of: (primary) => values.of(keyOf(primary)),
  };
}

/** Milliseconds until the next poll, also if the function of the author fails: otherwise polling would end or never pause. */
function delayOf<V, P extends Obj>(
  spec: PerResourceSource<V, P>,
  last: readonly V[] | undefined,
  host: SourceHost<P>,
): number {
  const ms = host.guard(`delayMs of source ${spec.name}`, () => spec.delayMs(last), DEFAULT_PERIOD_MS);
  if (isPositive(ms) || (ms === 0 && last === undefined)) return ms;
  host.log.error(
    { source: spec.name, delayMs: String(ms), usedMs: DEFAULT_PERIOD_MS },
    'delayMs must return a positive number of milliseconds, default used',
  );
  return DEFAULT_PERIOD_MS;
}

/** Polls for one primary until the signal aborts. */
function pollPrimary<V, P extends Obj>(
  key: Key,
  { spec, values, ask, host }: PrimaryPolling<V, P>,
  signal: AbortSignal,
): Promise<void> {
  const last = (): readonly V[] | undefined => (values.has(key) ? values.of(key) : undefined);
  return repeat(
    host.clock,
    signal,
    () => delayOf(spec, last(), host),
    async () => {
      const primary = host.primaries.get(key);
      if (!primary) return;
      if (!host.handles(primary)) {
        values.remove(key);
        return;
      }
      try {
        if ((await ask(primary)) && !signal.aborted) host.emit(key, { source: spec.name, action: 'generic' });
      } catch (error) {
        host.log.warn({ source: spec.name, primary: key, err: String(error) }, 'poll failed');
      }
      if (signal.aborted) values.remove(key);
    },
  );
}
