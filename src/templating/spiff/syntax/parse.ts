/**
 * Parses expressions. A hand-written parser that follows the original's grammar, alternative by alternative,
 * because its order determines which texts are expressions and the position of errors. After a failed alternative,
 * the next one starts at the same position. Complete expressions are cached by position, so that nested parentheses
 * take linear time.
 */
import type { Comparison, Expr, ExpressionFork, MarkerExpr, Path } from './ast.ts';
import { Cursor } from './cursor.ts';
import type { Grammar } from './grammar.ts';
import { lambda } from './parse-lambda.ts';
import { operand } from './parse-operand.ts';
import { assignments } from './parse-collections.ts';
import { MARKER, tag } from './parse-reference.ts';

/** Deeper nesting would overflow our stack. */
const MAX_NESTING = 200;

interface ParseOptions {
  /** Whether expressions with two ways have their `fork`; default: no. */
  readonly hasForks?: boolean;
}

/** @throws SyntaxProblem */
export function parseExpression(
  source: string,
  path: Path,
  stubPath: Path,
  { hasForks = false }: ParseOptions = {},
): Expr {
  return new Parser(source, path, stubPath, hasForks).whole();
}

class Parser implements Grammar {
  readonly cursor: Cursor;
  readonly path: Path;
  readonly stubPath: Path;
  readonly #known = new Map<number, { readonly expr: Expr | undefined; readonly end: number }>();
  readonly #forkSource: string | undefined;
  #depth = 0;

  constructor(source: string, path: Path, stubPath: Path, hasForks: boolean) {
    this.#forkSource = hasForks ? source : undefined;
    this.cursor = new Cursor(source);
    this.path = path;
    this.stubPath = stubPath;
  }

  whole(): Expr {
    const { cursor } = this;
    const expr =
      cursor.attempt(() => this.#preferred()) ?? cursor.attempt(() => this.#marked()) ?? this.expression();
    if (expr && cursor.isAtEnd) return expr;
    throw cursor.problem();
  }

  #preferred(): Expr | undefined {
    const { cursor } = this;
    cursor.blanks();
    if (!cursor.word('prefer') || !cursor.gap()) return undefined;
    const inner = this.expression();
    return inner && { kind: 'prefer', inner };
  }

  #marked(): MarkerExpr | undefined {
    const { cursor } = this;
    cursor.blanks();
    const first = this.#marker();
    if (first === undefined) return undefined;
    const markers = [first];
    for (;;) {
      const next = cursor.attempt(() => (cursor.gap() ? this.#marker() : undefined));
      if (next === undefined) break;
      markers.push(next);
    }
    cursor.blanks();
    const body = cursor.attempt(() => {
      const start = cursor.pos;
      if (!cursor.take('(')) return undefined;
      const inner = this.expression();
      if (!inner || !cursor.close(')', start)) return undefined;
      return { kind: 'group' as const, inner, text: cursor.since(start) };
    });
    cursor.blanks();
    return { kind: 'marker', markers, body };
  }

  #marker(): string | undefined {
    const { cursor } = this;
    return cursor.attempt(() => {
      const start = cursor.pos;
      if (!cursor.take('&')) return undefined;
      const isTag = cursor.take('tag:');
      if (isTag) cursor.take('*');
      if (isTag ? !tag(cursor) : !MARKER.some((word) => cursor.take(word))) return undefined;
      cursor.mark(start);
      return cursor.since(start);
    });
  }

  expression(): Expr | undefined {
    const { cursor } = this;
    const start = cursor.pos;
    const known = this.#known.get(start);
    if (known) {
      cursor.pos = known.end;
      return known.expr;
    }
    const expr = this.#nested(() => this.#scoped() ?? cursor.attempt(() => lambda(this)) ?? this.operators());
    if (expr) cursor.blanks();
    this.#known.set(start, { expr, end: cursor.pos });
    return expr;
  }

