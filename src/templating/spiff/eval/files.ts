/** `read` and related functions: they can read only the files of the blueprint. */
import { table } from '../../../lib/objects.ts';
import { YamlError } from '../../../lib/yaml.ts';
import { bytesOf, stringOf } from '../../go/go-string.ts';
import { encodeBase64 } from '../functions/encodings.ts';
import { toNode } from '../tree/plain.ts';
import { isExpr } from '../syntax/ast.ts';
import type { Binding } from '../tree/binding.ts';
import { copyOf } from '../tree/copy.ts';
import { isFields, isList, made, Template, type Node, type Value } from '../tree/node.ts';
import { mergeKeyOf } from '../tree/find.ts';
import { embedded } from '../tree/resolved.ts';
import { readSpiffYaml, readSpiffYamlAll } from '../yaml/index.ts';
import type { Engine } from './engine.ts';
import { answer, fail, type Outcome } from './outcome.ts';

type FileFunction = (engine: Engine, args: readonly Value[], binding: Binding) => Outcome;

/** The absolute path without `.` and `..`. */
function cleaned(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return (path.startsWith('/') ? '/' : '') + parts.join('/');
}

/** Why the file does not exist: it is missing, or a parent is not a folder. */
function missing(engine: Engine, path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  for (let i = 1; i < parts.length; i++) {
    const folder = `/${parts.slice(0, i).join('/')}`;
    if (!engine.world.files.list(folder)) return ` ${folder}: file does not exist`;
  }
  return 'file does not exist';
}

const read: FileFunction = (engine, args, binding) => {
  const [path, type] = args;
  if (args.length > 2 || args.length === 0) return fail('read takes a maximum of two arguments');
  if (typeof path !== 'string') return fail('string value required for file path');
  if (args.length > 1 && typeof type !== 'string') return fail('string value required for type');
  const mode = typeof type === 'string' ? type : /\.(?:ya?ml|json)$/.test(path) ? 'yaml' : 'text';
  const file = cleaned(path);
  const content = engine.world.files.read(file);
  if (!content) return fail(`read: error reading [${file}]: ${missing(engine, file)}`);
  engine.budget.reserve(content.length);
  return interpret(engine, { name: path, content: Buffer.from(content), mode }, binding);
};

/** `parse(text[, mode])`: parses a string like a file with the path of the expression as its name. */
const parse: FileFunction = (engine, args, binding) => {
  const [text, mode = 'import'] = args;
  if (args.length > 2 || args.length === 0) return fail('parse takes one or two arguments');
  if (typeof text !== 'string') return fail('first argument for parse must be a string');
  if (typeof mode !== 'string') return fail('second argument for parse must be a string');
  return interpret(engine, { name: binding.path.join('.'), content: bytesOf(text), mode }, binding);
};

/** Line width of base 64. */
const LINE_WIDTH = 60;

interface Content {
  readonly name: string;
  readonly content: Buffer;
  readonly mode: string;
}

function interpret(engine: Engine, { name, content, mode: given }: Content, binding: Binding): Outcome {
  const isRerooted = given.startsWith('.');
  const mode = given.replace(/^\./, '');
  const text = (): string => stringOf(content);
  const documents = (): Node[] => readSpiffYamlAll(text()).map((document) => toNode(document, name));
  const single = (): Node => toNode(readSpiffYaml(text()), name);
  const flow = (document: Node): Outcome => {
    const { node: result, unresolved } = engine.flow(document, isRerooted ? binding.withNewRoot() : binding);
    if (unresolved || isExpr(result.value)) {
      const nested = unresolved ? { nested: unresolved.issues } : {};
      return {
        kind: 'failed',
        info: { issue: { text: `resolution of yaml file '${name}' failed`, ...nested } },
      };
    }
    return answer(result.value, { source: name });
  };
  try {
    switch (mode) {
      case 'text':
        return answer(text(), { source: name });
      case 'binary':
        return answer(encodeBase64(content, LINE_WIDTH), { source: name });
      case 'yaml':
        return flow(single());
      case 'multiyaml':
        return flow(made(withoutEmptyEnd(documents()), name));
      case 'template':
        return answer(asTemplate(single(), binding), { source: name });
      case 'templates':
        return answer(
          documents().map((document) => made(asTemplate(document, binding), name)),
          { source: name },
        );
      case 'import':
        return answer(single().value as Value, { source: name, isRaw: true });
      case 'importmulti':
        return answer(withoutEmptyEnd(documents()), { source: name, isRaw: true });
      default:
        return fail(`invalid file type [${cleaned(name)}] ${mode}`);
    }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return fail(`error parsing file [${cleaned(name)}]: ${error.message}`);
  }
}

/** Files often end with `---`. */
function withoutEmptyEnd(documents: readonly Node[]): readonly Node[] {
  let end = documents.length;
  while (end > 1 && documents[end - 1]?.value === null) end--;
  return documents.slice(0, end);
}

/** A document as a template; its printed form contains the template marker. */
function asTemplate(document: Node, binding: Binding): Template {
  const original = copyOf(document);
  const marker = (): Node => made('(( &template ))', document.source);
  const { value } = original;
  let shown = original;
  if (isFields(value)) {
    const key = mergeKeyOf(value) === '<<<' ? '<<' : '<<<';
    shown = { ...original, value: value.has(key) ? value : new Map([...value, [key, marker()]]) };
  } else if (isList(value) && !value.some(isMarked)) {
    const entry = made(new Map([['<<<', marker()]]), document.source);
    shown = { ...original, value: [entry, ...value] };
  }
  return new Template(binding.path, document, shown, binding);
}

function isMarked({ value }: Node): boolean {
  const key = isFields(value) ? mergeKeyOf(value) : undefined;
  const marker = isFields(value) && key !== undefined ? value.get(key)?.value : undefined;
  return typeof marker === 'string' && /\s&template(?:\(|\s|$)/.test(embedded(marker) ?? '');
}

/** Processes and writing are not available; the messages are the original's. */
const refused =
  (text: string, [least, complaint]: readonly [number, string]): FileFunction =>
  (_engine, args) =>
    fail(args.length < least ? complaint : text);

const NO_PROCESS = 'no OS operations supported in this execution environment';
const READ_ONLY = 'filehandle is not writable';
const exec = refused(`exec: ${NO_PROCESS}`, [1, 'exec: argument required']);
const pipe = refused(`pipe: ${NO_PROCESS}`, [3, 'pipe requires at least two arguments']);

const mkdir: FileFunction = (_engine, [path]) =>
  typeof path === 'string' && path !== ''
    ? fail(`cannot create directory "${path}": ${READ_ONLY}`)
    : fail('path argument must be a non-empty string');

export const fileFunctions: Readonly<Record<string, FileFunction>> = table({
  read,
  read_uncached: read,
  parse,
  exec,
  exec_uncached: exec,
  pipe,
  pipe_uncached: pipe,
  write: refused(`cannot write file: ${READ_ONLY}`, [2, 'write requires two or three arguments']),
  tempfile: refused(`cannot create temporary file: ${READ_ONLY}`, [
    1,
    'temp_file requires exactly one or two arguments',
  ]),
  mkdir,
});
