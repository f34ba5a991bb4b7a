/** One client per target cluster and credentials, shared by all items, closed when nobody has asked for it for a while. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../src/lib/clock.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import { RetryError, messageOf } from './errors.ts';

/** A cluster to install things on. */
export interface KubeAccess {
  readonly client: Client;
  /** The kind's place in the API of that cluster. @throws NoSuchKind */
  kindOf(apiVersion: string, kind: string): Promise<Kind<Obj>>;
  close(): Promise<void>;
}

/** How long a client that nobody asks for stays open. */
const IDLE_MS = 5 * 60_000;

export interface ClientPool {
  /** @throws RetryError when the kubeconfig cannot be used */
  open(kubeconfig: string): Promise<KubeAccess>;
  close(): Promise<void>;
}

interface Entry {
  readonly access: Promise<KubeAccess>;
  usedAt: number;
}

export function createClientPool(
  clock: Clock,
  connect: (kubeconfig: string) => Promise<KubeAccess>,
): ClientPool {
  const entries = new Map<string, Entry>();
  let cancelSweep: (() => void) | undefined;

  const drop = async (key: string, entry: Entry): Promise<void> => {
    entries.delete(key);
    await entry.access.then((access) => access.close()).catch(() => undefined);
  };
  const sweep = (): void => {
    cancelSweep = undefined;
    for (const [key, entry] of entries) if (clock.now() - entry.usedAt >= IDLE_MS) void drop(key, entry);
    schedule();
  };
  const schedule = (): void => {
    if (cancelSweep || entries.size === 0) return;
    const oldest = Math.min(...[...entries.values()].map((entry) => entry.usedAt));
    cancelSweep = clock.at(oldest + IDLE_MS, sweep);
  };

  return {
    async open(kubeconfig) {
      const key = fingerprint(kubeconfig);
      const entry = entries.get(key) ?? { access: connect(kubeconfig), usedAt: 0 };
      entries.set(key, entry);
      entry.usedAt = clock.now();
      schedule();
      try {
        return await entry.access;
      } catch (error) {
        entries.delete(key);
        throw new RetryError(
          'TargetAccess',
          'ensureTargetAccess',
          `the target cannot be used: ${messageOf(error)}`,
          {
            cause: error,
          },
        );
      }
    },
    async close() {
      cancelSweep?.();
      await Promise.all([...entries].map(([key, entry]) => drop(key, entry)));
    },
  };
}

/** A key for credentials that does not contain them. */
const fingerprint = (text: string): string => createHash('sha256').update(text).digest('hex');
