/** A console without cluster and browser: fixed objects, a scripted client, and requests with a session. */
import type { FastifyInstance, InjectOptions } from 'fastify';
import { createSessions, sessionCookie } from '../../../src/cli/console/guard.ts';
import { loopbackAccess } from '../../../src/cli/console/loopback.ts';
import { modelOf } from '../../../src/cli/console/model.ts';
import { createServer } from '../../../src/cli/console/server.ts';
import type { Collected } from '../../../src/cli/tree/collect.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';

const PORT = 8082;
const COOKIE = `espalier-console-${String(PORT)}`;
export const ORIGIN = `http://127.0.0.1:${String(PORT)}`;

export const assets = new Map([
  ['index.html', { type: 'text/html; charset=utf-8', body: Buffer.from('<title>Espalier</title>') }],
  ['console.js', { type: 'text/javascript; charset=utf-8', body: Buffer.from('//') }],
]);

export function consoleOf(
  objects: Collected,
  client: Partial<Client> = {},
  more: Pick<Parameters<typeof loopbackAccess>[0], 'targets' | 'plan'> = {},
) {
  const clock = new FakeClock();
  let collected = objects;
  let problem = '';
  const model = modelOf(
    () => collected,
    () => problem,
  );
  const sessions = createSessions();
  const access = loopbackAccess({
    model,
    client: client as Client,
    ...more,
    clock,
    sessions,
    about: { version: '1.0.0', server: 'https://10.0.0.1', namespaces: 'all', user: '' },
    port: () => PORT,
  });
  const server = createServer({ access, assets });
  return {
    server,
    clock,
    model,
    sessions,
    change(next: Collected) {
      collected = next;
      model.changed();
    },
    fail(message: string) {
      problem = message;
    },
  };
}

/** A cookie of a valid session. */
export const cookieOf = ({ token, exchange }: ReturnType<typeof createSessions>): string =>
  sessionCookie(COOKIE, exchange(token) ?? '').split(';')[0] ?? '';

/** A request as the console's own page sends it; `headers` replace single ones. */
export const ask = (
  server: FastifyInstance,
  cookie: string,
  { headers, ...options }: InjectOptions & { readonly url: string },
) =>
  server.inject({
    ...options,
    headers: {
      host: `127.0.0.1:${String(PORT)}`,
      cookie,
      ...(options.method === 'POST' && { origin: ORIGIN }),
      ...headers,
    },
  });
