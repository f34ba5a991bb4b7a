/** References: `a.b`, `.a`, `tag::a`; and the words of markers. */
import type { Expr, ReferenceExpr } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { stepsOf } from './grammar.ts';
import { key, step } from './parse-literals.ts';

export const MARKER = ['template', 'temporary', 'local', 'inject', 'state', 'default', 'dynamic'] as const;

/** `name`, `a.b`, `a:b` */
export function tag(cursor: Cursor): boolean {
  const part = (): boolean => {
    const partStart = cursor.pos;
    if (!/[a-zA-Z_]/.test(cursor.peek())) return false;
    cursor.run(/[a-zA-Z0-9_]/);
    cursor.mark(partStart);
    return true;
  };
  const start = cursor.pos;
  if (!part()) return false;
  while (cursor.attempt(() => ((cursor.take('.') || cursor.take(':')) && part() ? true : undefined)));
  cursor.mark(start);
  return true;
}

function tagPrefix(cursor: Cursor): string | undefined {
  return cursor.attempt(() => {
    const start = cursor.pos;
    const isDocument = cursor.attempt(() => {
      if (!cursor.take('doc') || (!cursor.take('.') && !cursor.take(':'))) return undefined;
      cursor.take('-');
      return cursor.run(/[0-9]/) > 0 ? true : undefined;
    });
    if (!isDocument && !tag(cursor)) return undefined;
    const name = cursor.since(start);
    return cursor.close('::', start) ? name : undefined;
  });
}

export function reference(cursor: Cursor): ReferenceExpr | undefined {
  return cursor.attempt(() => {
    const tagName = tagPrefix(cursor) ?? '';
    const start = cursor.pos;
    const isWhole = tagName !== '' && cursor.sign('.');
    if (!isWhole) {
      cursor.take('.');
      if (!key(cursor)) return undefined;
    }
    while (step(cursor));
    const text = cursor.since(start);
    const inTag = tagName !== '' && text !== '.' ? text.replace(/^\./, '') : text;
    return { kind: 'reference', tag: tagName, path: stepsOf(inTag) };
  });
}

/** `.b.[0]` after an expression. */
export function furtherSteps(cursor: Cursor, over: Expr): Expr | undefined {
  const start = cursor.pos;
  if (!step(cursor)) return undefined;
  while (step(cursor));
  return { kind: 'qualified', over, path: stepsOf(cursor.since(start).replace(/^\./, '')) };
}
