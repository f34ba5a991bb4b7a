/**
 * The API server of a Gardener project, as far as kubeconfigs for shoots are concerned. Shoots are named after their
 * behaviour.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Garden {
  readonly kubeconfig: string;
  /** Bodies of the requests, in order. */
  readonly asked: readonly { readonly path: string; readonly body: unknown }[];
  close(): Promise<void>;
}

export const GARDEN_TOKEN = 'token-of-the-project';
/** The response for `good` and, at the second request, for `busy`. */
export const SHOOT_KUBECONFIG = JSON.stringify({
  kind: 'Config',
  users: [{ name: 'admin', user: { token: 'token-of-the-shoot' } }],
});
export const SHOOT_EXPIRES = '2026-01-02T03:04:05Z';

const PATH =
  /^\/apis\/core\.gardener\.cloud\/v1beta1\/namespaces\/([^/]+)\/shoots\/([^/]+)\/adminkubeconfig$/;

export async function startGarden(): Promise<Garden> {
  const asked: { path: string; body: unknown }[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const path = request.url ?? '';
      asked.push({ path, body: JSON.parse(text) as unknown });
      const isAllowed = request.headers.authorization === `Bearer ${GARDEN_TOKEN}`;
      const times = asked.filter((one) => one.path === path).length;
      const { code, body } = isAllowed ? answer(path, times) : refusal(401, 'Unauthorized', 'Unauthorized');
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { kubeconfig: kubeconfigOf(port), asked, close: () => closed(server) };
}

function answer(path: string, times: number): { code: number; body: object } {
  const [, , shoot] = PATH.exec(path) ?? [];
  switch (shoot) {
    case 'good':
      return given({ expirationTimestamp: SHOOT_EXPIRES });
    case 'endless':
      return given({});
    case 'busy':
      return times > 1 ? given({}) : refusal(503, 'ServiceUnavailable', 'not now');
    case 'mute':
      return { code: 201, body: { kind: 'AdminKubeconfigRequest' } };
    default:
      return refusal(404, 'NotFound', `shoots.core.gardener.cloud "${shoot ?? path}" not found`);
  }
}

const given = (more: object) => ({
  code: 201,
  body: {
    kind: 'AdminKubeconfigRequest',
    status: { kubeconfig: Buffer.from(SHOOT_KUBECONFIG).toString('base64'), ...more },
  },
});

const refusal = (code: number, reason: string, message: string) => ({
  code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message },
});

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? 'null' : text;
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });

const kubeconfigOf = (port: number): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'garden',
    contexts: [{ name: 'garden', context: { cluster: 'garden', user: 'me' } }],
    clusters: [{ name: 'garden', cluster: { server: `http://127.0.0.1:${String(port)}` } }],
    users: [{ name: 'me', user: { token: GARDEN_TOKEN } }],
  });
