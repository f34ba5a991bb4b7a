/** Parses a pipeline: declarations, commands, operands, field chains, literals. */
import type { CommandNode, NumberNode, Operand, PipeNode } from './ast.ts';
import { print } from './ast.ts';
import type { Token } from './lex.ts';
import { looksLikeFloat, parseNumber, unquote } from '../go/literals.ts';
import { quoteString } from '../go/quote.ts';
import type { TokenStream } from './token-stream.ts';

interface Scope {
  readonly tokens: TokenStream;
  /** Names in scope, with `$`; declarations are added. */
  readonly variables: string[];
  readonly isFunction: (name: string) => boolean;
}

const STARTS_COMMAND = new Set([
  'bool',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'string',
  'variable',
  'open',
]);
const NOT_EXECUTABLE = new Set(['bool', 'dot', 'nil', 'number', 'string']);

/** A pipeline up to and including the token that ends it. @throws TemplateParseError, LiteralError */
export function parsePipeline(scope: Scope, context: string, end: 'right' | 'close'): PipeNode {
  const { tokens } = scope;
  const pos = tokens.peekNonSpace().pos;
  const { declarations, isAssign } = parseDeclarations(scope, context);
  const commands: CommandNode[] = [];
  for (;;) {
    const token = tokens.nextNonSpace();
    if (token.kind === end) break;
    if (!STARTS_COMMAND.has(token.kind)) tokens.unexpected(token, context);
    tokens.backup();
    commands.push(parseCommand(scope));
  }
  if (commands.length === 0) tokens.fail(`missing value for ${context}`);
  commands.slice(1).forEach((command, i) => {
    if (NOT_EXECUTABLE.has(command.args[0]?.kind ?? '')) {
      tokens.fail(`non executable command in pipeline stage ${String(i + 2)}`);
    }
  });
  return { kind: 'pipe', pos, isAssign, declarations, commands };
}

function parseDeclarations(scope: Scope, context: string): { declarations: string[]; isAssign: boolean } {
  const { tokens, variables } = scope;
  const declarations: string[] = [];
  for (;;) {
    const variable = tokens.peekNonSpace();
    if (variable.kind !== 'variable') return { declarations, isAssign: false };
    const mark = tokens.mark();
    tokens.next();
    const next = tokens.nextNonSpace();
    if (next.kind === 'assign' || next.kind === 'declare') {
      declarations.push(variable.text);
      variables.push(variable.text);
      return { declarations, isAssign: next.kind === 'assign' };
    }
    if (next.kind !== 'char' || next.text !== ',') {
      tokens.reset(mark);
      return { declarations, isAssign: false };
    }
    declarations.push(variable.text);
    variables.push(variable.text);
    if (context !== 'range' || declarations.length >= 2) tokens.fail(`too many declarations in ${context}`);
    if (!['variable', 'right', 'close'].includes(tokens.peekNonSpace().kind)) {
      tokens.fail('range can only initialize variables');
    }
  }
}

function parseCommand(scope: Scope): CommandNode {
  const { tokens } = scope;
  const pos = tokens.peekNonSpace().pos;
  const args: Operand[] = [];
  for (;;) {
    tokens.peekNonSpace();
    const operand = parseOperand(scope);
    if (operand) args.push(operand);
    const token = tokens.next();
    if (token.kind === 'space') continue;
    if (token.kind === 'right' || token.kind === 'close') tokens.backup();
    else if (token.kind !== 'pipe') tokens.unexpected(token, 'operand');
    break;
  }
  if (args.length === 0) tokens.fail('empty command');
  return { kind: 'command', pos, args };
}

function parseOperand(scope: Scope): Operand | undefined {
  const { tokens } = scope;
  const base = parseTerm(scope);
  if (!base || tokens.peek().kind !== 'field') return base;
  const pos = tokens.peek().pos;
  const path: string[] = [];
  while (tokens.peek().kind === 'field') path.push(tokens.next().text.slice(1));
  if (base.kind === 'field' || base.kind === 'variable')
    return { ...base, pos, path: [...base.path, ...path] };
  if (NOT_EXECUTABLE.has(base.kind)) tokens.fail(`unexpected . after term ${quoteString(print(base))}`);
  return { kind: 'chain', pos, base, path };
}

function parseTerm(scope: Scope): Operand | undefined {
  const { tokens } = scope;
  const token = tokens.nextNonSpace();
  const { pos } = token;
  switch (token.kind) {
    case 'identifier':
      if (!scope.isFunction(token.text)) {
        tokens.fail(`function ${quoteString(token.text)} not defined`, tokens.line, token.pos);
      }
      return { kind: 'identifier', pos, name: token.text };
    case 'dot':
    case 'nil':
      return { kind: token.kind, pos };
    case 'variable':
      if (!scope.variables.includes(token.text)) {
        tokens.fail(`undefined variable ${quoteString(token.text)}`, tokens.line, token.pos);
      }
      return { kind: 'variable', pos, path: [token.text] };
    case 'field':
      return { kind: 'field', pos, path: [token.text.slice(1)] };
    case 'bool':
      return { kind: 'bool', pos, value: token.text === 'true' };
    case 'number':
      return numberNode(token);
    case 'open':
      return parsePipeline(scope, 'parenthesized pipeline', 'close');
    case 'string':
      return { kind: 'string', pos, quoted: token.text, value: unquote(token.text) };
    default:
      tokens.backup();
      return undefined;
  }
}

function numberNode(token: Token): NumberNode {
  const { int, uint, float } = parseNumber(token.text);
  const ideal = float !== undefined && looksLikeFloat(token.text) ? float : int;
  return { kind: 'number', pos: token.pos, text: token.text, int, uint, float, ideal };
}
