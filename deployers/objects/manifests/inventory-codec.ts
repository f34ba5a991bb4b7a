/** Decodes the inventory of a provider status. */
import { isObject, type Fields } from '../../../src/lib/objects.ts';
import {
  CodecError,
  optionalList,
  optionalObject,
  optionalString,
  optionalStringMap,
} from '../../sdk/codec.ts';
import type { ManagedResource } from './model.ts';

/** @throws CodecError */
export const decodeInventory = (
  fields: Fields,
  entryOf: (entry: unknown, path: string) => ManagedResource = decodeEntry,
): readonly ManagedResource[] =>
  (optionalList(fields['managedResources'], 'managedResources') ?? []).map((entry, i) =>
    entryOf(entry, `managedResources[${String(i)}]`),
  );

/** @throws CodecError */
export function decodeEntry(entry: unknown, path: string): ManagedResource {
  if (!isObject(entry)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const resource = optionalObject(entry['resource'], `${path}.resource`) ?? {};
  const text = (key: string): string | undefined => optionalString(resource[key], `${path}.resource.${key}`);
  const namespace = text('namespace');
  const uid = text('uid');
  const policy = optionalString(entry['policy'], `${path}.policy`);
  const annotateBeforeDelete = optionalStringMap(
    entry['annotateBeforeDelete'],
    `${path}.annotateBeforeDelete`,
  );
  const patchBeforeDelete = optionalObject(entry['patchBeforeDelete'], `${path}.patchBeforeDelete`);
  return {
    ...(policy && { policy }),
    resource: {
      apiVersion: text('apiVersion') ?? '',
      kind: text('kind') ?? '',
      name: text('name') ?? '',
      ...(namespace && { namespace }),
      ...(uid !== undefined && { uid }),
    },
    ...(annotateBeforeDelete && { annotateBeforeDelete }),
    ...(patchBeforeDelete && { patchBeforeDelete }),
  };
}