  /** `( $a = 1 ) a + 1` */
  #scoped(): Expr | undefined {
    const { cursor } = this;
    return cursor.attempt(() => {
      cursor.blanks();
      const start = cursor.pos;
      if (!cursor.sign('(')) return undefined;
      cursor.blanks();
      const locals = assignments(this, ')', start);
      if (!locals) return undefined;
      cursor.blanks();
      const body = this.expression();
      return body && { kind: 'scope', locals, body };
    });
  }

  operators(): Expr | undefined {
    return this.cursor.attempt(() => {
      this.cursor.blanks();
      const start = this.cursor.pos;
      return this.#chain(
        () => this.#conditional(),
        () => {
          const { pos } = this.cursor;
          const kind = this.cursor.sign('||') ? 'or' : this.cursor.sign('//') ? 'validOr' : undefined;
          return (
            kind && ((left: Expr, right: Expr): Expr => ({ kind, left, right, ...this.#fork(start, pos) }))
          );
        },
      );
    });
  }

  /** @param pos of the operator */
  #fork(start: number, pos: number): { readonly fork?: ExpressionFork } {
    const source = this.#forkSource;
    return source === undefined ? {} : { fork: { source, pos, text: this.cursor.since(start).trim() } };
  }

  #conditional(): Expr | undefined {
    const { cursor } = this;
    const start = cursor.pos;
    const condition = this.#concatenation();
    if (!condition) return undefined;
    const whole = cursor.attempt((): Expr | undefined => {
      cursor.blanks();
      const { pos } = cursor;
      if (!cursor.take('?')) return undefined;
      const then = this.expression();
      if (!then || !cursor.take(':')) return undefined;
      const otherwise = this.expression();
      return otherwise && { kind: 'conditional', condition, then, otherwise, ...this.#fork(start, pos) };
    });
    return whole ?? condition;
  }

  #concatenation(): Expr | undefined {
    let left = this.#logical();
    while (left) {
      const right = this.cursor.attempt(() => (this.cursor.gap() ? this.#logical() : undefined));
      if (!right) return left;
      left = { kind: 'concatenation', left, right };
    }
    return undefined;
  }

  #logical(): Expr | undefined {
    return this.#chain(
      () => this.#comparison(),
      () => {
        const operator = (['-or', '-and'] as const).find((sign) => this.cursor.take(sign));
        return operator && ((left: Expr, right: Expr): Expr => ({ kind: 'logical', operator, left, right }));
      },
    );
  }

  #comparison(): Expr | undefined {
    return this.#chain(
      () => this.#sum(),
      () => {
        const operator = COMPARISONS.find((sign) => this.cursor.sign(sign));
        return (
          operator && ((left: Expr, right: Expr): Expr => ({ kind: 'comparison', operator, left, right }))
        );
      },
    );
  }

  #sum(): Expr | undefined {
    return this.#arithmetic(() => this.#product(), ['+', '-']);
  }

  #product(): Expr | undefined {
    return this.#arithmetic(() => this.operand(), ['*', '/', '%']);
  }

  #arithmetic(
    next: () => Expr | undefined,
    signs: readonly ('+' | '-' | '*' | '/' | '%')[],
  ): Expr | undefined {
    return this.#chain(next, () => {
      const operator = signs.find((sign) => this.cursor.take(sign));
      return operator && ((left: Expr, right: Expr): Expr => ({ kind: 'arithmetic', operator, left, right }));
    });
  }

  /** Operands with operators between them, both surrounded by blanks; left-associative. */
  #chain(
    next: () => Expr | undefined,
    operator: () => ((left: Expr, right: Expr) => Expr) | undefined,
  ): Expr | undefined {
    const { cursor } = this;
    let left = next();
    while (left) {
      const so: Expr = left;
      const joined: Expr | undefined = cursor.attempt(() => {
        if (!cursor.gap()) return undefined;
        const join = operator();
        if (!join || !cursor.gap()) return undefined;
        const right = next();
        return right && join(so, right);
      });
      if (!joined) return so;
      left = joined;
    }
    return undefined;
  }

  operand(): Expr | undefined {
    return this.#nested(() => operand(this));
  }

  #nested(parse: () => Expr | undefined): Expr | undefined {
    if (++this.#depth > MAX_NESTING) {
      const why = `an expression is nested deeper than ${MAX_NESTING} levels`;
      throw this.cursor.problemAt(this.cursor.pos, why);
    }
    const expr = parse();
    this.#depth--;
    return expr;
  }
}

const COMPARISONS: readonly Comparison[] = ['==', '!=', '<=', '>=', '>', '<'];
