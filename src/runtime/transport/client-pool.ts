/** One client per kubeconfig, shared by all callers, and closed when it was not used for a while. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { smallest } from '../../lib/lists.ts';
import { ShutdownError } from '../errors.ts';
import type { Client } from '../types.ts';

interface Closable {
  close(): Promise<void>;
}

/** @typeParam C created from a kubeconfig: a client, or an object with a client */
export interface ClientPool<C extends Closable = Client> {
  /**
   * @param kubeconfig as tenants provide it: files and commands of this machine are rejected
   * @throws KubeconfigError; ShutdownError after `close`; an unreachable server is noticed by the first request only
   */
  open(kubeconfig: string): Promise<C>;
  close(): Promise<void>;
}

interface Entry<C> {
  readonly client: Promise<C>;
  usedAt: number;
}

/** How long an unused client stays open; longer than the interval of regular users. */
const IDLE_MS = 10 * 60_000;

export function createClientPool<C extends Closable>(
  clock: Clock,
  connect: (kubeconfig: string) => Promise<C>,
  idleMs = IDLE_MS,
): ClientPool<C> {
  const entries = new Map<string, Entry<C>>();
  let cancelSweep: (() => void) | undefined;
  let isClosed = false;

  const drop = async (key: string, { client }: Entry<C>): Promise<void> => {
    entries.delete(key);
    await client.then((open) => open.close()).catch(() => undefined);
  };
  const sweep = (): void => {
    cancelSweep = undefined;
    for (const [key, entry] of entries) if (clock.now() - entry.usedAt >= idleMs) void drop(key, entry);
    schedule();
  };
  const schedule = (): void => {
    if (cancelSweep || entries.size === 0) return;
    const oldest = smallest([...entries.values()].map(({ usedAt }) => usedAt));
    cancelSweep = clock.at(oldest + idleMs, sweep);
  };

  return {
    async open(kubeconfig) {
      if (isClosed)
        throw new ShutdownError({ message: 'the process is stopping, and opens no more connections' });
      const key = fingerprint(kubeconfig);
      const entry = entries.get(key) ?? { client: connect(kubeconfig), usedAt: 0 };
      entries.set(key, entry);
      entry.usedAt = clock.now();
      schedule();
      try {
        return await entry.client;
      } catch (error) {
        if (entries.get(key) === entry) entries.delete(key);
        throw error;
      }
    },
    async close() {
      isClosed = true;
      cancelSweep?.();
      cancelSweep = undefined;
      await Promise.all([...entries].map(([key, entry]) => drop(key, entry)));
    },
  };
}

/** A key for credentials that does not contain them. */
const fingerprint = (text: string): string => createHash('sha256').update(text).digest('hex');
