/** Bytes that may be in memory at the same time, shared fairly. */

/** The key for a request: its namespace if it is known, otherwise the server. */
export const shareOf = (namespace: string | undefined, server: string): string =>
  namespace === undefined ? `server ${server}` : `namespace ${namespace}`;

/** Reserved bytes. */
export interface ByteShare {
  /** Releases the bytes; further calls have no effect. */
  release(): void;
}

/** For downloads that are not parsed while they arrive: blobs of registries, charts, indexes of chart repositories. */
export interface DownloadLimits {
  readonly maxBytes: number;
  readonly budget: ByteBudget;
}

interface Waiter {
  readonly bytes: number;
  grant(): void;
}

/**
 * Divides a number of bytes among requests. A request reserves all its bytes at once, so two requests never block
 * each other. If too little is left, it waits. Waiting requests are served by key, in turn, and a key that has a
 * reservation gets at most half of the budget. So the key is the namespace for which a request is sent, if it is known:
 * a tenant can name any number of servers that are slow.
 */
export class ByteBudget {
  readonly total: number;
  #used = 0;
  readonly #heldBy = new Map<string, number>();
  /** In the order in which keys are served. */
  readonly #waiting = new Map<string, Waiter[]>();

  constructor(total: number) {
    this.total = total;
  }

  /** Reserved bytes. */
  get used(): number {
    return this.#used;
  }

  /**
   * @param bytes more than the whole budget counts as the whole budget
   * @param key who reserves it, such as a namespace
   * @throws the reason of `signal`
   */
  take(bytes: number, key: string, signal?: AbortSignal): Promise<ByteShare> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    const wanted = Math.min(bytes, this.total);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        bytes: wanted,
        grant: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve(this.#reserve(wanted, key));
        },
      };
      const onAbort = (): void => {
        this.#drop(key, waiter);
        reject(signal?.reason as Error);
        this.#serve();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const line = this.#waiting.get(key) ?? [];
      line.push(waiter);
      this.#waiting.set(key, line);
      this.#serve();
    });
  }

  /** Reserves bytes that are free now. @returns undefined: too few are free, or the key may not have so many */
  takeNow(bytes: number, key: string): ByteShare | undefined {
    const wanted = Math.min(bytes, this.total);
    const isFree = this.#waiting.size === 0 && this.#used + wanted <= this.total;
    return isFree && this.#mayHold(wanted, key) ? this.#reserve(wanted, key) : undefined;
  }

  #mayHold(bytes: number, key: string): boolean {
    const held = this.#heldBy.get(key) ?? 0;
    return held === 0 || held + bytes <= this.total / 2;
  }

  #reserve(bytes: number, key: string): ByteShare {
    this.#used += bytes;
    this.#heldBy.set(key, (this.#heldBy.get(key) ?? 0) + bytes);
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#used -= bytes;
        const left = (this.#heldBy.get(key) ?? 0) - bytes;
        if (left > 0) this.#heldBy.set(key, left);
        else this.#heldBy.delete(key);
        this.#serve();
      },
    };
  }

  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { key, waiter } = next;
      const line = this.#waiting.get(key) ?? [];
      line.shift();
      // Moves the key to the end, so that all other keys are served before its next request.
      this.#waiting.delete(key);
      if (line.length > 0) this.#waiting.set(key, line);
      waiter.grant();
    }
  }

  /** The next waiter by key. If too little is left for it, all others wait, too, however little they need. */
  #next(): { readonly key: string; readonly waiter: Waiter } | undefined {
    for (const [key, [waiter]] of this.#waiting) {
      if (!waiter) continue;
      if (!this.#mayHold(waiter.bytes, key)) continue;
      return this.#used + waiter.bytes <= this.total ? { key, waiter } : undefined;
    }
    return undefined;
  }

  #drop(key: string, waiter: Waiter): void {
    const line = this.#waiting.get(key) ?? [];
    line.splice(line.indexOf(waiter), 1);
    if (line.length === 0) this.#waiting.delete(key);
  }
}
