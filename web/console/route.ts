/** The current address. */
import { useEffect, useState } from 'preact/hooks';
import { viewOf, type View } from './addresses.ts';

export interface Route {
  readonly view: View;
  readonly query: URLSearchParams;
}

const listeners = new Set<() => void>();
const changed = (): void => {
  for (const listener of listeners) listener();
};

/** @param options.replace for changes that the back button should not visit */
export function navigate(url: string, { replace = false } = {}): void {
  if (url === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  changed();
}

const current = (): Route => ({
  view: viewOf(location.pathname),
  query: new URLSearchParams(location.search),
});

export function useRoute(): Route {
  const [route, setRoute] = useState(current);
  useEffect(() => {
    const update = (): void => setRoute(current());
    listeners.add(update);
    addEventListener('popstate', update);
    return () => {
      listeners.delete(update);
      removeEventListener('popstate', update);
    };
  }, []);
  return route;
}
