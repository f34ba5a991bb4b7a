/**
 * Viewers of a console in the cluster. Each enters a bearer token of Kubernetes. They see what they may list, and act
 * with their own token. The token is stored only here, in memory, and the browser receives the secret of a session.
 */
import type { FastifyRequest } from 'fastify';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../observability/log.ts';
import { Forbidden, Unauthorized } from '../../../runtime/errors.ts';
import { Refused, type Access, type Viewer } from '../access.ts';
import { endedCookie, isLoopback, secretIn, sessionCookie } from '../guard.ts';
import type { Source } from '../model.ts';
import type { About } from '../wire.ts';
import type { AllowedFor } from './allowances.ts';
import { createLoginLimit } from './login-limit.ts';
import { addressOf, originFor, type OriginRules } from './origin.ts';
import { whoIs, type ClientOf } from './viewer-client.ts';
import { createViewerSessions, type Session, type ViewerSessions } from './viewer-sessions.ts';

interface TokenAccessParts {
  readonly source: Source;
  readonly clientOf: ClientOf;
  readonly clock: Clock;
  readonly log: Logger;
  readonly about: Pick<About, 'version' | 'server'>;
  readonly rules: OriginRules;
  /** Absent: the console connects to no target, and computes no plans. */
  readonly allowedFor?: AllowedFor | undefined;
}

const MAX_FEEDS = 20;
const LOGIN_TIMEOUT_MS = 15_000;
const MAX_LOGINS = 20;
const MAX_LOGINS_OF_ADDRESS = 5;
/** Visible ASCII characters. */
const TOKEN = /^[!-~]{1,16384}$/;

export function tokenAccess(parts: TokenAccessParts): Access {
  const { rules } = parts;
  const sessions = createViewerSessions(parts);
  const login = loginWith(sessions, parts);
  const nameFor = (request: FastifyRequest): string => {
    const { protocol, host } = new URL(originFor(request, rules));
    return protocol === 'https:'
      ? '__Host-espalier-console'
      : `espalier-console-${host.split(':').at(-1) ?? ''}`;
  };
  const secretOf = (request: FastifyRequest): string | undefined =>
    secretIn(request.headers.cookie, nameFor(request));
  return {
    login: 'token',
    originOf: (request) => originFor(request, rules),
    async viewerOf(request) {
      const session = await sessions.current(secretOf(request));
      return session && viewerIn(session, parts);
    },
    async start(request, token) {
      refuseUnsafe(request, rules);
      return sessionCookie(nameFor(request), await login(token.trim(), addressOf(request, rules)));
    },
    end(request) {
      sessions.logout(secretOf(request));
      return endedCookie(nameFor(request));
    },
    describe(error) {
      const { message } = error as Error;
      return error instanceof Forbidden ? `${message}; ask an administrator for the permission` : message;
    },
    close() {
      sessions.close();
    },
  };
}

/** @returns a function that starts a session, and returns its secret; it throws Refused */
function loginWith(
  sessions: ViewerSessions,
  { clientOf, clock, log, allowedFor }: Pick<TokenAccessParts, 'clientOf' | 'clock' | 'log' | 'allowedFor'>,
): (token: string, address: string) => Promise<string> {
  const limit = createLoginLimit(clock);
  const running: string[] = [];
  const open = async (token: string, address: string): Promise<string> => {
    if (!TOKEN.test(token)) throw new Refused(401, 'this is not a bearer token');
    const client = await clientOf(token);
    const user = await whoIs(client, token, AbortSignal.timeout(LOGIN_TIMEOUT_MS)).catch((error: unknown) => {
      void client.close();
      throw error;
    });
    const secret = await sessions.open(
      client,
      user,
      (signal) => allowedFor?.({ ...user, client, token }, signal) ?? {},
    );
    log.info({ user: user.name, address }, 'login');
    return secret;
  };
  return async (token, address) => {
    const waitMs = limit.waitMs(address);
    if (waitMs > 0)
      throw new Refused(429, `too many failed logins; try again in ${String(Math.ceil(waitMs / 1000))} s`);
    const own = running.filter((one) => one === address);
    if (own.length >= MAX_LOGINS_OF_ADDRESS || running.length >= MAX_LOGINS)
      throw new Refused(429, 'too many logins at the same time; try again');
    running.push(address);
    try {
      return await open(token, address);
    } catch (error) {
      const refused = refusalFor(error);
      if (refused.statusCode === 401) {
        limit.failed(address);
        log.info({ address }, 'login refused');
      }
      throw refused;
    } finally {
      running.splice(running.indexOf(address), 1);
    }
  };
}

function refusalFor(error: unknown): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof Unauthorized)
    return new Refused(401, 'the API server does not accept the token; it may have expired');
  return new Refused(503, `cannot check the token: ${(error as Error).message}`);
}

/** @throws Refused if the token would be readable on its way, or the cookie would be */
function refuseUnsafe(request: FastifyRequest, rules: OriginRules): void {
  const { protocol } = new URL(originFor(request, rules));
  if (protocol === 'https:' || isLoopback(request.headers.host ?? '')) return;
  throw new Refused(
    403,
    'a login needs HTTPS; give the console a certificate, or let an ingress terminate TLS and set --trust-forwarded-headers',
  );
}

function viewerIn(session: Session, { about, log }: Pick<TokenAccessParts, 'about' | 'log'>): Viewer {
  const { view, user, client, allowed, followers } = session;
  return {
    model: view.model,
    feed: view.feed,
    client,
    ...allowed,
    about: { ...about, namespaces: view.scope.installations, user },
    onAction(action, landscape) {
      log.info({ user, action, landscape }, 'action requested');
    },
    onEnd(listener) {
      if (session.isEnded || session.view !== view)
        throw new Refused(503, 'your rights have just changed; try again');
      if (followers.size >= MAX_FEEDS)
        throw new Refused(429, 'too many pages are open in this session; close some');
      followers.add(listener);
      return () => void followers.delete(listener);
    },
  };
}
