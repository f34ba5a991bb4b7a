/**
 * A proxy in front of an embedded API server that answers requests for logs, which need a kubelet. It asks the server
 * whether the user may read them; all other requests pass.
 */
import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

export interface LogProxy {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Lines with stamps, by `pod/container`, or by `pod/container/previous`. */
  readonly logs: Map<string, readonly string[]>;
  /** The bearer tokens of all requests. */
  readonly tokens: Set<string>;
  close(): Promise<void>;
}

const LOG = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log$/;

/** @param server address of the API server, without TLS */
export async function startLogProxy(server: string): Promise<LogProxy> {
  const logs = new Map<string, readonly string[]>();
  const tokens = new Set<string>();
  const proxy = createServer((asked, answer) => {
    const url = new URL(asked.url ?? '/', 'http://proxy');
    tokens.add(asked.headers.authorization?.replace('Bearer ', '') ?? '');
    const [, namespace, pod] = LOG.exec(url.pathname) ?? [];
    if (namespace === undefined || pod === undefined) pass(server, asked, answer);
    else
      answerLog(
        server,
        asked.headers.authorization,
        { namespace, pod, query: url.searchParams, logs },
        answer,
      ).catch(() => asked.socket.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`,
    logs,
    tokens,
    async close() {
      proxy.closeAllConnections();
      await once(proxy.close(), 'close');
    },
  };
}

function pass(server: string, asked: IncomingMessage, answer: ServerResponse): void {
  const onward = send(
    `${server}${asked.url ?? '/'}`,
    { method: asked.method, headers: asked.headers },
    (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      pipeline(reply, answer, () => undefined);
    },
  );
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  pipeline(asked, onward, () => undefined);
}

interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly query: URLSearchParams;
  readonly logs: LogProxy['logs'];
}

async function answerLog(
  server: string,
  authorization: string | undefined,
  { namespace, pod, query, logs }: LogRequest,
  answer: ServerResponse,
): Promise<void> {
  if (!(await mayRead(server, authorization, namespace))) {
    const message = `pods "${pod}" is forbidden: cannot get resource "pods/log" in the namespace "${namespace}"`;
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'Forbidden',
      code: 403,
      message,
    };
    answer.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(status));
    return;
  }
  const previous = query.get('previous') === 'true' ? '/previous' : '';
  const all = logs.get(`${pod}/${query.get('container') ?? ''}${previous}`) ?? [];
  const since = query.get('sinceTime') ?? '';
  const tail = Number(query.get('tailLines') ?? all.length);
  const lines = all.filter((line) => line >= since).slice(-tail);
  const text = lines.map((line) => `${line}\n`).join('');
  answer
    .writeHead(200, { 'content-type': 'text/plain' })
    .end(text.slice(0, Number(query.get('limitBytes') ?? Infinity)));
}

async function mayRead(
  server: string,
  authorization: string | undefined,
  namespace: string,
): Promise<boolean> {
  const answer = await fetch(`${server}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
    body: JSON.stringify({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods', subresource: 'log', namespace } },
    }),
  });
  const { status } = (await answer.json()) as { readonly status?: { readonly allowed?: boolean } };
  return status?.allowed === true;
}
