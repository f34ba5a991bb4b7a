/** References from a component to a resource, over references to other components: as `cd://…` or as YAML. */
import { isObject, ownField } from '../lib/objects.ts';
import { parseBoundedYaml } from '../lib/yaml-texts.ts';
import { ReferenceInvalid } from './errors.ts';
import type { Selector } from './identity.ts';

export interface RelativeReference {
  readonly path: readonly Selector[];
  readonly resource: Selector;
}

const MAX_LENGTH = 2083;
const SCHEME = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//;

/**
 * `cd://componentReferences/<name>/…/resources/<name>`; a fragment is ignored, it is part of schema references.
 * @throws ReferenceInvalid
 */
export function parseComponentUri(uri: string): RelativeReference {
  const fail = (why: string): never => {
    throw new ReferenceInvalid(`${uri.slice(0, 200)}: ${why}`);
  };
  if (uri.length > MAX_LENGTH) return fail(`longer than ${String(MAX_LENGTH)} characters`);
  const scheme = SCHEME.exec(uri)?.[1];
  if (scheme !== 'cd') return fail(`scheme must be cd but given ${scheme ?? 'none'}`);
  const parts = uri
    .slice('cd://'.length)
    .replace(/[?#].*$/s, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  if (parts.length === 0 || parts.length % 2 !== 0) return fail('even number of path arguments expected');
  const path: Selector[] = [];
  for (let i = 0; i < parts.length; i += 2) {
    const [keyword = '', name = ''] = parts.slice(i, i + 2);
    if (keyword === 'componentReferences') path.push({ name });
    else if (keyword !== 'resources') return fail(`unknown keyword ${keyword}`);
    else if (i + 2 < parts.length) return fail('nothing may follow the resource');
    else return { path, resource: { name } };
  }
  return fail('it names no resource');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Parses either format, for template functions.
 * @throws ReferenceInvalid
 */
export function parseRelativeReference(text: string): RelativeReference {
  if (text.startsWith('cd://')) return parseComponentUri(text);
  let document: unknown;
  try {
    document = parseBoundedYaml(text);
  } catch (cause) {
    throw new ReferenceInvalid(`"${text.slice(0, 200)}" is neither a cd:// reference nor YAML`, { cause });
  }
  const resource = selectorFrom(ownField(document, 'resource'));
  const path = ownField(document, 'referencePath') ?? [];
  const steps = Array.isArray(path) ? path.map(selectorFrom) : [undefined];
  if (!resource || steps.includes(undefined)) {
    throw new ReferenceInvalid(
      `"${text.slice(0, 200)}" is not a valid reference: write cd://resources/NAME, or resource: {name: NAME} with referencePath`,
    );
  }
  return { resource, path: steps as Selector[] };
}

function selectorFrom(value: unknown): Selector | undefined {
  if (!isObject(value) || Object.keys(value).length === 0) return undefined;
  const pairs = Object.entries(value);
  if (pairs.some(([, text]) => typeof text === 'object')) return undefined;
  return Object.fromEntries(pairs.map(([key, text]) => [key, String(text)]));
}
