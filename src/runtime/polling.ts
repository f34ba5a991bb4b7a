/** Sources that ask: one question for all primaries, or one for each. */
import type { Clock } from '../lib/clock.ts';
import { sleep } from '../lib/clock.ts';
import { keyOf } from './keys.ts';
import type { AttachedSource, Source, SourceHost } from './sources.ts';
import type { Key, Obj, View } from './types.ts';
import { Values, type ValueShape } from './values.ts';

const DEFAULT_PERIOD_MS = 5_000;

/** A source that other code may correct after it has written the fact itself. */
export interface Correctable<V> {
  /** Notes a value that was just written, so that the next read sees it and the next poll finds no news. */
  remember(key: Key, value: V): void;
  forget(key: Key, id?: string): void;
}

/** A source whose values can be read, typed, by whoever holds it. */
export interface Readable<V> {
  /** What is known of a primary, without asking. */
  of(primary: View<Obj>): readonly V[];
}

/** A source that asks one question for all primaries, ever again. */
export interface PollSource<V> extends ValueShape<V> {
  readonly name: string;
  /** Default 5 s, from the end of one poll to the start of the next. */
  readonly everyMs?: number;
  /** All values of all primaries; a primary that is missing has none. */
  fetch(signal: AbortSignal): Promise<ReadonlyMap<Key, readonly V[]>>;
}

/** Asks for everything at once, periodically; raises events for what changed. It starts with a first answer. */
export function pollSource<V>(spec: PollSource<V>): Source & Correctable<V> & Readable<V> {
  const values = new Values<V>(spec);
  return {
    name: spec.name,
    stage: 'normal',
    of: (primary) => values.of(keyOf(primary)),
    remember: (key, value) => void values.put(key, value),
    forget: (key, id) => void values.remove(key, id),
    attach: (host) => ({
      start: (signal) => startPolling(spec, values, host, signal),
      of: (primary) => values.of(keyOf(primary)),
    }),
  };
}

async function startPolling<V>(
  spec: PollSource<V>,
  values: Values<V>,
  host: SourceHost,
  signal: AbortSignal,
): Promise<void> {
  const everyMs = spec.everyMs ?? DEFAULT_PERIOD_MS;
  const poll = async (): Promise<Key[] | undefined> => {
    try {
      return takeOver(values, await spec.fetch(signal));
    } catch (error) {
      if (!signal.aborted) host.log.warn({ source: spec.name, error: String(error) }, 'the poll failed');
      return undefined;
    }
  };
  while (!(await poll())) await sleep(host.clock, everyMs, signal);
  void repeat(
    host.clock,
    signal,
    () => everyMs,
    async () => {
      for (const key of (await poll()) ?? []) host.emit(key, { source: spec.name, action: 'generic' });
    },
  );
}

/** Stores an answer and names the primaries for which it holds news. */
function takeOver<V>(values: Values<V>, answer: ReadonlyMap<Key, readonly V[]>): Key[] {
  const changed = values.keys().filter((key) => !answer.has(key) && values.remove(key));
  for (const [key, found] of answer) if (values.set(key, found)) changed.push(key);
  return changed;
}

/** Does something again and again until the signal aborts. */
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

/** A source that asks a question for each primary, as long as that is there. */
export interface PerResourceSource<V, P extends Obj> extends ValueShape<V> {
  readonly name: string;
  fetch(primary: View<P>, signal: AbortSignal): Promise<readonly V[]>;
  /** Milliseconds to the next poll of a primary, given what the last one found; undefined before the first. */
  delayMs(last: readonly V[] | undefined): number;
  /** Which primaries to poll. Default: all. */
  when?(primary: View<P>): boolean;
}

/** One poll per primary, from its appearance to its deletion. */
export interface PerResourceHandle<V, P extends Obj> extends Source<P>, Correctable<V>, Readable<V> {
  /** What is known, asking first when nothing is; raises no event. */
  load(primary: View<P>): Promise<readonly V[]>;
}

/**
 * Makes a source that polls for each primary from its appearance to its end. What has not been asked yet is
 * fetched by the first read, without an event.
 */
export function perResourceSource<V, P extends Obj = Obj>(
  spec: PerResourceSource<V, P>,
): PerResourceHandle<V, P> {
  const values = new Values<V>(spec);
  const asking = new Map<Key, Promise<boolean>>();
  let life: AbortSignal | undefined;
  const ask = (primary: View<P>): Promise<boolean> => {
    const key = keyOf(primary);
    let answer = asking.get(key);
    if (!answer) {
      answer = spec
        .fetch(primary, life ?? new AbortController().signal)
        .then((found) => values.set(key, found))
        .finally(() => asking.delete(key));
      asking.set(key, answer);
    }
    return answer;
  };
  return {
    name: spec.name,
    stage: 'normal',
    of: (primary) => values.of(keyOf(primary)),
    remember: (key, value) => void values.put(key, value),
    forget: (key, id) => void values.remove(key, id),
    async load(primary) {
      if (!values.has(keyOf(primary))) await ask(primary);
      return values.of(keyOf(primary));
    },
    attach(host) {
      return perResource(spec, values, ask, host, (signal) => {
        life = signal;
      });
    },
  };
}

function perResource<V, P extends Obj>(
  spec: PerResourceSource<V, P>,
  values: Values<V>,
  ask: (primary: View<P>) => Promise<boolean>,
  host: SourceHost<P>,
  onStart: (signal: AbortSignal) => void,
): AttachedSource<P> {
  const polls = new Map<Key, AbortController>();
  const watchOver = (key: Key): void => {
    if (polls.has(key)) return;
    const poll = new AbortController();
    polls.set(key, poll);
    const last = (): readonly V[] | undefined => (values.has(key) ? values.of(key) : undefined);
    void repeat(
      host.clock,
      poll.signal,
      () => spec.delayMs(last()),
      async () => {
        const primary = host.primaries.get(key);
        if (!primary) return;
        try {
          if ((await ask(primary)) && !poll.signal.aborted)
            host.emit(key, { source: spec.name, action: 'generic' });
        } catch (error) {
          host.log.warn({ source: spec.name, primary: key, error: String(error) }, 'the poll failed');
        }
        if (poll.signal.aborted) values.remove(key);
      },
    );
  };
  const leave = (key: Key): void => {
    polls.get(key)?.abort(new Error('the primary is gone'));
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
