/** Component version overwrites: replaces references to components. Pure. */
import { goJson } from '../lib/gojson.ts';
import { equal } from '../lib/json.ts';
import type { JsonMap } from './descriptor.ts';

export interface ComponentReference {
  readonly repositoryContext?: JsonMap | undefined;
  readonly componentName: string;
  readonly version: string;
}

type Part = { readonly [K in keyof ComponentReference]?: ComponentReference[K] | undefined };

export interface Overwrite {
  readonly source: Part;
  readonly substitution: Part;
}

/** Each overwrite is compared with every component reference. */
export const MAX_OVERWRITES = 1000;

const KEYS = ['repositoryContext', 'componentName', 'version'] as const;

/**
 * The reference after all matching overwrites, in order. An overwrite that would replace a field for the second
 * time is skipped completely.
 */
export function overwritten(
  original: ComponentReference,
  overwrites: readonly Overwrite[],
): ComponentReference {
  const replaced = new Set<string>();
  let result = original;
  for (const { source, substitution } of overwrites) {
    const keys = KEYS.filter((key) => isSet(substitution[key]));
    const fits = KEYS.every((key) => !isSet(source[key]) || equal(source[key], original[key]));
    if (!fits || keys.some((key) => replaced.has(key))) continue;
    for (const key of keys) {
      replaced.add(key);
      result = { ...result, [key]: substitution[key] };
    }
  }
  return result;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** A message about the changes of a reference, for the condition; undefined if nothing changed. */
export function describeOverwrite(original: ComponentReference, now: ComponentReference): string | undefined {
  if (equal(original, now)) return undefined;
  const line = (name: string, before: unknown, after: unknown): string =>
    equal(before, after) ? `${name} has not been overwritten` : `${shown(before)} -> ${shown(after)}`;
  return [
    'Component reference has been overwritten:',
    line('RepositoryContext', original.repositoryContext, now.repositoryContext),
    line('ComponentName', original.componentName, now.componentName),
    line('Version', original.version, now.version),
  ].join('\n');
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : goJson(value));
