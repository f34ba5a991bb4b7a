/**
 * Divides the connections to a registry among namespaces. A response that waits for memory keeps its connection, so one
 * namespace could otherwise have all connections to a registry that many use.
 */
import { ByteBudget, type ByteShare } from '../lib/byte-budget.ts';

export class Places {
  readonly #count: number;
  /** By origin; only those with requests. */
  readonly #origins = new Map<string, ByteBudget>();

  /** @param count of requests to one origin at the same time; one key gets at most half of them */
  constructor(count: number) {
    this.#count = count;
  }

  /** Number of origins with requests. */
  get size(): number {
    return this.#origins.size;
  }

  /**
   * @param key who sends the request, such as a namespace
   * @throws the reason of `signal`
   */
  async take(origin: string, key: string, signal: AbortSignal): Promise<ByteShare> {
    const places = this.#origins.get(origin) ?? new ByteBudget(this.#count);
    this.#origins.set(origin, places);
    const place = await places.take(1, key, signal);
    return {
      release: () => {
        place.release();
        if (places.used === 0) this.#origins.delete(origin);
      },
    };
  }
}
