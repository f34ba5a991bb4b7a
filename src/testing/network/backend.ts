/** The API server at the far end of the simulated network. It answers at once and without faults. */
import type { Frame, Key, Kind, Obj, Page, Query, WatchQuery, Write } from '../../runtime/types.ts';

/** Receives what the server sends on one watch. */
export interface Feed {
  push(frame: Frame<Obj>): void;
  /** The server has ended the watch. */
  end(): void;
}

type Answer<T> = T | Promise<T>;

/** Every method throws, or rejects with, the errors that a client would receive. */
export interface Backend {
  get(kind: Kind, key: Key): Answer<Obj>;
  list(kind: Kind, query: Query): Answer<Page<Obj>>;
  /** The response to a GET of a path that is not that of an object, such as discovery. */
  read(path: string): Answer<unknown>;
  /** @param actor name of the process */
  write(write: Write, actor: string): Answer<Obj>;
  /** @returns a function that closes the watch */
  watch(kind: Kind, query: WatchQuery, feed: Feed): Answer<() => void>;
  /** An object in the trace, in a few words. */
  describe(object: Obj): string;
}
