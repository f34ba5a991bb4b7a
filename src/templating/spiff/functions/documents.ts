/** Documents in texts, for `parse`, `decrypt` and whoever reads files: what a mode makes of them. */
import { posix } from 'node:path';
import { bytesOf } from '../../go/go-string.ts';
import type { FunctionWorld } from '../function.ts';
import type { SpiffValue } from '../value.ts';
import { readSpiffYaml, readSpiffYamlAll } from '../yaml/index.ts';
import { fail } from './arguments.ts';

const LINE_WIDTH = 60;

/**
 * @param name what to call the text in complaints: a file, or the path of the node
 * @param mode as in `read(file, mode)`: text, binary, import, importmulti, yaml, multiyaml, template, templates; a dot
 *   before it means that the document sees nothing but itself
 * @throws Unresolvable
 */
export function readData(name: string, source: string, mode: string, world: FunctionWorld): SpiffValue {
  const isRoot = mode.startsWith('.');
  const kind = isRoot ? mode.slice(1) : mode;
  switch (kind) {
    case 'text':
      return source;
    case 'binary':
      return (
        bytesOf(source)
          .toString('base64')
          .match(new RegExp(`.{1,${String(LINE_WIDTH)}}`, 'g'))
          ?.join('\n') ?? ''
      );
    case 'import':
      return read(name, () => readSpiffYaml(source));
    case 'importmulti':
      return read(name, () => withoutEmptyEnd(readSpiffYamlAll(source)));
    case 'yaml':
      return evaluate(
        read(name, () => readSpiffYaml(source)),
        isRoot,
        world,
      );
    case 'multiyaml':
      return evaluate(
        read(name, () => withoutEmptyEnd(readSpiffYamlAll(source))),
        isRoot,
        world,
      );
    case 'template':
      return template(
        read(name, () => readSpiffYaml(source)),
        world,
      );
    case 'templates':
      return read(name, () => readSpiffYamlAll(source)).map((document) => template(document, world));
    default:
      return fail(`invalid file type [${cleanName(name)}] ${kind}`);
  }
}

const cleanName = (name: string): string => posix.normalize(name).replace(/(?<=.)\/$/, '');

function read<T>(name: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    return fail(`error parsing file [${cleanName(name)}]: ${(cause as Error).message}`, cause);
  }
}

/** Files often end with `---`. */
function withoutEmptyEnd(documents: SpiffValue[]): SpiffValue[] {
  let end = documents.length;
  while (end > 1 && documents[end - 1] === null) end--;
  return documents.slice(0, end);
}

const evaluate = (document: SpiffValue, isRoot: boolean, world: FunctionWorld): SpiffValue =>
  world.evaluate
    ? world.evaluate(document, isRoot ? 'root' : 'here')
    : fail('documents cannot be evaluated here');

const template = (document: SpiffValue, world: FunctionWorld): SpiffValue =>
  world.template ? world.template(document) : fail('templates cannot be made here');
