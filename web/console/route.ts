/** The current address. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { viewOf, type View } from './addresses.ts';

export interface Route {
  readonly view: View;
  readonly query: URLSearchParams;
}

const listeners = new Set<() => void>();
/** Each returns what the page needs to look the same when the user comes back to this address. */
const savers = new Set<() => object>();

const written = (): string => location.pathname + location.search;
/** The address that the page shows; the browser may receive it later. */
let url = written();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Browsers ignore or refuse further replacements within 30 s, Safari those after the hundredth. */
const MAX_REPLACED = 40;
const PERIOD_MS = 30_000;
/** Between replacements beyond that number, such as those of a key that the user holds down. */
const PAUSE_MS = 1_000;
let replacedAt: number[] = [];

function show(next: string): void {
  url = next;
  for (const listener of listeners) listener();
}

function writeReplaced(): void {
  clearTimeout(timer);
  timer = undefined;
  if (url === written()) return;
  replacedAt.push(Date.now());
  history.replaceState(null, '', url);
}

/** @param options.replace for changes that the back button should not visit */
export function navigate(next: string, { replace = false } = {}): void {
  if (next === url) return;
  if (replace) {
    show(next);
    const now = Date.now();
    replacedAt = replacedAt.filter((at) => now - at < PERIOD_MS);
    if (replacedAt.length < MAX_REPLACED) writeReplaced();
    else timer ??= setTimeout(writeReplaced, PAUSE_MS);
    return;
  }
  writeReplaced();
  for (const save of savers) history.replaceState(save(), '');
  history.pushState(null, '', next);
  show(next);
}

addEventListener('popstate', () => {
  clearTimeout(timer);
  timer = undefined;
  show(written());
});
addEventListener('pagehide', writeReplaced);

const current = (): Route => {
  const { pathname, searchParams } = new URL(url, location.origin);
  return { view: viewOf(pathname), query: searchParams };
};

export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const update = (): void => setRoute(current());
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return route;
}

/**
 * What `save` returned when the user left this address by a link; undefined at the first visit.
 * @param save called before each navigation
 */
export function useSaved<T extends object>(save: () => T): Partial<T> | undefined {
  const [saved] = useState(() => (history.state ?? undefined) as Partial<T> | undefined);
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const saver = (): object => latest.current();
    savers.add(saver);
    return () => void savers.delete(saver);
  }, []);
  return saved;
}
