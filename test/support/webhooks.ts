/** The webhook server for tests, on a loopback port, for any API server. */
import { Agent, request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { validatedResources, type ValidatedResource } from '../../src/api/validation/index.ts';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { ApiError, NotFound } from '../../src/runtime/errors.ts';
import type { Client, Obj } from '../../src/runtime/types.ts';
import type { Endpoint } from '../../src/runtime/webhooks/endpoint.ts';
import {
  CERTIFICATES_SECRET,
  CONFIGURATION_NAME,
  configurationKind,
  type Skipping,
  type WebhookConfiguration,
} from '../../src/webhooks/configuration.ts';
import { startWebhooks, type Webhooks } from '../../src/webhooks/index.ts';
import { Secret } from '../../src/runtime/core-kinds.ts';

export interface HookOptions {
  readonly client: Client;
  /** The Secret with the certificates. */
  readonly namespace: string;
  readonly port: number;
  readonly clock?: Clock;
  readonly drainMs?: number;
  readonly resources?: readonly ValidatedResource[];
  readonly install?: boolean;
  /** The ClusterRole that owns the configuration. */
  readonly ownerRole?: string;
  readonly certificateFolder?: string;
  readonly skipping?: Skipping;
  /** The webhooks as registered with the API server. */
  readonly hostname?: string;
  /** The same in full. */
  readonly endpoint?: Endpoint;
}

export const serveWebhooks = (options: HookOptions): Promise<Webhooks> => {
  const { client, namespace, port, clock = systemClock, resources = validatedResources } = options;
  const { install = true, hostname = '127.0.0.1', drainMs = 0 } = options;
  return startWebhooks({
    client,
    clock,
    resources,
    install,
    ...(options.ownerRole !== undefined && { ownerRole: options.ownerRole }),
    ...(options.certificateFolder !== undefined && { certificateFolder: options.certificateFolder }),
    ...(options.skipping && { skipping: options.skipping }),
    port,
    drainMs,
    log: silentLogger,
    host: '127.0.0.1',
    certNamespace: namespace,
    endpoint: options.endpoint ?? { url: new URL(`https://${hostname}:${String(port)}`) },
  });
};

/** The certificate that new connections get. */
export function greeting(port: number): Promise<X509Certificate> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(new X509Certificate(raw));
    });
    socket.on('error', reject);
  });
}

/** Creates an object, or checks only whether it could be created; returns the error of the server. */
export async function objection(
  client: Client,
  resource: string,
  object: Obj,
  { isDryRun = true } = {},
): Promise<ApiError | undefined> {
  const { namespace = '' } = object.metadata;
  const path = `/apis/${object.apiVersion}/namespaces/${namespace}/${resource}${isDryRun ? '?dryRun=All' : ''}`;
  try {
    await client.raw('POST', path, object);
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

export const configurationIn = (client: Client): Promise<WebhookConfiguration | undefined> =>
  orNothing(client.get(configurationKind, CONFIGURATION_NAME));

export const secretIn = (client: Client, namespace: string) =>
  orNothing(client.get(Secret, `${namespace}/${CERTIFICATES_SECRET}`));

/** Deletes everything that would be validated in other tests. */
export async function forgetWebhooks(client: Client): Promise<void> {
  await orNothing(client.send({ verb: 'delete', kind: configurationKind, key: CONFIGURATION_NAME }));
}

async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** The certificates of a bundle, in its order. */
export const certificatesIn = (pem: string): readonly X509Certificate[] =>
  (pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map((text) => new X509Certificate(text));

/** One request to the webhook server itself, which has to identify itself. */
export function ask(
  port: number,
  ca: string,
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly code: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request(
      { host: '127.0.0.1', port, ca, method, path, headers, agent: false },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          resolve({ code: response.statusCode ?? 0, text });
        });
      },
    );
    asked.on('error', reject).end(body);
  });
}

/** A connection that stays open for further requests, as those of API servers. */
export function keptConnection(port: number, ca: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
  return {
    /** @returns the status code, and whether the server closes the connection with this response */
    ask: () =>
      new Promise<{ readonly code: number; readonly isClosing: boolean }>((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, path: '/healthz', agent }, (response) => {
          response.resume().on('end', () => {
            const isClosing = response.headers.connection === 'close';
            resolve({ code: response.statusCode ?? 0, isClosing });
          });
        });
        asked.on('error', reject).end();
      }),
    close: () => {
      agent.destroy();
    },
  };
}
