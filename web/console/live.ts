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

/** The server sends at least one event in 5 seconds. */
const SILENCE_MS = 15_000;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 5_000;

/** @param attempt connects again when it changes */
export function useLive<T extends Item>(path: string, attempt: number): Live<T> {
  const [state, setState] = useState<Live<T> & { readonly path: string }>(() => initial(path));
  useEffect(() => {
    setState(initial(path));
    return follow<T>(path, (change) => setState((before) => ({ ...before, ...change(before) })));
  }, [path, attempt]);
  // The first render after a change of the path must not show the items of the path before.
  return state.path === path ? state : initial(path);
}

const initial = <T>(path: string): Live<T> & { readonly path: string } => ({
  path,
  items: undefined,
  connection: 'connecting',
  problem: '',
});

type Update<T> = (change: (before: Live<T>) => Partial<Live<T>>) => void;

/** @returns a function that ends the connection */
function follow<T extends Item>(path: string, update: Update<T>): () => void {
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
  const on = (event: string, change: (data: string, before: Live<T>) => Partial<Live<T>>): void =>
    source?.addEventListener(event, ({ data }) => {
      heard();
      update((before) => change(String(data), before));
    });
  const connect = (): void => {
    source = new EventSource(path);
    source.onerror = lost;
    heard();
    on('snapshot', (data) => {
      retryMs = MIN_RETRY_MS;
      const { items } = JSON.parse(data) as Snapshot<T>;
      return { items: new Map(items.map((item) => [item.id, item])), connection: 'live' };
    });
    on('change', (data, { items }) => ({
      items: changedItems(items ?? new Map<string, T>(), JSON.parse(data) as Changes<T>),
    }));
    on('health', (data) => ({ problem: (JSON.parse(data) as Health).problem }));
  };
  connect();
  return () => {
    isClosed = true;
    clearTimeout(timer);
    source?.close();
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
