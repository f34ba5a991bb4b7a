/**
 * References of JSON schemas to the blueprint (`local://type`, `blueprint://file`) and to components (`cd://…`). They are
 * expanded in place.
 */
import { parseBoundedJson } from '../lib/json-bounds.ts';
import { closest } from '../lib/closest.ts';
import { isObject } from '../lib/objects.ts';
import { ComponentProblem } from '../components/errors.ts';
import { parseComponentUri } from '../components/relative-reference.ts';
import type { FoundComponent } from '../components/repository.ts';
import { readText } from '../lib/file-tree.ts';
import type { SchemaSources } from './json-schema.ts';
import { schemaIn } from './resources.ts';

/** A reference that cannot be resolved. */
class UnresolvedReference extends Error {
  constructor(path: string, why: string) {
    super(`error resolving reference at ${path}.$ref: ${why}`);
    this.name = 'UnresolvedReference';
  }
}

/**
 * The schema with all such references replaced; siblings of `$ref` vanish. Pointers (`#/…`) stay for the validator.
 * @throws UnresolvedReference also for anything that would have to be fetched
 */
export function expandReferences(schema: unknown, blueprint: SchemaSources): unknown {
  return expand(schema, { blueprint, path: '[]', open: [] });
}

interface Place {
  readonly blueprint: SchemaSources;
  readonly path: string;
  /** references that are being expanded around this position */
  readonly open: readonly string[];
  /** the component whose schema this is; undefined in the blueprint */
  readonly owner?: FoundComponent;
}

function expand(schema: unknown, place: Place): unknown {
  if (Array.isArray(schema)) {
    return schema.map((element, i) => expand(element, { ...place, path: `${place.path}[${i}]` }));
  }
  if (!isObject(schema)) return schema;
  const ref = schema['$ref'];
  if (typeof ref === 'string' && !ref.startsWith('#')) return resolve(ref, place);
  const fields = Object.entries(schema).map(
    ([key, field]) => [key, expand(field, { ...place, path: `${place.path}.${key}` })] as const,
  );
  return Object.fromEntries(fields);
}

const URI = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\/([^#]*)(?:#(.*))?$/s;

function resolve(ref: string, place: Place): unknown {
  const fail = (why: string): never => {
    throw new UnresolvedReference(place.path, why);
  };
  const { name = '', version = '' } = place.owner?.component ?? {};
  const key = place.owner ? `${ref} of ${name}:${version}` : ref;
  if (place.open.includes(key)) {
    return fail(`cyclic references detected: reference "${ref}" is part of a cycle`);
  }
  const [, scheme, target = '', fragment = ''] = URI.exec(ref) ?? [];
  const isAlien = place.owner !== undefined && (scheme === 'local' || scheme === 'blueprint');
  if (isAlien) return fail(`${ref}: a schema in a component cannot refer to the blueprint that uses it`);
  let owner = place.owner;
  const found = ((): unknown => {
    switch (scheme) {
      case 'local':
        return localType(target, place.blueprint, fail);
      case 'blueprint':
        return schemaFile(target, place.blueprint, fail);
      case 'cd': {
        const inside = schemaOfComponent(ref, place, fail);
        owner = inside.owner;
        return inside.schema;
      }
      default:
        return fail(
          `"${ref}" would have to be fetched, which is not supported; use local://, blueprint:// or #/…`,
        );
    }
  })();
  const selected = select(found, fragment, fail);
  return expand(selected, { ...place, open: [...place.open, key], ...(owner && { owner }) });
}

function schemaOfComponent(ref: string, { blueprint: { component }, owner }: Place, fail: Fail) {
  if (!component) return fail('no component descriptor defined to resolve the ref');
  try {
    const place = component.resolve(parseComponentUri(ref), owner);
    return { schema: schemaIn(component, place), owner: place.owner };
  } catch (error) {
    if (!(error instanceof ComponentProblem)) throw error;
    return fail(error.message);
  }
}

type Fail = (why: string) => never;

function localType(target: string, { info }: SchemaSources, fail: Fail): unknown {
  const [type = '', ...path] = target.split('/');
  if (path.some((part) => part !== '')) fail('a path is not supported for local resources');
  if (!info.localTypes || !Object.hasOwn(info.localTypes, type)) {
    const known = Object.keys(info.localTypes ?? {});
    const meant = closest(type, known);
    fail(
      `type ${type} is not defined in local types${meant === undefined ? '' : `; did you mean local://${meant}?`}`,
    );
  }
  return info.localTypes?.[type];
}

function schemaFile(path: string, { files }: SchemaSources, fail: Fail): unknown {
  const text = readText(files, path);
  if (text === undefined) return fail(`unable to read local schema from ${path}: file does not exist`);
  try {
    return parseBoundedJson(text);
  } catch (error) {
    return fail(`${path} is not valid JSON: ${(error as Error).message}`);
  }
}

/** Plain keys only: `#/a/b` or `#a/b`. */
function select(schema: unknown, fragment: string, fail: Fail): unknown {
  let at = schema;
  let path = '[]';
  for (const key of fragment.split('/').filter((part) => part !== '')) {
    const why = !isObject(at)
      ? `element at "${path}" is not an object`
      : Object.hasOwn(at, key)
        ? undefined
        : `element at "${path}" doesn't have a field "${key}"`;
    if (why !== undefined) return fail(`error resolving fragment ${fragment}: ${why}`);
    at = (at as Readonly<Record<string, unknown>>)[key];
    path = `${path}.${key}`;
  }
  return at;
}
