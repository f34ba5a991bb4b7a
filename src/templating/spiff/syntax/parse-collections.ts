/** Lists, maps, ranges, and the arguments of calls. */
import { append } from '../../../lib/lists.ts';
import type { Expr, MapExpr, RangeExpr } from './ast.ts';
import type { Grammar } from './grammar.ts';
import { name } from './parse-literals.ts';

/** One or more items, separated by commas. */
export function separated<T>({ cursor }: Grammar, item: () => T | undefined): T[] | undefined {
  const first = item();
  if (first === undefined) return undefined;
  const items = [first];
  for (;;) {
    const next = cursor.attempt(() => (cursor.take(',') ? item() : undefined));
    if (next === undefined) return items;
    items.push(next);
  }
}

/** An element; `l...` inserts all elements of the list. */
function element(grammar: Grammar): Expr | undefined {
  const over = grammar.expression();
  if (!over || !grammar.cursor.sign('...')) return over;
  grammar.cursor.blanks();
  return { kind: 'expansion', over };
}

const elements = (grammar: Grammar): Expr[] | undefined => separated(grammar, () => element(grammar));

/** `[a, b...]` */
export function list(grammar: Grammar, { isEmptyAllowed }: { isEmptyAllowed: boolean }): Expr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.sign('[')) return undefined;
    cursor.blanks();
    const items = elements(grammar) ?? (isEmptyAllowed ? [] : undefined);
    return items && cursor.close(']', start) ? { kind: 'list', items } : undefined;
  });
}

/** `"k" = v, …` up to the closing bracket. */
export function assignments(grammar: Grammar, close: '}' | ')', start: number): MapExpr | undefined {
  const { cursor } = grammar;
  const entry = (): MapExpr['entries'][number] | undefined =>
    cursor.attempt(() => {
      const key = grammar.expression();
      if (!key || !cursor.take('=')) return undefined;
      const value = grammar.expression();
      return value && { key, value };
    });
  const entries = separated(grammar, entry) ?? [];
  return cursor.close(close, start) ? { kind: 'map', entries } : undefined;
}

export function map(grammar: Grammar): MapExpr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.sign('{')) return undefined;
    cursor.blanks();
    return assignments(grammar, '}', start);
  });
}

/** `[1 .. 3]`, and as a slice also `[1..]` and `[..3]`. */
export function range(grammar: Grammar): RangeExpr | undefined {
  const { cursor } = grammar;
  return cursor.attempt(() => {
    const from = cursor.pos;
    if (!cursor.sign('[')) return undefined;
    const start = grammar.expression();
    if (!cursor.sign('..')) return undefined;
    const end = grammar.expression();
    return cursor.close(']', from) ? { kind: 'range', start, end } : undefined;
  });
}

/** `(a, b...)`, `(x=1, y=2)`; named arguments come first. */
export function argumentsOf(grammar: Grammar): Expr[] | undefined {
  const { cursor } = grammar;
  const named = (): Expr | undefined =>
    cursor.attempt(() => {
      cursor.blanks();
      const argument = name(cursor);
      if (argument === undefined) return undefined;
      cursor.blanks();
      if (!cursor.take('=')) return undefined;
      cursor.blanks();
      const over = grammar.expression();
      return over && { kind: 'named', name: argument, over };
    });
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.sign('(')) return undefined;
    cursor.blanks();
    const args: Expr[] = separated(grammar, named) ?? [];
    const more = cursor.attempt(() => {
      if (args.length > 0 && !cursor.take(',')) return undefined;
      return elements(grammar);
    });
    append(args, more ?? []);
    return cursor.close(')', start) ? args : undefined;
  });
}
