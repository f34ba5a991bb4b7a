/**
 * The functions that Landscaper adds to Go's and sprig's and that need no component: files, YAML, image references.
 */
import { sourceBlock } from './excerpt.ts';
import { readYaml, writeYaml } from './gotemplate/funcs/yaml.ts';
import type { Env, FunctionTable } from './gotemplate/env.ts';
import { FunctionError, TemplateExecutionError, TemplateParseError } from './gotemplate/errors.ts';
import { stringOf } from './go/go-string.ts';
import { envFn, fn } from './gotemplate/signature.ts';
import { executeIn, parseTemplate } from './gotemplate/template.ts';
import { GoObject, int64, typedList, type Value } from './gotemplate/values.ts';
import { parseOciReference } from './oci-reference.ts';
import type { TemplateFileEntry } from './files.ts';

/** The name under which every template of an execution is parsed; it appears in messages. */
export const TEMPLATE_NAME = 'execution';

/** How often a file may include itself, directly or indirectly. */
const MAX_INCLUDES = 100;

/** A file includes itself; reported once, not for each of the hundred levels. */
class NestedReference extends FunctionError {}

const includes = new WeakMap<Env, Map<string, number>>();

function include(env: Env, path: string, data: Value): string {
  const counts = includes.get(env) ?? new Map<string, number>();
  includes.set(env, counts);
  const count = counts.get(path) ?? 0;
  if (count > MAX_INCLUDES) {
    throw new NestedReference(
      `rendering template has a nested reference name: ${path}: unable to execute template`,
    );
  }
  const content = env.files.read(path);
  if (!content) throw new FunctionError(`unable to read include file "${path}": file does not exist`);
  const source = stringOf(content);
  counts.set(path, count + 1);
  try {
    return executeIn(env, parseTemplate(TEMPLATE_NAME, source, env.functions), data ?? undefined);
  } catch (error) {
    if (error instanceof TemplateExecutionError && error.cause instanceof NestedReference) throw error.cause;
    if (!(error instanceof TemplateParseError)) throw error;
    throw new FunctionError(error.message + sourceBlock(error.message, source), { cause: error });
  } finally {
    counts.set(path, count);
  }
}

function readFile(env: Env, path: string): Uint8Array {
  const content = env.files.read(path);
  if (!content) throw new FunctionError('file does not exist');
  return content;
}

const entryObject = (entry: TemplateFileEntry): GoObject =>
  new GoObject({
    type: '*vfs.fileInfo',
    native: entry,
    text: () => entry.name,
    methods: {
      Name: fn('', () => entry.name),
      IsDir: fn('', () => entry.isDirectory),
      Size: fn('', () => int64(BigInt(entry.size))),
      Mode: fn('', () => (entry.isDirectory ? 'drwxr-xr-x' : '-rw-r--r--')),
    },
  });

function readDir(env: Env, path: string): Value {
  const entries = env.files.list(path);
  if (!entries) throw new FunctionError('file does not exist');
  return typedList('fs.FileInfo', entries.map(entryObject));
}

function reference(text: string): readonly [string, string] {
  const parts = parseOciReference(text);
  if (!parts) throw new FunctionError('invalid reference');
  return parts;
}

export const blueprintFunctions: FunctionTable = {
  include: envFn('string any', include),
  readFile: envFn('string', readFile),
  readDir: envFn('string', readDir),
  toYaml: fn('any', writeYaml),
  fromYaml: fn('string', readYaml),
  parseOCIRef: fn('string', (text: string) => typedList('string', [...reference(text)])),
  ociRefRepo: fn('string', (text: string) => reference(text)[0]),
  ociRefVersion: fn('string', (text: string) => reference(text)[1]),
};

const tables = new WeakMap<FunctionTable, FunctionTable>();

/** Combines these functions with the caller's. Cached per caller's table, because engines cache by table as well. */
export function withBlueprintFunctions(functions: FunctionTable): FunctionTable {
  const table = tables.get(functions) ?? { ...blueprintFunctions, ...functions };
  tables.set(functions, table);
  return table;
}
