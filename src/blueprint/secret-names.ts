/**
 * Detects values of secrets in names. Names are visible in lists, events, logs and URLs, to users who may not read
 * secrets, so no object is created with such a name. The messages do not contain the name.
 */
import { valuesIn } from '../lib/masking.ts';
import { StringSearch } from '../lib/string-search.ts';
import type { FileTree } from '../lib/file-tree.ts';
import { isObject, ownField } from '../lib/objects.ts';
import type { ImportSet } from './import-set.ts';

/** Name of the import whose secret value occurs in a string, if any. */
type FindSecret = (text: string) => string | undefined;

/** Shorter values occur in names by chance: `admin`, `prod`. */
const MIN_LENGTH = 8;
/** Of other imports and all files of a blueprint, which are searched in the main thread; what is beyond counts as not said. */
const MAX_SEARCHED = 2 ** 19;
/** Names in Kubernetes are not longer. */
const MAX_LENGTH = 253;

/**
 * Searches for values that imports read from secrets, ignoring upper and lower case: names are lower case, so templates
 * may have converted the values. A value that also stands in the blueprint, in other imports or in the name of the
 * installation is not one that a template has taken from a secret.
 * @param openTexts what is readable without rights for secrets; called only if a value is found
 */
export function secretFinder(
  { data }: Pick<ImportSet, 'data'>,
  openTexts: () => Iterable<string> = () => [],
): FindSecret {
  const owners = new Map<string, string>();
  for (const [name, { value, isSecret }] of data) {
    if (!isSecret) continue;
    for (const text of valuesIn(value)) {
      if (text.length >= MIN_LENGTH && text.length <= MAX_LENGTH) owners.set(text.toLowerCase(), name);
    }
  }
  const search = new StringSearch(owners.keys());
  let open: ReadonlySet<string> | undefined;
  const isHidden = (value: string): boolean => {
    open ??= valuesAmong(openTexts(), search);
    return !open.has(value);
  };
  return (text) => {
    const lower = text.toLowerCase();
    for (let at = 0; at <= lower.length - MIN_LENGTH; at++) {
      const found = search.at(lower, at, isHidden);
      if (found !== undefined) return owners.get(found);
    }
    return undefined;
  };
}

/** The searched values that occur in the texts. */
function valuesAmong(texts: Iterable<string>, search: StringSearch): ReadonlySet<string> {
  const found = new Set<string>();
  const note = (value: string): boolean => {
    found.add(value);
    return false; // so that shorter ones at the same position are found, too
  };
  for (const text of texts) {
    const lower = text.toLowerCase();
    for (let at = 0; at <= lower.length - MIN_LENGTH; at++) search.at(lower, at, note);
  }
  return found;
}

/** What a blueprint, imports that do not come from secrets, and the name of the installation say. */
export function* openTexts(
  { name, namespace = '' }: { readonly name: string; readonly namespace?: string | undefined },
  files: Pick<FileTree, 'read' | 'list'>,
  { data }: Pick<ImportSet, 'data'>,
): Generator<string> {
  yield `${namespace}/${name}`;
  let left = MAX_SEARCHED;
  for (const { value, isSecret } of data.values()) {
    if (isSecret) continue;
    for (const text of scalarsIn(value)) {
      left -= text.length + 1;
      if (left < 0) return;
      yield text;
    }
  }
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const { name: entry, isDirectory, isLink, size } of files.list(folder) ?? []) {
      const path = `${folder}/${entry}`;
      if (isLink || size > left) continue;
      left -= size;
      if (isDirectory) folders.push(path);
      else yield Buffer.from(files.read(path) ?? []).toString('utf8');
    }
  }
}

/** Keys and values, one by one, so that the reader may stop. */
function* scalarsIn(value: unknown): Generator<string> {
  const rest: Iterator<unknown>[] = [[value][Symbol.iterator]()];
  for (let last = rest.at(-1); last; last = rest.at(-1)) {
    const step = last.next();
    const next: unknown = step.value;
    if (step.done) rest.pop();
    else if (Array.isArray(next)) rest.push(next[Symbol.iterator]());
    else if (isObject(next)) rest.push(Object.entries(next)[Symbol.iterator]());
    else yield String(next);
  }
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
