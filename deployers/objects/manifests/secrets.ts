/** Masks the values of the manifests' secrets in messages, because webhooks of a target may repeat them. */
import { maskOf, type Mask } from '../../../src/lib/masking.ts';
import { isObject } from '../../../src/lib/objects.ts';
import type { KubeObject, Manifest } from './model.ts';

export const maskFor = (manifests: readonly Manifest[]): Mask =>
  maskOf(manifests.flatMap(({ object }) => secretValues(object)));

/** The values of a secret as written, and decoded; none of other objects. */
export function secretValues(object: KubeObject): readonly unknown[] {
  if (object.apiVersion !== 'v1' || object.kind !== 'Secret') return [];
  const { data, stringData } = object;
  const decoded = isObject(data)
    ? Object.values(data).map((value) => Buffer.from(String(value), 'base64').toString('utf8'))
    : [];
  return [data, stringData, decoded];
}
