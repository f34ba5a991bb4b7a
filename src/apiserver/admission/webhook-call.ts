/** Calls an admission webhook over HTTPS. */
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../lib/clock.ts';
import { isObject } from '../types.ts';
import type { JsonObject } from '../types.ts';

export interface Endpoint {
  readonly url: string;
  /** PEM; absent: the system's certificate authorities are trusted. */
  readonly ca?: string;
}

/** The webhook could not be called, or its response is invalid. The failure policy decides what follows. */
export class WebhookFailure extends Error {
  override readonly name = 'WebhookFailure';
}

export interface WebhookAnswer {
  readonly allowed: boolean;
  readonly status: JsonObject;
  /** Base64 of a JSON patch. */
  readonly patch: string | undefined;
  readonly patchType: string | undefined;
  readonly warnings: readonly string[];
}

/** @throws WebhookFailure */
export async function askWebhook(
  clock: Clock,
  endpoint: Endpoint,
  review: JsonObject,
  timeoutSeconds: number,
): Promise<WebhookAnswer> {
  const url = new URL(endpoint.url);
  url.searchParams.set('timeout', `${timeoutSeconds}s`);
  const { code, text } = await post(clock, url, endpoint.ca, JSON.stringify(review), timeoutSeconds * 1000);
  if (code < 200 || code > 299)
    throw new WebhookFailure(
      `failed to call webhook: an error on the server (${JSON.stringify(text.trim())}) has prevented the request from succeeding`,
    );
  return interpret(text, review);
}

function post(
  clock: Clock,
  url: URL,
  ca: string | undefined,
  body: string,
  timeoutMs: number,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      cancel();
      reject(
        new WebhookFailure(`failed to call webhook: Post ${JSON.stringify(url.href)}: ${error.message}`, {
          cause: error,
        }),
      );
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

function interpret(text: string, review: JsonObject): WebhookAnswer {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new WebhookFailure(
      `failed to call webhook: couldn't get version/kind; json parse error: ${(error as Error).message}`,
    );
  }
  const response = isObject(value) && isObject(value['response']) ? value['response'] : undefined;
  if (!isObject(value) || !response)
    throw new WebhookFailure('received invalid webhook response: webhook response was absent');
  const asked = (review['request'] as JsonObject)['uid'];
  if (response['uid'] !== asked)
    throw new WebhookFailure(
      `received invalid webhook response: expected response.uid=${JSON.stringify(asked)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    );
  return {
    allowed: response['allowed'] === true,
    status: isObject(response['status']) ? response['status'] : {},
    patch: typeof response['patch'] === 'string' && response['patch'] !== '' ? response['patch'] : undefined,
    patchType: typeof response['patchType'] === 'string' ? response['patchType'] : undefined,
    warnings: Array.isArray(response['warnings']) ? (response['warnings'] as string[]) : [],
  };
}
