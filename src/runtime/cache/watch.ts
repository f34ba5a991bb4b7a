/**
 * List and watch as an endless generator that executes the decisions of `watch-step.ts`. Errors are states, not
 * exceptions. It ends only when its signal aborts, and checks the signal after every wait, so nothing is opened after
 * the stop.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { sleep, type Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { Pace } from '../../lib/pace.ts';
import { errorInFrame } from '../transport/client.ts';
import type { Client, Frame, Kind, Obj, Query, WatchQuery } from '../types.ts';
import type { CompareVersions } from './versions.ts';
import { framesOf } from './watch-connection.ts';
import { floorOf, isOpen, start, step, type WatchInput, type Open, type WatchEvent } from './watch-step.ts';

export type { WatchEvent, WatchState } from './watch-step.ts';

/** What is watched. */
interface Scope {
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

export interface WatchOptions extends Scope {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly compare: CompareVersions;
}

export async function* watchKind<T extends Obj>(
  client: Client,
  kind: Kind<T>,
  options: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const { clock, rng, compare } = options;
  const scope = scopeOf(options);
  const peer = { sendsBookmarks: false };
  let state = start();

  /** Yields before it advances: a consumer that stops in between receives the event again. */
  function* take(input: WatchInput<T>): Generator<WatchEvent<T>, void, void> {
    const [events, next] = step(state, input, { now: clock.now(), rng, compare });
    yield* events;
    state = next;
  }

  function inputs(open: Open): AsyncIterable<WatchInput<T>> {
    const floor = floorOf(open);
    const resourceVersion = open.at === 'resuming' ? open.from : floor;
    const version = resourceVersion === undefined ? {} : { resourceVersion };
    if (open.at === 'listing' && open.by === 'pages')
      return pagesOf(client.list(kind, { ...scope, ...version }, signal), options, signal);
    const query: WatchQuery = open.at === 'resuming' ? version : { sendInitialEvents: true, ...version };
    const frames = framesOf({
      open: (timeoutSeconds, attempt) => client.watch(kind, { ...query, ...scope, timeoutSeconds }, attempt),
      isListing: () => state.at === 'listing',
      peer,
      clock,
      rng,
      signal,
    });
    return inputsFrom(frames, kind, options.namespace);
  }

  while (!signal.aborted) {
    if (state.at === 'waiting') await sleep(clock, state.pause.ms, signal).catch(() => undefined);
    if (signal.aborted) return;
    yield* take({ type: 'open' });
    if (!isOpen(state)) continue;
    try {
      for await (const input of inputs(state)) {
        yield* take(input);
        if (!isOpen(state)) break;
      }
      if (isOpen(state) && !signal.aborted) yield* take({ type: 'end' });
    } catch (error) {
      if (signal.aborted) return;
      yield* take({ type: 'failure', error });
    }
  }
}

/** The objects of all pages of a list. */
async function* pagesOf<T extends Obj>(
  pages: ReturnType<Client['list']>,
  { clock }: WatchOptions,
  signal: AbortSignal,
): AsyncGenerator<WatchInput<T>, void, void> {
  let version: string | undefined;
  for await (const page of pages) {
    version = page.resourceVersion;
    yield { type: 'page', version };
    // Parsing the page took one turn of the event loop; its objects are handled in later turns, which are short.
    await turn();
    const pace = new Pace(clock);
    for (const object of page.items as T[]) {
      const rest = pace.rest();
      if (rest) await rest;
      yield { type: 'item', object };
    }
  }
  if (!signal.aborted) yield { type: 'lastPage', version: version ?? '' };
}

/** @throws the error that the server reports */
async function* inputsFrom<T extends Obj>(
  frames: AsyncIterable<Frame<T>>,
  { kind }: Kind<T>,
  namespace: string | undefined,
): AsyncGenerator<WatchInput<T>, void, void> {
  for await (const frame of frames) {
    if (frame.type === 'ERROR') throw errorInFrame(frame.status, { verb: 'watch', kind, namespace });
    yield { type: 'frame', frame };
  }
}

function scopeOf(scope: Scope): Pick<Query, keyof Scope> {
  return {
    ...(scope.namespace !== undefined && { namespace: scope.namespace }),
    ...(scope.labels !== undefined && { labels: scope.labels }),
    ...(scope.fields !== undefined && { fields: scope.fields }),
    ...(scope.metadataOnly !== undefined && { metadataOnly: scope.metadataOnly }),
  };
}
