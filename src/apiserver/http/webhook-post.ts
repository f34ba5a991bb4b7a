/** How webhooks of all kinds are reached and called: by HTTPS, with the authorities of their configuration. */
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../lib/clock.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject } from '../types.ts';

export interface Endpoint {
  readonly url: string;
  /** PEM; absent: the system's certificate authorities are trusted. */
  readonly ca?: string;
}

/** The webhook did not answer; the message contains the URL. */
class PostFailure extends Error {
  override readonly name = 'PostFailure';
}

/**
 * Where a `clientConfig` points to; undefined if its service is unknown.
 * @param services URLs by `namespace/name`, because there is no cluster network
 */
export function endpointOf(
  config: JsonObject,
  services: Readonly<Record<string, string>>,
): Endpoint | undefined {
  const { caBundle } = config;
  const ca = typeof caBundle === 'string' ? { ca: Buffer.from(caBundle, 'base64').toString() } : {};
  if (typeof config['url'] === 'string') return { url: config['url'], ...ca };
  const service = serviceOf(config);
  const base = services[`${textOf(service['namespace'])}/${textOf(service['name'])}`];
  if (base === undefined) return undefined;
  const path = typeof service['path'] === 'string' ? service['path'] : '/';
  return { url: new URL(path, base).href, ...ca };
}

/**
 * Sends a review to the webhook of a `clientConfig`, and returns its response.
 * @throws Error when there is no response in time
 */
export type PostReview = (
  config: JsonObject,
  review: JsonObject,
) => Promise<{ readonly code: number; readonly text: string }>;

/** Upstream's time limit for conversions. */
const CONVERSION_SECONDS = 30;

/** Sends reviews of conversions by HTTPS. */
export const conversionPost =
  (clock: Clock, services: Readonly<Record<string, string>>): PostReview =>
  async (config, review) => {
    const endpoint = endpointOf(config, services);
    if (!endpoint) throw new Error(`service ${JSON.stringify(serviceNameOf(config))} not found`);
    return postTo(clock, endpoint, review, CONVERSION_SECONDS);
  };

/** For messages. */
export const serviceNameOf = (config: JsonObject): string => textOf(serviceOf(config)['name']);

const serviceOf = ({ service }: JsonObject): JsonObject => (isObject(service) ? service : {});

/**
 * Sends a review, with its time limit in the query, as upstream.
 * @throws PostFailure when there is no response in time
 */
export function postTo(
  clock: Clock,
  { url: address, ca }: Endpoint,
  review: JsonObject,
  timeoutSeconds: number,
): Promise<{ code: number; text: string }> {
  const url = new URL(address);
  url.searchParams.set('timeout', `${timeoutSeconds}s`);
  const body = JSON.stringify(review);
  const timeoutMs = timeoutSeconds * 1000;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      cancel();
      reject(new PostFailure(`Post ${JSON.stringify(url.href)}: ${error.message}`, { cause: error }));
    };
    const request = httpsRequest(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
        },
        ...(ca === undefined ? {} : { ca }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () => {
          cancel();
          resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        });
      },
    );
    const cancel = clock.at(clock.now() + timeoutMs, () =>
      request.destroy(new Error('context deadline exceeded')),
    );
    request.on('error', fail);
    request.end(body);
  });
}
