/** The sources of one controller. */
import type { AttachedSource, Source, SourceHost } from './sources.ts';
import { scopeOf } from '../cache/namespace-scope.ts';
import type { Cache, Obj, View } from '../types.ts';

interface LiveSource<P extends Obj> {
  readonly source: Source<P>;
  readonly attached: AttachedSource<P>;
  readonly life: AbortController;
}

export class SourceSet<P extends Obj> {
  readonly #host: SourceHost<P>;
  readonly #sources = new Map<string, LiveSource<P>>();
  #life: AbortSignal | undefined;

  constructor(host: SourceHost<P>) {
    this.#host = host;
  }

  has(name: string): boolean {
    return this.#sources.has(name);
  }

  values(): Iterable<LiveSource<P>> {
    return this.#sources.values();
  }

  attach(source: Source<P>): LiveSource<P> {
    const live = { source, attached: source.attach(this.#host), life: new AbortController() };
    this.#sources.set(source.name, live);
    return live;
  }

  /** Resolves when all are synced; those of stage `state` start first. */
  async start(signal: AbortSignal): Promise<void> {
    this.#life = signal;
    const all = [...this.#sources.values()];
    for (const stage of ['state', 'normal'] as const) {
      await Promise.all(all.filter((live) => live.source.stage === stage).map((live) => start(live, signal)));
    }
  }

  /** Adds a source to a running controller; a source whose name already exists is ignored. */
  async add(source: Source<P>): Promise<void> {
    if (this.#sources.has(source.name)) return;
    const live = this.attach(source);
    if (this.#life) await start(live, this.#life);
  }

  /** Undefined if all sources have read a namespace that was added to their scope; otherwise resolves when they have. */
  whenRead(namespace: string): Promise<unknown> | undefined {
    const unread: Promise<unknown>[] = [];
    for (const { source } of this.#sources.values()) {
      const cache = source.cache as Cache<Obj> | undefined;
      const read = cache?.options && scopeOf(cache.options) && cache.whenRead(namespace);
      if (read) unread.push(read);
    }
    return unread.length > 0 ? Promise.all(unread) : undefined;
  }

  /** Before this process takes over primaries. @throws the error of a source */
  async refresh(isTaken: (primary: View<Obj>) => boolean, signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#sources.values()].map(async ({ attached }) => attached.refresh?.(isTaken, signal)),
    );
  }

  remove(name: string): void {
    this.#sources.get(name)?.life.abort(new Error(`source ${name} was removed`));
    this.#sources.delete(name);
  }
}

const start = <P extends Obj>({ attached, life }: LiveSource<P>, signal: AbortSignal): Promise<void> =>
  attached.start(AbortSignal.any([signal, life.signal]));
