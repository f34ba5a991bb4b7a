/**
 * Deletion groups: which managed objects are deleted together, in which order, and whether finalizers are removed.
 * Pure.
 */
import { z } from 'zod';
import { isObject, type Fields } from '../../../src/lib/objects.ts';
import {
  CodecError,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
  optionalStrings,
} from '../../sdk/codec.ts';
import { CRD_KIND, type ManagedResource, type ResourceRef } from './model.ts';

const predefinedTypes = ['namespaced-resources', 'cluster-scoped-resources', 'crds', 'empty'] as const;
type PredefinedType = (typeof predefinedTypes)[number];

/** Objects of one kind, optionally restricted to names and namespaces. */
export interface ResourceType {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespaces?: ReadonlySet<string>;
  readonly names?: ReadonlySet<string>;
}

export type DeletionGroup =
  | { readonly is: 'predefined'; readonly type: PredefinedType; readonly isForced: boolean }
  | {
      readonly is: 'custom';
      readonly resources: readonly ResourceType[];
      readonly isForced: boolean;
      /** All objects of these types on the cluster, not only managed ones. */
      readonly isEverything: boolean;
      /** Another target, for groups that delete all objects. */
      readonly targetName?: string;
    };

const isForced = z.boolean().nullish().describe('Removes the finalizers of the objects. Default false.');
const names = (what: string) => z.array(z.string()).nullish().describe(`${what}. Default: all.`);

export const groupsSchema = z
  .array(
    z.object({
      predefinedResourceGroup: z
        .object({
          type: z.enum(predefinedTypes).describe('Which of the managed objects belong to the group.'),
          forceDelete: isForced,
        })
        .nullish()
        .describe('Managed objects of a category. Exactly one of the two kinds of groups.'),
      customResourceGroup: z
        .object({
          resources: z
            .array(
              z.object({
                apiVersion: z.string().nullish().describe('API version of the objects.'),
                kind: z.string().nullish().describe('Kind of the objects.'),
                namespaces: names('Namespaces of the objects'),
                names: names('Names of the objects'),
              }),
            )
            .describe('Kinds of objects in the group.'),
          forceDelete: isForced,
          deleteAllResources: z
            .boolean()
            .nullish()
            .describe('Deletes all objects of these kinds, not only managed ones. Default false.'),
          targetName: z.string().nullish().describe('Another target; requires deleteAllResources.'),
        })
        .nullish()
        .describe('Objects of certain kinds.'),
    }),
  )
  .nullish();

export const defaultGroups: readonly DeletionGroup[] = (
  ['namespaced-resources', 'cluster-scoped-resources', 'crds'] as const
).map((type) => ({ is: 'predefined', type, isForced: false }));

/** This rule is only checked when a deletion processes the group. */
export const TARGET_WITHOUT_ALL =
  'invalid deletion group: customResourceGroup.DeleteAllResources must be true if TargetName is set';

/**
 * Decodes the list of a configuration; if it is absent or empty, the default groups.
 * @throws CodecError
 */
export function decodeGroups(value: unknown, path: string): readonly DeletionGroup[] {
  const list = optionalList(value, path) ?? [];
  if (list.length === 0) return defaultGroups;
  return list.map((entry, i) => decodeGroup(entry, `${path}[${String(i)}]`));
}

function decodeGroup(entry: unknown, path: string): DeletionGroup {
  if (!isObject(entry)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const predefined = optionalObject(entry['predefinedResourceGroup'], `${path}.predefinedResourceGroup`);
  const custom = optionalObject(entry['customResourceGroup'], `${path}.customResourceGroup`);
  if (predefined && custom) {
    throw new CodecError({
      step: 'validate',
      message: `${path}: predefinedResourceGroup and customResourceGroup must not both be set`,
    });
  }
  if (predefined) return decodePredefined(predefined, `${path}.predefinedResourceGroup`);
  if (custom) return decodeCustom(custom, `${path}.customResourceGroup`);
  throw new CodecError({
    step: 'validate',
    message: `${path}: either predefinedResourceGroup or customResourceGroup must be set`,
  });
}

function decodePredefined(fields: Fields, path: string): DeletionGroup {
  const type = optionalString(fields['type'], `${path}.type`);
  if (!type)
    throw new CodecError({ step: 'validate', message: `${path}.type: Required value: type must be set` });
  const known = predefinedTypes.find((t) => t === type);
  if (!known) {
    const supported = predefinedTypes.map((t) => `"${t}"`).join(', ');
    throw new CodecError({
      step: 'validate',
      message: `${path}.type: Unsupported value: "${type}": supported values: ${supported}`,
    });
  }
  return {
    is: 'predefined',
    type: known,
    isForced: optionalBoolean(fields['forceDelete'], `${path}.forceDelete`) ?? false,
  };
}

function decodeCustom(fields: Fields, path: string): DeletionGroup {
  const list = optionalList(fields['resources'], `${path}.resources`) ?? [];
  if (list.length === 0)
    throw new CodecError({
      step: 'validate',
      message: `${path}.resources: Required value: must not be empty`,
    });
  const targetName = optionalString(fields['targetName'], `${path}.targetName`);
  return {
    is: 'custom',
    resources: list.map((entry, i) => decodeResourceType(entry, `${path}.resources[${String(i)}]`)),
    isForced: optionalBoolean(fields['forceDelete'], `${path}.forceDelete`) ?? false,
    isEverything: optionalBoolean(fields['deleteAllResources'], `${path}.deleteAllResources`) ?? false,
    ...(targetName && { targetName }),
  };
}

function decodeResourceType(entry: unknown, path: string): ResourceType {
  if (!isObject(entry)) throw new CodecError({ step: 'decode', message: `${path}: expected an object` });
  const namespaces = optionalStrings(entry['namespaces'], `${path}.namespaces`);
  const names = optionalStrings(entry['names'], `${path}.names`);
  return {
    apiVersion: optionalString(entry['apiVersion'], `${path}.apiVersion`) ?? '',
    kind: optionalString(entry['kind'], `${path}.kind`) ?? '',
    ...(namespaces && namespaces.length > 0 && { namespaces: new Set(namespaces) }),
    ...(names && names.length > 0 && { names: new Set(names) }),
  };
}

/** Managed entries by group. An entry belongs to the first matching group; entries without a match are left out. */
export function assignToGroups(
  entries: readonly ManagedResource[],
  groups: readonly DeletionGroup[],
): readonly (readonly ManagedResource[])[] {
  const result = groups.map(() => [] as ManagedResource[]);
  for (const entry of entries) {
    const at = groups.findIndex((group) => fits(group, entry.resource));
    result[at]?.push(entry);
  }
  return result;
}

function fits(group: DeletionGroup, ref: ResourceRef): boolean {
  if (group.is === 'custom')
    return !group.isEverything && group.resources.some((type) => isOfType(type, ref));
  switch (group.type) {
    case 'namespaced-resources':
      return Boolean(ref.namespace);
    case 'cluster-scoped-resources':
      return !ref.namespace && ref.kind !== CRD_KIND;
    case 'crds':
      return ref.kind === CRD_KIND;
    case 'empty':
      return false;
  }
}

const isOfType = (type: ResourceType, ref: ResourceRef): boolean =>
  type.apiVersion === ref.apiVersion &&
  type.kind === ref.kind &&
  (!type.namespaces || type.namespaces.has(ref.namespace ?? '')) &&
  (!type.names || type.names.has(ref.name));
