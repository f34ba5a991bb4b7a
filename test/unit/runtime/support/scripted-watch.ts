/** A watch of one kind with a scripted server, logged as lines: the requests and the deliveries. */
import { sleep } from '../../../../src/lib/clock.ts';
import { apiErrorFrom, ResponseTooLarge, TransportError } from '../../../../src/runtime/errors.ts';
import type { Client, Frame, Obj, Page, Query, WatchQuery } from '../../../../src/runtime/types.ts';
import { compareVersions } from '../../../../src/runtime/cache/versions.ts';
import { watchKind, type WatchEvent, type WatchOptions } from '../../../../src/runtime/cache/watch.ts';
import { FakeClock } from '../../../support/clock.ts';
import { statusError, thing, THINGS, type Thing } from '../../../support/scripted-api.ts';
import { noChance } from './world.ts';

/** The response to one request: frames or pages, milliseconds in between, and an error at the end if there is one. */
export type Reply = readonly (Frame<Thing> | Page<Thing> | Error | number)[];

export const OPEN: Frame<Thing> = { type: 'OPEN' };
export const at = (name: string, version?: number): Thing =>
  thing(name, version === undefined ? {} : { resourceVersion: String(version) });
export const added = (name: string, version: number): Frame<Thing> => ({
  type: 'ADDED',
  object: at(name, version),
});
export const modified = (name: string, version?: number): Frame<Thing> => ({
  type: 'MODIFIED',
  object: at(name, version),
});
export const deleted = (name: string, version: number): Frame<Thing> => ({
  type: 'DELETED',
  object: at(name, version),
});
export const bookmark = (version: number): Frame<Thing> => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
  initialEventsEnd: false,
});
/** The bookmark at the end of a streamed list. */
export const listed = (version: number): Frame<Thing> => ({
  type: 'BOOKMARK',
  resourceVersion: String(version),
  initialEventsEnd: true,
});
export const failed = (code: number): Frame<Thing> => ({
  type: 'ERROR',
  status: { code, message: `said ${String(code)}` },
});
export const page = (version: number, ...items: Thing[]): Page<Thing> => ({
  items,
  resourceVersion: String(version),
});

export const reset = new TransportError({ message: 'reset', safeToRepeat: true });
export const tooLarge = new ResponseTooLarge({ message: 'too large', excess: 'frame', isFinal: false });
export const noStreaming = statusError(422, 'Invalid');
export const notYet = apiErrorFrom(
  504,
  { message: 'not yet', details: { causes: [{ reason: 'ResourceVersionTooLarge', message: '' }] } },
  { verb: 'watch', kind: 'Thing' },
);
export const busy = apiErrorFrom(429, { message: 'busy' }, { verb: 'watch', kind: 'Thing' }, 20);

const told = ({ metadata }: Obj): string => `${metadata.name} ${metadata.resourceVersion ?? '-'}`;

function toldEvent(event: WatchEvent<Thing>): string {
  switch (event.type) {
    case 'init':
      return `init ${event.reason}${event.acceptsOlder ? ' accepting older' : ''}`;
    case 'object':
      return `object ${told(event.object)}`;
    case 'initDone':
      return `complete ${event.version}`;
    case 'change':
      return `${event.change} ${told(event.object)}`;
    case 'bookmark':
      return `bookmark ${event.version}`;
    case 'state':
      return event.state.phase === 'waiting'
        ? `waiting ${String(event.state.ms)}: ${event.state.problem}`
        : event.state.phase;
  }
}

const toldQuery = ({ resourceVersion, sendInitialEvents, timeoutSeconds, ...scope }: WatchQuery): string =>
  [
    sendInitialEvents && ' stream',
    resourceVersion && ` from ${resourceVersion}`,
    timeoutSeconds && timeoutSeconds !== 450 && ` for ${String(timeoutSeconds)} s`,
    Object.keys(scope).length > 0 && ` ${JSON.stringify(scope)}`,
  ]
    .filter(Boolean)
    .join('');

/** Follows the script; a request beyond its end is kept open until its signal aborts. */
class ScriptedServer implements Client {
  readonly #clock: FakeClock;
  readonly #replies: Reply[];
  readonly #lines: string[];

  constructor(clock: FakeClock, replies: readonly Reply[], lines: string[]) {
    this.#clock = clock;
    this.#replies = [...replies];
    this.#lines = lines;
  }

  async *list<T extends Obj>(_: unknown, query: Query, signal?: AbortSignal): AsyncGenerator<Page<T>> {
    this.#lines.push(`> list${toldQuery(query)}`);
    for await (const item of this.#next(signal)) if ('items' in item) yield item as unknown as Page<T>;
  }

  async *watch<T extends Obj>(_: unknown, query: WatchQuery, signal: AbortSignal): AsyncGenerator<Frame<T>> {
    this.#lines.push(`> watch${toldQuery(query)}`);
    for await (const item of this.#next(signal)) if ('type' in item) yield item as unknown as Frame<T>;
  }

  get(): Promise<never> {
    return Promise.reject(new Error('not scripted'));
  }

  send(): Promise<never> {
    return Promise.reject(new Error('not scripted'));
  }

  raw(): Promise<never> {
    return Promise.reject(new Error('not scripted'));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async *#next(signal = new AbortController().signal): AsyncGenerator<Frame<Thing> | Page<Thing>> {
    for (const step of this.#replies.shift() ?? [Infinity]) {
      if (step instanceof Error) throw step;
      if (typeof step === 'number') await sleep(this.#clock, step, signal);
      else yield step;
    }
  }
}

/**
 * The requests and deliveries within `ms`. Random values are in the middle: pauses of 800, 1600 … ms, watches for 450
 * s.
 */
export async function traceOf(
  replies: readonly Reply[],
  options: Partial<WatchOptions> = {},
  ms = 115_000,
): Promise<readonly string[]> {
  const clock = new FakeClock();
  const lines: string[] = [];
  const stop = new AbortController();
  const server = new ScriptedServer(clock, replies, lines);
  const all = { clock, rng: noChance, compare: compareVersions, ...options };
  const follow = async (): Promise<void> => {
    for await (const event of watchKind(server, THINGS, all, stop.signal)) lines.push(toldEvent(event));
  };
  const following = follow();
  await clock.advance(ms);
  const { length } = lines;
  stop.abort(new Error('stop'));
  await following;
  if (clock.pending > 0) lines.push('leaves timers behind');
  await clock.advance(3_600_000);
  if (lines.length > length) lines.push('goes on after its signal has aborted');
  return lines;
}
