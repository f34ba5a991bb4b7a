/** The sessions of viewers, in memory only. They end by logout, when they are idle, or after some hours. */
import type { Clock } from '../../../lib/clock.ts';
import { digest, newSecret } from '../guard.ts';

export const IDLE_MS = 30 * 60_000;
export const MAX_AGE_MS = 12 * 3_600_000;
export const MAX_SESSIONS = 200;
/** One more ends the oldest of the same user. */
export const MAX_SESSIONS_OF_USER = 5;
/** The same for the service accounts of a namespace, of which a tenant can create any number. */
export const MAX_SESSIONS_OF_NAMESPACE = 20;

type EndReason = 'logout' | 'idle' | 'too old' | 'replaced' | 'token refused' | 'stopping';

interface Held<T> {
  readonly value: T;
  readonly user: string;
  readonly namespace: string | undefined;
  readonly startedAt: number;
  usedAt: number;
}

export interface SessionStore<T> {
  /** @param namespace of a service account. @returns the secret of the session; undefined if there are too many sessions */
  add(user: string, value: T, namespace?: string): string | undefined;
  /** Counts as use. */
  use(secret: string | undefined): T | undefined;
  end(value: T, reason: EndReason): void;
  values(): readonly T[];
  /** Ends the sessions whose time is over. @param isInUse such a session is not idle */
  expire(isInUse: (value: T) => boolean): void;
}

/** @param onEnd called for each session that ends */
export function createSessionStore<T>(
  clock: Clock,
  onEnd: (value: T, reason: EndReason) => void,
): SessionStore<T> {
  /** By the digest of the secret, so that a lookup does not reveal how much of a wrong secret is right. Oldest first. */
  const sessions = new Map<string, Held<T>>();
  const idOf = (secret: string): string => digest(secret).toString('base64');
  const end = (id: string, reason: EndReason): void => {
    const held = sessions.get(id);
    if (!sessions.delete(id) || !held) return;
    onEnd(held.value, reason);
  };
  return {
    add(user, value, namespace) {
      const own = [...sessions].filter(([, held]) => held.user === user);
      const [oldest] = own;
      if (oldest && own.length >= MAX_SESSIONS_OF_USER) end(oldest[0], 'replaced');
      const neighbours = [...sessions].filter(([, held]) => held.namespace === namespace);
      const [first] = namespace === undefined ? [] : neighbours;
      if (first && neighbours.length >= MAX_SESSIONS_OF_NAMESPACE) end(first[0], 'replaced');
      if (sessions.size >= MAX_SESSIONS) return undefined;
      const secret = newSecret();
      const now = clock.now();
      sessions.set(idOf(secret), { value, user, namespace, startedAt: now, usedAt: now });
      return secret;
    },
    use(secret) {
      const held = secret === undefined ? undefined : sessions.get(idOf(secret));
      if (held) held.usedAt = clock.now();
      return held?.value;
    },
    end(value, reason) {
      for (const [id, held] of sessions) if (held.value === value) end(id, reason);
    },
    values: () => [...sessions.values()].map(({ value }) => value),
    expire(isInUse) {
      const now = clock.now();
      for (const [id, held] of sessions) {
        if (isInUse(held.value)) held.usedAt = now;
        if (now - held.startedAt >= MAX_AGE_MS) end(id, 'too old');
        else if (now - held.usedAt >= IDLE_MS) end(id, 'idle');
      }
    },
  };
}
