/** Converts objects between the versions of a custom kind by its webhook. */
import type { World } from '../api.ts';
import type { PostReview } from '../http/webhook-post.ts';
import type { Convert } from '../kinds/kinds.ts';
import { plainFailure } from '../status.ts';
import { isObject, textOf } from '../types.ts';
import type { JsonObject, KubeObject } from '../types.ts';

/** @param webhook `spec.conversion.webhook` of a CRD */
export function conversionBy(webhook: JsonObject, world: Pick<World, 'newUid'>, post: PostReview): Convert {
  const config = isObject(webhook['clientConfig']) ? webhook['clientConfig'] : {};
  return async (objects, apiVersion) => {
    const uid = world.newUid();
    const request = { uid, desiredAPIVersion: apiVersion, objects };
    const review = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', request };
    try {
      return convertedObjects(await post(config, review), uid, objects, apiVersion);
    } catch (error) {
      const { apiVersion: from, kind } = objects[0] as KubeObject;
      const why = (error as Error).message;
      throw plainFailure(
        `conversion webhook for ${from}, Kind=${kind} ${error instanceof Invalid ? why : `failed: ${why}`}`,
      );
    }
  };
}

/** The webhook answered, but not with the converted objects. */
class Invalid extends Error {}

function convertedObjects(
  { code, text }: { readonly code: number; readonly text: string },
  uid: string,
  objects: readonly KubeObject[],
  apiVersion: string,
): KubeObject[] {
  if (code < 200 || code > 299)
    throw new Error(
      `an error on the server (${JSON.stringify(text.trim())}) has prevented the request from succeeding`,
    );
  const value: unknown = JSON.parse(text);
  const response = isObject(value) && isObject(value['response']) ? value['response'] : undefined;
  if (!response) throw new Error('webhook response was absent');
  if (response['uid'] !== uid)
    throw new Error(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`,
    );
  const result = isObject(response['result']) ? response['result'] : {};
  if (result['status'] !== 'Success')
    throw new Error(
      textOf(result['message']) || `server response had status ${JSON.stringify(textOf(result['status']))}`,
    );
  const converted = Array.isArray(response['convertedObjects']) ? response['convertedObjects'] : [];
  if (converted.length !== objects.length)
    throw new Invalid(`returned ${String(converted.length)} objects, expected ${String(objects.length)}`);
  return objects.map((object, i) => {
    const problem = problemOf(converted[i], object, apiVersion);
    if (problem !== undefined)
      throw new Invalid(`returned invalid converted object at index ${String(i)}: ${problem}`);
    return withMetadataOf(object, converted[i] as KubeObject);
  });
}

function problemOf(
  converted: unknown,
  { kind, metadata }: KubeObject,
  apiVersion: string,
): string | undefined {
  if (!isObject(converted)) return 'it is not an object';
  if (converted['apiVersion'] !== apiVersion)
    return `invalid groupVersion (expected ${apiVersion}, received ${textOf(converted['apiVersion'])})`;
  if (converted['kind'] !== kind)
    return `invalid kind (expected ${kind}, received ${textOf(converted['kind'])})`;
  const meta = isObject(converted['metadata']) ? converted['metadata'] : {};
  for (const field of ['name', 'namespace', 'uid'] as const)
    if ((meta[field] ?? '') !== (metadata[field] ?? '')) return `must have the same ${field}`;
  return undefined;
}

/** Webhooks may change labels and annotations, and nothing else in the metadata. */
function withMetadataOf({ metadata }: KubeObject, converted: KubeObject): KubeObject {
  const { labels: _labels, annotations: _annotations, ...rest } = metadata;
  const { labels, annotations } = converted.metadata;
  return {
    ...converted,
    metadata: { ...rest, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}
