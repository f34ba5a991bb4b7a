/**
 * One client per kubeconfig, shared by all callers, and closed when it was not used for a while. A tenant can name any
 * number of kubeconfigs, so each namespace keeps a limited number of clients.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import { smallest } from '../../lib/lists.ts';
import { SizedMap } from '../../lib/sized-map.ts';
import { ShutdownError } from '../errors.ts';
import type { Client } from '../types.ts';

interface Closable {
  close(): Promise<void>;
}

/** @typeParam C created from a kubeconfig: a client, or an object with a client */
export interface ClientPool<C extends Closable = Client> {
  /**
   * @param kubeconfig as tenants provide it: files and commands of this machine are rejected
   * @param namespace which uses it, for a fair share of the memory for responses; if several share a client, the first
   * @throws KubeconfigError; ShutdownError after `close`; an unreachable server is noticed by the first request only
   */
  open(kubeconfig: string, namespace: string): Promise<C>;
  close(): Promise<void>;
}

interface Entry<C> {
  readonly client: Promise<C>;
  /** The first that used it. */
  readonly namespace: string;
  usedAt: number;
}

/** How long an unused client stays open; longer than the interval of regular users. */
const IDLE_MS = 10 * 60_000;
/** Of the clients of one namespace: about 1,500 with kubeconfigs of usual size. */
const MAX_BYTES = 32 * 2 ** 20;
/** Of a client besides its kubeconfig, which it keeps as a string and parsed. */
const CLIENT_BYTES = 10 * 2 ** 10;
const bytesOf = (kubeconfig: string): number => CLIENT_BYTES + 2 * kubeconfig.length;

export function createClientPool<C extends Closable>(
  clock: Clock,
  connect: (kubeconfig: string, namespace: string) => Promise<C>,
  idleMs = IDLE_MS,
): ClientPool<C> {
  const entries = new Map<string, Entry<C>>();
  /** By namespace: the bytes of its clients, by key. */
  const kept = new Map<string, SizedMap<number>>();
  // A client that makes place for another one is not closed, because it may be in use: its sockets close when they
  // are idle, and nothing else keeps it.
  const keptBy = (namespace: string): SizedMap<number> => {
    const sizes =
      kept.get(namespace) ?? new SizedMap<number>(MAX_BYTES, Number, (key) => entries.delete(key));
    kept.set(namespace, sizes);
    return sizes;
  };
  let cancelSweep: (() => void) | undefined;
  let isClosed = false;

  const release = (key: string, { namespace }: Entry<C>): void => {
    entries.delete(key);
    const sizes = kept.get(namespace);
    sizes?.delete(key);
    if (sizes?.items === 0) kept.delete(namespace);
  };
  const drop = async (key: string, entry: Entry<C>): Promise<void> => {
    release(key, entry);
    await entry.client.then((open) => open.close()).catch(() => undefined);
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
    async open(kubeconfig, namespace) {
      if (isClosed)
        throw new ShutdownError({ message: 'the process is stopping, and opens no more connections' });
      const key = fingerprint(kubeconfig);
      const entry = entries.get(key) ?? { client: connect(kubeconfig, namespace), namespace, usedAt: 0 };
      entries.set(key, entry);
      keptBy(entry.namespace).set(key, bytesOf(kubeconfig));
      entry.usedAt = clock.now();
      schedule();
      try {
        return await entry.client;
      } catch (error) {
        if (entries.get(key) === entry) release(key, entry);
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
