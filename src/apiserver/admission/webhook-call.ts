/** Calls an admission webhook over HTTPS. */
import type { Clock } from '../../lib/clock.ts';
import { isObject } from '../types.ts';
import type { JsonObject } from '../types.ts';
import { postTo, type Endpoint } from '../http/webhook-post.ts';

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
  const { code, text } = await postTo(clock, endpoint, review, timeoutSeconds).catch((error: unknown) => {
    throw new WebhookFailure(`failed to call webhook: ${(error as Error).message}`, { cause: error });
  });
  if (code < 200 || code > 299)
    throw new WebhookFailure(
      `failed to call webhook: an error on the server (${JSON.stringify(text.trim())}) has prevented the request from succeeding`,
    );
  return interpret(text, review);
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
