/** Operands: literals, references and their suffixes, calls, `merge`, lambdas. */
import { literal, type Expr, type Path } from './ast.ts';
import type { Grammar } from './grammar.ts';
import { argumentsOf, list, map, range } from './parse-collections.ts';
import { loop, lambdaWord } from './parse-lambda.ts';
import { ipAddress, name, number, text } from './parse-literals.ts';
import { furtherSteps, reference } from './parse-reference.ts';

export function operand(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return (
    ipAddress(cursor) ??
    text(cursor) ??
    number(cursor) ??
    constant(grammar) ??
    prefixed(grammar) ??
    merge(grammar) ??
    (cursor.word('auto') ? { kind: 'auto' } : undefined) ??
    lambdaWord(grammar) ??
    chained(grammar)
  );
}

function constant({ cursor }: Grammar): Expr | undefined {
  if (cursor.word('true')) return literal(true);
  if (cursor.word('false')) return literal(false);
  if (cursor.sign('~~')) return { kind: 'undefined' };
  if (cursor.sign('~') || cursor.word('nil')) return { kind: 'nil' };
  return undefined;
}

/** `$name`, `!e`, `*template` */
function prefixed(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt((): Expr | undefined => {
    if (cursor.take('$')) {
      const symbol = name(cursor);
      return symbol === undefined ? undefined : literal(symbol);
    }
    if (cursor.take('!')) {
      cursor.blanks();
      const inner = grammar.operand();
      return inner && { kind: 'not', inner };
    }
    if (!cursor.take('*')) return undefined;
    const template = grammar.operand();
    return template && { kind: 'instance', template };
  });
}

// ---------------------------------------------------------------- merge

interface MergeOptions {
  isReplacing?: boolean;
  isRequired?: boolean;
  keyName?: string;
}

/** `merge`, `merge replace`, `merge on key`, `merge other.path`, `merge none` */
function merge(grammar: Grammar): Expr | undefined {
  const { cursor, path, stubPath } = grammar;
  const start = cursor.pos;
  if (!cursor.word('merge')) return undefined;
  const afterWord = cursor.pos;
  const elsewhere = cursor.attempt(() => {
    if (cursor.attempt(() => (cursor.gap() && cursor.word('required') ? true : undefined))) return undefined;
    const options = cursor.attempt(() => (cursor.gap() ? mergeOption(grammar, false) : undefined)) ?? {};
    const found = cursor.gap() ? reference(cursor) : undefined;
    return found && { options, path: found.path };
  });
  if (elsewhere) {
    const isNone = elsewhere.path.length === 1 && elsewhere.path[0] === 'none';
    const target = isNone ? [] : elsewhere.path;
    return mergeExpr(elsewhere.options, target, { isRedirected: true, isRequired: !isNone, isNone });
  }
  cursor.pos = afterWord;
  if (cursor.peek() === '(') {
    cursor.pos = start;
    return undefined;
  }
  const options = cursor.attempt(() => (cursor.gap() ? mergeOption(grammar, true) : undefined)) ?? {};
  const isRedirected = path.join('\0') !== stubPath.join('\0');
  const isRequired = options.isReplacing === true || options.isRequired === true || isRedirected;
  return mergeExpr(options, stubPath, { isRedirected, isRequired, isNone: false });
}

const mergeExpr = (
  { isReplacing = false, keyName = '' }: MergeOptions,
  path: Path,
  flags: { readonly isRedirected: boolean; readonly isRequired: boolean; readonly isNone: boolean },
): Expr => ({ kind: 'merge', path, isReplacing, keyName, ...flags });

function mergeOption({ cursor }: Grammar, mayBeRequired: boolean): MergeOptions | undefined {
  if (cursor.word('replace')) return { isReplacing: true };
  if (mayBeRequired && cursor.word('required')) return { isRequired: true };
  if (!cursor.word('on') || !cursor.gap()) return undefined;
  const keyName = name(cursor);
  return keyName === undefined ? undefined : { keyName };
}

// ---------------------------------------------------------------- chains

function chained(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  const first =
    loop(grammar) ??
    list(grammar, { isEmptyAllowed: true }) ??
    map(grammar) ??
    range(grammar) ??
    grouped(grammar) ??
    reference(cursor) ??
    indexOfRoot(grammar);
  return first && qualified(grammar, first);
}

function grouped(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.take('(')) return undefined;
    const inner = grammar.expression();
    return inner && cursor.close(')', start) ? { kind: 'group', inner } : undefined;
  });
}

/** `.["key"]` */
function indexOfRoot(grammar: Grammar): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    if (!cursor.take('.')) return undefined;
    const index = list(grammar, { isEmptyAllowed: false });
    const over: Expr = { kind: 'reference', tag: '', path: [''] };
    return index && { kind: 'dynamic', over, index };
  });
}

/** Any number of calls, steps, indices and projections. */
function qualified(grammar: Grammar, first: Expr): Expr {
  const { cursor } = grammar;
  let expr = first;
  for (;;) {
    const over = expr;
    const next =
      call(grammar, over) ??
      furtherSteps(cursor, over) ??
      dynamicIndex(grammar, over) ??
      projection(grammar, over);
    if (!next) return expr;
    expr = next;
  }
}

function call(grammar: Grammar, callee: Expr): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const isCurried = cursor.take('*');
    const args = argumentsOf(grammar);
    return args && { kind: 'call', callee, args, isCurried };
  });
}

function dynamicIndex(grammar: Grammar, over: Expr): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    cursor.take('.');
    const index = list(grammar, { isEmptyAllowed: false });
    return index && { kind: 'dynamic', over, index };
  });
}

/** `.[*].b`, `.[1..2].b`: the suffix applies to each element. */
function projection(grammar: Grammar, over: Expr): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const start = cursor.pos;
    cursor.take('.');
    const isOfAll = cursor.close('[*]', start);
    const slice = isOfAll ? undefined : range(grammar);
    if (!isOfAll && !slice) return undefined;
    const slot = {};
    const elements: Expr = slice ? { kind: 'slice', over, range: slice } : over;
    return {
      kind: 'projection',
      over: elements,
      slot,
      projection: qualified(grammar, { kind: 'projected', slot }),
    };
  });
}
