/** Strings, numbers and names. */
import { literal, type Expr } from './ast.ts';
import type { Cursor } from './cursor.ts';

const DIGIT = /[0-9]/;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

export function ipAddress(cursor: Cursor): Expr | undefined {
  return cursor.attempt(() => {
    const start = cursor.pos;
    for (let part = 0; part < 4; part++) {
      if (part > 0 && !cursor.take('.')) return undefined;
      if (cursor.run(DIGIT) === 0) return undefined;
    }
    cursor.mark(start);
    return literal(cursor.since(start));
  });
}

/** Strings have JSON syntax. @throws SyntaxProblem */
export function text(cursor: Cursor): Expr | undefined {
  return cursor.attempt(() => {
    const start = cursor.pos;
    if (!cursor.take('"')) return undefined;
    while (!cursor.isAtEnd && cursor.peek() !== '"') {
      if (!cursor.take('\\"') && !cursor.take('\\\\')) cursor.pos++;
    }
    if (!cursor.take('"')) return undefined;
    cursor.mark(start);
    try {
      return literal(JSON.parse(cursor.since(start)) as string);
    } catch {
      throw cursor.problemAt(start, 'this is no string literal of JSON: check backslashes and line breaks');
    }
  });
}

/** @throws SyntaxProblem for integers beyond 64 bits */
export function number(cursor: Cursor): Expr | undefined {
  return cursor.attempt(() => {
    const start = cursor.pos;
    cursor.take('-');
    if (!DIGIT.test(cursor.peek())) return undefined;
    cursor.run(/[0-9_]/);
    let isInteger = true;
    if (cursor.peek() === '.' && DIGIT.test(cursor.peek(1))) {
      cursor.pos++;
      cursor.run(DIGIT);
      isInteger = false;
    }
    const exponent = cursor.attempt(() => {
      if (!cursor.take('e') && !cursor.take('E')) return undefined;
      cursor.take('-');
      return cursor.run(DIGIT) > 0 ? true : undefined;
    });
    if (cursor.peek() === ':' && cursor.peek(1) === ':') return undefined;
    cursor.mark(start);
    const digits = cursor.since(start).replaceAll('_', '');
    if (exponent || !isInteger) return literal(Number(digits));
    const value = BigInt(digits);
    if (value < INT64.min || value > INT64.max) throw cursor.problemAt(start, 'an integer has 64 bits');
    return literal(value);
  });
}

/** The name of a parameter or argument. */
export function name(cursor: Cursor): string | undefined {
  const start = cursor.pos;
  if (cursor.run(/[a-zA-Z0-9_]/) === 0) return undefined;
  cursor.mark(start);
  return cursor.since(start);
}

/** A step of a reference: `name`, `with-hyphen`, `key:value`. */
export function key(cursor: Cursor): boolean {
  const part = (): boolean => {
    if (!/[a-zA-Z0-9_]/.test(cursor.peek())) return false;
    cursor.run(/[a-zA-Z0-9_-]/);
    return true;
  };
  const start = cursor.pos;
  if (!part()) return false;
  cursor.attempt(() => (cursor.take(':') && part() ? true : undefined));
  cursor.mark(start);
  return true;
}

/** `[1]`, `[-1]` */
function index(cursor: Cursor): boolean {
  const start = cursor.pos;
  const found = cursor.attempt(() => {
    if (!cursor.take('[')) return undefined;
    cursor.take('-');
    return cursor.run(DIGIT) > 0 && cursor.take(']') ? true : undefined;
  });
  cursor.mark(start);
  return found ?? false;
}

/** `.key`, `.[1]` or `[1]` */
export function step(cursor: Cursor): boolean {
  const start = cursor.pos;
  const found = cursor.attempt(() => {
    const hasDot = cursor.take('.');
    return (hasDot && key(cursor)) || index(cursor) ? true : undefined;
  });
  cursor.mark(start);
  return found ?? false;
}
