/** The console of one user on this machine: the session starts with the printed link, and has the rights of the kubeconfig. */
import type { TargetReader } from '../../../deployers/sdk/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Client } from '../../runtime/types.ts';
import { lineFor } from '../report-error.ts';
import { Refused, type Access, type Viewer } from './access.ts';
import type { Planner } from './changes/plan-process.ts';
import { createFeed } from './feed.ts';
import { endedCookie, isOwnHost, secretIn, sessionCookie, type Sessions } from './guard.ts';
import type { WatchedModel } from './model.ts';
import type { About } from './wire.ts';

interface LoopbackParts {
  readonly model: WatchedModel;
  readonly client: Client;
  readonly targets?: TargetReader | undefined;
  readonly plan?: Planner | undefined;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly about: About;
  /** The port in links, cookies and Host headers. */
  readonly port: () => number;
}

export function loopbackAccess(parts: LoopbackParts): Access {
  const { model, client, targets, plan, clock, sessions, about, port } = parts;
  const feed = createFeed(model, clock);
  const viewer: Viewer = {
    model,
    feed,
    client,
    targets,
    plan,
    about,
    onAction: () => undefined,
    onEnd: () => () => undefined,
  };
  const cookieName = (): string => `espalier-console-${String(port())}`;
  return {
    login: 'link',
    originOf({ headers: { host } }) {
      if (isOwnHost(host, port())) return `http://${host ?? ''}`;
      throw new Refused(
        403,
        `the Host header "${host ?? ''}" is not an address of this console; use 127.0.0.1`,
      );
    },
    viewerOf: ({ headers: { cookie } }) =>
      Promise.resolve(sessions.isValid(secretIn(cookie, cookieName())) ? viewer : undefined),
    start(_, token) {
      const secret = sessions.exchange(token);
      return secret === undefined
        ? Promise.reject(
            new Refused(401, 'the token is not valid; open the link that espalier console printed last'),
          )
        : Promise.resolve(sessionCookie(cookieName(), secret));
    },
    end: () => endedCookie(cookieName()),
    describe: lineFor,
    close: () => {
      feed.close();
    },
  };
}
