/** What Go templates use, according to their syntax trees: root values by their paths, and files by their names. */
import type { TemplateExecutor } from '../../api/blueprint.ts';
import type { View } from '../../lib/objects.ts';
import { TEMPLATE_NAME, withBlueprintFunctions } from '../../templating/blueprint-functions.ts';
import type { CommandNode, ListNode, Operand, PipeNode, Statement } from '../../templating/gotemplate/ast.ts';
import { TemplateParseError } from '../../templating/gotemplate/errors.ts';
import type { ParsedSource } from '../../templating/gotemplate/parse.ts';
import { parseTemplate } from '../../templating/gotemplate/template.ts';
import { templateFunctions } from '../template-functions.ts';
import type { Source } from './source.ts';

/** A root value that is used: `['imports', 'name']`; shorter if all of it is used. */
interface Use {
  readonly path: readonly string[];
  readonly pos: number;
  /** Whether the template checks for a missing value: `hasKey .imports "x"`, `if .imports.x`. */
  readonly isAsking: boolean;
}

interface FileCall {
  readonly name: string;
  readonly path: string;
  readonly pos: number;
}

/** Undefined if it is not a Go template, or has a syntax error. */
export function parsedGoTemplate({ type }: View<TemplateExecutor>, source: Source): ParsedSource | undefined {
  if (type !== 'GoTemplate') return undefined;
  try {
    const functions = withBlueprintFunctions(templateFunctions(undefined));
    return parseTemplate(TEMPLATE_NAME, source.text, functions).source;
  } catch (error) {
    if (error instanceof TemplateParseError) return undefined;
    throw error;
  }
}

const FILE_FUNCTIONS = ['include', 'readFile', 'readDir'];
/** Functions whose second argument is a key of the first. */
const KEYED = ['index', 'get', 'hasKey'];

export function fileCallsIn(source: ParsedSource): readonly FileCall[] {
  return [...commandsIn(source)].flatMap(({ args: [callee, file] }) =>
    callee?.kind === 'identifier' && FILE_FUNCTIONS.includes(callee.name) && file?.kind === 'string'
      ? [{ name: callee.name, path: file.value, pos: file.pos }]
      : [],
  );
}

export function usesIn(source: ParsedSource): readonly Use[] {
  const uses: Use[] = [];
  for (const [name, list] of source.definitions) {
    // The callers of a named template decide what its dot is.
    visitList(list, { uses, isRoot: name === source.name, isMain: name === source.name });
  }
  return uses;
}

/** Whether the output of a template depends on control structures: loops, conditions, named templates. */
export const hasControl = (source: ParsedSource): boolean =>
  source.definitions.size > 1 || source.root.nodes.some(({ kind }) => !['text', 'action'].includes(kind));

// ---------------------------------------------------------------- walking

interface Scope {
  readonly uses: Use[];
  /** Whether the dot is the map of all root values. */
  readonly isRoot: boolean;
  /** Whether `$` is the map of all root values. */
  readonly isMain: boolean;
  readonly isAsking?: boolean;
}

function visitList({ nodes }: ListNode, scope: Scope): void {
  for (const node of nodes) visitStatement(node, scope);
}

function visitStatement(node: Statement, scope: Scope): void {
  switch (node.kind) {
    case 'action':
      visitPipe(node.pipe, scope);
      return;
    case 'template':
      if (node.pipe) visitPipe(node.pipe, scope);
      return;
    case 'if':
    case 'with':
    case 'range':
      visitPipe(node.pipe, { ...scope, isAsking: true });
      visitList(node.list, { ...scope, isRoot: scope.isRoot && node.kind === 'if' });
      if (node.otherwise) visitList(node.otherwise, scope);
      return;
    case 'text':
    case 'break':
    case 'continue':
  }
}

function visitPipe({ commands }: PipeNode, scope: Scope): void {
  const isDefaulted = commands.some(
    ({ args: [callee] }) => callee?.kind === 'identifier' && isLenient(callee.name),
  );
  for (const command of commands) visitCommand(command, isDefaulted ? { ...scope, isAsking: true } : scope);
}

const isLenient = (name: string): boolean =>
  ['default', 'coalesce', 'empty', 'hasKey', 'dig', 'ternary', 'and', 'or', 'not', 'kindIs'].includes(name);

function visitCommand({ args }: CommandNode, scope: Scope): void {
  const [callee, subject, key] = args;
  const path = subject && rootPath(subject, scope);
  if (callee?.kind === 'identifier' && KEYED.includes(callee.name) && path && key?.kind === 'string') {
    scope.uses.push({ path: [...path, key.value], pos: key.pos, isAsking: isAsking(scope) });
    return;
  }
  for (const arg of args) visitOperand(arg, scope);
}

const isAsking = (scope: Scope): boolean => scope.isAsking === true;

function visitOperand(node: Operand, scope: Scope): void {
  if (node.kind === 'pipe') visitPipe(node, scope);
  if (node.kind === 'chain') visitOperand(node.base, scope);
  const path = rootPath(node, scope);
  if (path) scope.uses.push({ path, pos: node.pos, isAsking: isAsking(scope) });
}

/** The path from the root that an operand refers to, if any. */
function rootPath(node: Operand, { isRoot, isMain }: Scope): readonly string[] | undefined {
  switch (node.kind) {
    case 'field':
      return isRoot ? node.path : undefined;
    case 'dot':
      return isRoot ? [] : undefined;
    case 'variable':
      return node.path[0] === '$' && isMain ? node.path.slice(1) : undefined;
    default:
      return undefined;
  }
}

function* commandsIn({ definitions }: ParsedSource): Iterable<CommandNode> {
  for (const list of definitions.values()) yield* commandsOfList(list);
}

function* commandsOfList({ nodes }: ListNode): Iterable<CommandNode> {
  for (const node of nodes) {
    if ('pipe' in node && node.pipe) yield* commandsOfPipe(node.pipe);
    if ('list' in node) yield* commandsOfList(node.list);
    if ('otherwise' in node && node.otherwise) yield* commandsOfList(node.otherwise);
  }
}

function* commandsOfPipe({ commands }: PipeNode): Iterable<CommandNode> {
  for (const command of commands) {
    yield command;
    for (const arg of command.args) {
      const inner = arg.kind === 'chain' ? arg.base : arg;
      if (inner.kind === 'pipe') yield* commandsOfPipe(inner);
    }
  }
}
