/**
 * The credentials of a connection, and the sockets that were opened with them. They are read again at most once a
 * minute, and after the server has rejected them; not for each request.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { Access, Credentials } from './kubeconfig.ts';
import { createPools, type Pools } from './pools.ts';

export interface InUse {
  readonly credentials: Credentials;
  readonly pools: Pools;
}

const MAX_AGE_MS = 60_000;
/** Minimum time between two reads of credentials that are always rejected. */
const REFUSED_MIN_AGE_MS = 5_000;

export class CredentialKeeper {
  readonly #access: Access;
  readonly #maxSockets: number;
  readonly #clock: Clock;
  readonly #log: Logger;
  #inUse: InUse | undefined;
  /** Sockets of earlier certificates with active requests. */
  readonly #retired = new Set<Pools>();
  #readAt = -Infinity;
  #reading: Promise<InUse> | undefined;

  constructor(access: Access, maxSockets: number, clock: Clock, log: Logger) {
    this.#access = access;
    this.#maxSockets = maxSockets;
    this.#clock = clock;
    this.#log = log;
  }

  /** @throws KubeconfigError if credentials could never be read */
  current(): Promise<InUse> {
    const isYoung = this.#clock.now() - this.#readAt < MAX_AGE_MS;
    return this.#inUse && isYoung ? Promise.resolve(this.#inUse) : this.#share(false);
  }

  /** After a 401 for a request with `used`: whether there are other credentials to try. */
  async refreshed(used: InUse): Promise<boolean> {
    // Another request may have been rejected and refreshed the credentials since this one was sent.
    if (this.#inUse !== used) return true;
    if (this.#clock.now() - this.#readAt < REFUSED_MIN_AGE_MS) return false;
    return (await this.#share(true)) !== used;
  }

  async destroy(): Promise<void> {
    const pools = [...this.#retired, ...(this.#inUse ? [this.#inUse.pools] : [])];
    await Promise.all(pools.map((each) => each.destroy()));
  }

  /** Concurrent callers share one read. */
  #share(refused: boolean): Promise<InUse> {
    this.#reading ??= this.#read(refused).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(refused: boolean): Promise<InUse> {
    const before = this.#inUse;
    try {
      const credentials = await this.#access.credentials(refused);
      if (!before || !isSame(credentials, before.credentials)) {
        const isReusable = before && isSame(credentials.tls, before.credentials.tls);
        const pools = isReusable
          ? before.pools
          : await createPools(this.#access, credentials.tls, this.#maxSockets);
        if (before && !isReusable) this.#retire(before.pools);
        this.#inUse = { credentials, pools };
      }
    } catch (error) {
      // Files are replaced in place when a token is rotated: the old credentials stay valid a little longer.
      if (!before) throw error;
      this.#log.warn({ err: String(error) }, 'rereading the credentials failed, keeping the old ones');
    }
    this.#readAt = this.#clock.now();
    return this.#inUse as InUse;
  }

  #retire(pools: Pools): void {
    this.#retired.add(pools);
    void pools.close().finally(() => this.#retired.delete(pools));
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
