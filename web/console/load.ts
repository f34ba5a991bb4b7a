/** Data that is read once, and again when something has changed. */
import { useEffect, useState } from 'preact/hooks';
import { get } from './api.ts';

interface Loaded<T> {
  readonly data: T | undefined;
  readonly error: string;
  readonly isLoading: boolean;
}

/** @param version reads again when it changes; changes within a second count as one */
export function useLoaded<T>(path: string, version?: unknown): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { readonly path: string }>({
    path,
    data: undefined,
    error: '',
    isLoading: true,
  });
  useEffect(() => {
    const ending = new AbortController();
    const read = (): void => {
      setState((before) => ({ ...before, isLoading: true }));
      get<T>(path, ending.signal)
        .then((data) => setState({ path, data, error: '', isLoading: false }))
        .catch((error: unknown) => {
          if (!ending.signal.aborted)
            setState((before) => ({ ...before, path, error: (error as Error).message, isLoading: false }));
        });
    };
    const timer = setTimeout(read, state.path === path && state.data !== undefined ? 1000 : 0);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [path, version]);
  return state.path === path ? state : { data: undefined, error: '', isLoading: true };
}
