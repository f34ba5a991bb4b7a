/** Items that the server keeps up to date: a snapshot, then changes, and a new snapshot after a reconnect. */
import { useEffect, useState } from 'preact/hooks';
import type { Changes, Health, Snapshot } from '../../src/cli/console/wire.ts';
import { ApiProblem, get } from './api.ts';
import { changedItems } from './changes.ts';

interface Item {
  readonly id: string;
}

/** `refused`: there is no valid session. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

export interface Live<T> {
  /** Undefined before the first snapshot. */
  readonly items: ReadonlyMap<string, T> | undefined;
  readonly connection: Connection;
  /** The problem of the server with the cluster; empty if there is none. */
  readonly problem: string;
}

/** An item from the JSON of an event. */
type Complete<T> = (sent: never) => T;

/** The server sends at least one event in 5 seconds. */
const SILENCE_MS = 15_000;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 5_000;

/**
 * @param complete makes an item of what the server sends; a constant for each path
 * @param attempt connects again when it changes
 */
export function useLive<T extends Item>(path: string, complete: Complete<T>, attempt: number): Live<T> {
  const [state, setState] = useState<Live<T> & { readonly path: string }>(() => initial(path));
  useEffect(() => {
    setState((before) => initial(path, before.connection));
    return follow<T>(path, complete, (change) => setState((before) => ({ ...before, ...change(before) })));
  }, [path, attempt]);
  // The first render after a change of the path must not show the items of the path before.
  return state.path === path ? state : initial(path, state.connection);
}

/** Another view of a server that responds is not another connection. */
const initial = <T>(
  path: string,
  before: Connection = 'connecting',
): Live<T> & { readonly path: string } => ({
  path,
  items: undefined,
  connection: before === 'live' ? 'live' : 'connecting',
  problem: '',
});

type Update<T> = (change: (before: Live<T>) => Partial<Live<T>>) => void;

/** @returns a function that ends the connection */
export function follow<T extends Item>(path: string, complete: Complete<T>, update: Update<T>): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let retryMs = MIN_RETRY_MS;
  let isClosed = false;

  const later = (ms: number, run: () => void): void => {
    clearTimeout(timer);
    timer = setTimeout(run, ms);
  };
  const heard = (): void => later(SILENCE_MS, lost);
  const lost = (): void => {
    source?.close();
    void connectionWithoutEvents().then((connection) => {
      if (isClosed) return;
      update(() => ({ connection }));
      later(retryMs, connect);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    });
  };
  const connect = (): void => {
    const own = new EventSource(path);
    source = own;
    own.onerror = lost;
    heard();
    for (const [event, read] of Object.entries(readersOf(complete, update)))
      own.addEventListener(event, ({ data }: MessageEvent<string>) => {
        heard();
        if (event === 'snapshot') retryMs = MIN_RETRY_MS;
        // In a task of its own, so that several events do not block the page for long.
        setTimeout(() => {
          if (!isClosed) read(data);
        });
      });
  };
  connect();
  return () => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
  };
}

/** What the data of each event changes. */
function readersOf<T extends Item>(
  complete: Complete<T>,
  update: Update<T>,
): Readonly<Record<string, (data: string) => void>> {
  let earlier: T[] = [];
  const withEarlier = (items: readonly never[]): readonly T[] => {
    const all = [...earlier, ...items.map(complete)];
    earlier = [];
    return all;
  };
  return {
    items(data) {
      earlier.push(...(JSON.parse(data) as Snapshot<never>).items.map(complete));
    },
    snapshot(data) {
      const all = withEarlier((JSON.parse(data) as Snapshot<never>).items);
      const items = new Map(all.map((item) => [item.id, item]));
      update(() => ({ items, connection: 'live' }));
    },
    change(data) {
      const { set, gone } = JSON.parse(data) as Changes<never>;
      const changes = { set: withEarlier(set), gone };
      update(({ items }) => ({ items: changedItems(items ?? new Map<string, T>(), changes) }));
    },
    health(data) {
      const { problem } = JSON.parse(data) as Health;
      update(() => ({ problem }));
    },
  };
}

/** Events do not say why a connection failed. */
async function connectionWithoutEvents(): Promise<Connection> {
  try {
    await get('/api/about');
    return 'lost';
  } catch (error) {
    return error instanceof ApiProblem && error.status === 401 ? 'refused' : 'lost';
  }
}
