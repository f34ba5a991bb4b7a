/**
 * Detects values of secrets in names. Names are visible in lists, events, logs and URLs, to users who may not read
 * secrets, so no object is created with such a name. The messages do not contain the name.
 */
import { valuesIn } from '../lib/masking.ts';
import { StringSearch } from '../lib/string-search.ts';
import { isObject, ownField } from '../lib/objects.ts';
import type { ImportSet } from './import-set.ts';

/** Name of the import whose secret value occurs in a string, if any. */
type FindSecret = (text: string) => string | undefined;

/** Shorter values occur in names by chance: `admin`, `prod`. */
const MIN_LENGTH = 8;
/** Names in Kubernetes are not longer. */
const MAX_LENGTH = 253;

/**
 * Searches for values that imports read from secrets, ignoring upper and lower case: names are lower case, so templates
 * may have converted the values.
 */
export function secretFinder({ data }: Pick<ImportSet, 'data'>): FindSecret {
  const owners = new Map<string, string>();
  for (const [name, { value, isSecret }] of data) {
    if (!isSecret) continue;
    for (const text of valuesIn(value)) {
      if (text.length >= MIN_LENGTH && text.length <= MAX_LENGTH) owners.set(text.toLowerCase(), name);
    }
  }
  const search = new StringSearch(owners.keys());
  return (text) => {
    const lower = text.toLowerCase();
    for (let at = 0; at <= lower.length - MIN_LENGTH; at++) {
      const found = search.at(lower, at);
      if (found !== undefined) return owners.get(found);
    }
    return undefined;
  };
}

/** The problem in names of sub-installations; undefined if there is none. */
export function secretInChildren(
  templates: readonly { readonly name: string }[],
  find: FindSecret,
): string | undefined {
  for (const [i, { name }] of templates.entries()) {
    const found = find(name);
    if (found !== undefined) return sentence(`the name of sub-installation ${i + 1}`, found);
  }
  return undefined;
}

interface Item {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly config?: unknown;
}

/** The problem in names and labels of deploy items, and in names of objects in their configurations. */
export function secretInItems(items: readonly Item[], find: FindSecret): string | undefined {
  for (const [i, { name, labels = {}, config }] of items.entries()) {
    const inName = find(name);
    if (inName !== undefined) return sentence(`the name of deploy item ${i + 1}`, inName);
    const inLabel = Object.entries(labels)
      .flat()
      .map(find)
      .find((found) => found !== undefined);
    if (inLabel !== undefined) return sentence(`a label of deploy item "${name}"`, inLabel);
    for (const object of objectsIn(config)) {
      const found = find(object.name);
      if (found !== undefined)
        return sentence(`the name of a ${object.kind} in deploy item "${name}"`, found);
    }
  }
  return undefined;
}

const sentence = (what: string, source: string): string =>
  `${what} contains a value of import "${source}", which comes from a secret; ` +
  'names are visible to users who may not read secrets, so take the value from another import, such as a config map';

/** Kubernetes objects anywhere in a configuration. */
function* objectsIn(config: unknown): Generator<{ readonly kind: string; readonly name: string }> {
  const open = [config];
  while (open.length > 0) {
    const value = open.pop();
    if (Array.isArray(value)) for (const inner of value) open.push(inner);
    else if (isObject(value)) {
      const { kind, apiVersion, metadata } = value;
      const name = ownField(metadata, 'name') ?? ownField(metadata, 'generateName');
      if (typeof kind === 'string' && typeof apiVersion === 'string' && typeof name === 'string')
        yield { kind, name };
      for (const inner of Object.values(value)) open.push(inner);
    }
  }
}
