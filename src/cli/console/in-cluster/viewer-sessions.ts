/** The sessions of viewers, each with the view that the token allows now. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../observability/log.ts';
import { Unauthorized } from '../../../runtime/errors.ts';
import type { Client } from '../../../runtime/types.ts';
import { Refused, type Viewer } from '../access.ts';
import type { Source } from '../model.ts';
import { createRights, type ViewerRights } from './rights.ts';
import { createSessionStore, type SessionStore } from './sessions.ts';
import { createViews, type View, type Views } from './views.ts';

export interface Session {
  readonly user: string;
  readonly client: Client;
  readonly rights: ViewerRights;
  /** What the viewer may do besides, until `life` ends. */
  readonly allowed: Allowed;
  readonly life: AbortController;
  view: View;
  /** Called when the viewer may no longer follow the feed. */
  readonly followers: Set<() => void>;
  isEnded: boolean;
  /** Set while the rights are being checked. */
  updating?: Promise<void> | undefined;
}

type Allowed = Pick<Viewer, 'targets' | 'plan'>;

export interface ViewerSessions {
  /**
   * @param allow called with a signal that ends with the session
   * @throws the errors of runtime/errors.ts, and closes the client
   * @returns the secret of the session
   */
  open(
    client: Client,
    user: { readonly name: string; readonly id: string },
    allow: (signal: AbortSignal) => Allowed,
  ): Promise<string>;
  /** The session with the view that the token allows now. @throws Refused if the rights are not known */
  current(secret: string | undefined): Promise<Session | undefined>;
  logout(secret: string | undefined): void;
  close(): void;
}

/** How often open pages are checked; the API server is asked only for answers that are too old. */
const CHECK_MS = 5_000;

interface Parts {
  readonly source: Source;
  readonly clock: Clock;
  readonly log: Logger;
}

export function createViewerSessions({ source, clock, log }: Parts): ViewerSessions {
  const views = createViews(source, clock);
  const sessions = createSessionStore<Session>(clock, (session, reason) => {
    session.isEnded = true;
    session.life.abort(new Error('the session has ended'));
    endFeeds(session);
    views.release(session.view);
    void session.client.close();
    log.info({ user: session.user, reason }, 'session ended');
  });

  const update = updateWith(sessions, views, source);
  const stopChecks = checkRegularly(sessions, { clock, log, update });

  return {
    async open(client, { name, id }, allow) {
      const life = new AbortController();
      setMaxListeners(0, life.signal);
      try {
        const rights = createRights(client, clock);
        const view = views.acquire(await rights.scope(source.namespaces()));
        const session = {
          user: name,
          client,
          rights,
          allowed: allow(life.signal),
          life,
          view,
          followers: new Set<() => void>(),
          isEnded: false,
        };
        const secret = sessions.add(id, session, namespaceOf(name));
        if (secret !== undefined) return secret;
        views.release(view);
      } catch (error) {
        void client.close();
        throw error;
      }
      void client.close();
      throw new Refused(503, 'too many users are logged in; try again later');
    },
    async current(secret) {
      const session = sessions.use(secret);
      if (!session) return undefined;
      await update(session);
      return session.isEnded ? undefined : session;
    },
    logout(secret) {
      const session = sessions.use(secret);
      if (session) sessions.end(session, 'logout');
    },
    close() {
      stopChecks();
      for (const session of sessions.values()) sessions.end(session, 'stopping');
      views.close();
    },
  };
}

/**
 * Gives a session the view that its token allows now, and ends its feeds if that is another one. It throws Refused if
 * the rights are not known; then the feeds have ended.
 */
function updateWith(
  sessions: SessionStore<Session>,
  views: Views,
  source: Source,
): (session: Session) => Promise<void> {
  const updateNow = async (session: Session): Promise<void> => {
    const scope = await session.rights.scope(source.namespaces());
    if (session.isEnded) return;
    const before = session.view;
    session.view = views.acquire(scope);
    views.release(before);
    if (session.view !== before) endFeeds(session);
  };
  return async (session) => {
    session.updating ??= updateNow(session).finally(() => {
      session.updating = undefined;
    });
    try {
      await session.updating;
    } catch (error) {
      endFeeds(session);
      if (!(error instanceof Unauthorized))
        throw new Refused(503, `cannot check your rights: ${(error as Error).message}`);
      sessions.end(session, 'token refused');
    }
  };
}

/** Ends sessions whose time is over, and updates those with open pages. @returns a function that stops it */
function checkRegularly(
  sessions: SessionStore<Session>,
  { clock, log, update }: Omit<Parts, 'source'> & { readonly update: (session: Session) => Promise<void> },
): () => void {
  const check = async (session: Session): Promise<void> => {
    try {
      await update(session);
    } catch (error) {
      log.warn({ user: session.user, err: error }, 'checking the rights of a viewer failed');
    }
  };
  const later = (): (() => void) => clock.at(clock.now() + CHECK_MS, tick);
  const tick = (): void => {
    sessions.expire(({ followers }) => followers.size > 0);
    for (const session of sessions.values()) if (session.followers.size > 0) void check(session);
    cancel = later();
  };
  let cancel = later();
  return () => {
    cancel();
  };
}

function endFeeds({ followers }: Session): void {
  for (const end of [...followers]) end();
  followers.clear();
}

/** The namespace of a service account; undefined for other users. */
const namespaceOf = (user: string): string | undefined => /^system:serviceaccount:([^:]+):/.exec(user)?.[1];
