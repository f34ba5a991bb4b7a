/**
 * The changes that `make mutate` makes to TypeScript: mistakes that people make, such as a condition of two of which one
 * is forgotten, a clean-up that is missing, or two writes in the wrong order.
 */
import ts from 'typescript';

/** Where the mutated code stands decides how it is switched on and off (instrument.ts). */
type Slot = 'statement' | 'member' | 'element' | 'expression';

export interface Mutant {
  readonly operator: Operator;
  readonly slot: Slot;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Its code runs on import, outside of any function. */
  readonly isStatic: boolean;
}

/** How often a kind of change is chosen, compared with the others. */
export const WEIGHTS = {
  'drop operand': 4,
  'force condition': 2,
  'drop negation': 2,
  'move boundary': 4,
  'negate equality': 1,
  'drop default': 1.5,
  'drop call': 4,
  'drop assignment': 2,
  'drop throw': 2,
  'drop handler': 6,
  'swap statements': 6,
  'drop step of chain': 3,
  'drop property': 1.5,
  'drop element': 1,
  'change number': 1.5,
  'change sign': 1.5,
  'flip boolean': 1.5,
  // In templates of the chart:
  'negate if': 2,
  'drop item': 2,
  'drop key': 1,
  'drop include': 1,
} as const;
export type Operator = keyof typeof WEIGHTS;

const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' };
const EQUALITIES: Readonly<Record<string, string>> = { '===': '!==', '!==': '===' };
const SIGNS: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*' };
const STEPS =
  /^(filter|sort|toSorted|reverse|toReversed|slice|trim|toLowerCase|catch|finally|unref|min|max)$/;
/** The compiler refuses most places where such a default is missing. */
const EMPTY = /^(''|0|\[\]|\{\}|false|null|undefined)$/;
/** Log lines are not rules. */
const LOGS = /\b(log|logger)\b/;

const K = ts.SyntaxKind;

/** @returns all possible changes of a source file, in the order of the code */
export const mutantsOf = (source: string): readonly Mutant[] => new Search(source).found;

class Search {
  readonly found: Mutant[] = [];
  readonly #file: ts.SourceFile;
  /** How many functions are around the present node. */
  #functions = 0;

  constructor(source: string) {
    this.#file = ts.createSourceFile('mutated.ts', source, ts.ScriptTarget.Latest, true);
    this.#visit(this.#file);
  }

  #visit(node: ts.Node): void {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isExpressionStatement(node) && LOGS.test(/^[^(]*/.exec(this.#text(node))?.[0] ?? '')) return;
    if (ts.isStatement(node)) this.#statement(node);
    else this.#expression(node);
    if (ts.isBlock(node) || ts.isCaseOrDefaultClause(node)) this.#neighbours(node.statements);
    const opens = ts.isFunctionLike(node) || isInstanceField(node) ? 1 : 0;
    this.#functions += opens;
    ts.forEachChild(node, (child) => {
      this.#visit(child);
    });
    this.#functions -= opens;
  }

  #statement(node: ts.Statement): void {
    if (ts.isIfStatement(node)) this.#condition(node.expression, 'true', 'false');
    else if (ts.isWhileStatement(node)) this.#condition(node.expression, 'false');
    else if (ts.isThrowStatement(node)) this.#add('drop throw', 'statement', node, '');
    else if (ts.isTryStatement(node)) {
      this.#handler(node.catchClause?.block);
      this.#handler(node.finallyBlock);
    } else if (ts.isExpressionStatement(node)) this.#effect(node);
  }

  #expression(node: ts.Node): void {
    if (ts.isConditionalExpression(node)) this.#condition(node.condition, 'true', 'false');
    else if (ts.isBinaryExpression(node)) this.#binary(node);
    else if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken)
      this.#replace('drop negation', node, this.#text(node.operand));
    else if (ts.isNumericLiteral(node) && isValue(node))
      this.#replace('change number', node, otherNumber(node.text));
    else if (node.kind === K.TrueKeyword) this.#replace('flip boolean', node, 'false');
    else if (node.kind === K.FalseKeyword) this.#replace('flip boolean', node, 'true');
    else if (ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node)) this.#literal(node);
    else if (ts.isCallExpression(node)) this.#call(node);
  }

  #condition(node: ts.Expression, ...values: readonly string[]): void {
    for (const value of values) this.#replace('force condition', node, value);
  }

  #binary(node: ts.BinaryExpression): void {
    const { left, right, operatorToken } = node;
    const operator = this.#text(operatorToken);
    const withOperator = (name: Operator, other: string | undefined): void => {
      if (other !== undefined) this.#replace(name, node, `${this.#text(left)} ${other} ${this.#text(right)}`);
    };
    if ((operator === '&&' && !isOptionalProperty(node)) || operator === '||')
      for (const operand of [left, right]) this.#replace('drop operand', node, this.#text(operand));
    if (operator === '??' && !EMPTY.test(this.#text(right)))
      this.#replace('drop default', node, this.#text(left));
    withOperator('move boundary', BOUNDARIES[operator]);
    withOperator('negate equality', EQUALITIES[operator]);
    const isNumeric = operator !== '+' || [left, right].some(ts.isNumericLiteral);
    if (isNumeric) withOperator('change sign', SIGNS[operator]);
  }

  #effect(node: ts.ExpressionStatement): void {
    const inner = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
    const called = ts.isVoidExpression(inner) ? inner.expression : inner;
    if (ts.isCallExpression(called) && called.expression.kind !== K.SuperKeyword)
      this.#add('drop call', 'statement', node, '');
    const isAssignment = ts.isBinaryExpression(inner) && this.#text(inner.operatorToken).endsWith('=');
    if (isAssignment || ts.isDeleteExpression(inner)) this.#add('drop assignment', 'statement', node, '');
  }

  #neighbours(statements: readonly ts.Statement[]): void {
    statements.forEach((first, i) => {
      const second = statements[i + 1];
      if (!second || !ts.isExpressionStatement(first) || !ts.isExpressionStatement(second)) return;
      const texts = [this.#text(second), this.#text(first)].join(' ');
      const isAwaited = [first, second].some(({ expression }) => ts.isAwaitExpression(expression));
      if (isAwaited && !LOGS.test(texts)) this.#add('swap statements', 'statement', first, texts, second);
    });
  }

  #handler(body: ts.Block | undefined): void {
    const [first] = body?.statements ?? [];
    const last = body?.statements.at(-1);
    if (first && last) this.#add('drop handler', 'statement', first, '', last);
  }

  #literal(node: ts.ObjectLiteralExpression | ts.ArrayLiteralExpression): void {
    if (isPattern(node)) return;
    if (ts.isArrayLiteralExpression(node)) {
      for (const element of node.elements)
        if (!ts.isOmittedExpression(element)) this.#add('drop element', 'element', element, '');
      return;
    }
    for (const property of node.properties) {
      const isPlain = ts.isPropertyAssignment(property) || ts.isShorthandPropertyAssignment(property);
      if (isPlain || ts.isSpreadAssignment(property)) this.#add('drop property', 'member', property, '');
    }
  }

  #call(node: ts.CallExpression): void {
    const { expression } = node;
    if (!ts.isPropertyAccessExpression(expression) || (node.flags & ts.NodeFlags.OptionalChain) !== 0) return;
    const object = this.#text(expression.expression);
    if (STEPS.test(expression.name.text) && object !== 'Math')
      this.#replace('drop step of chain', node, object);
  }

  #replace(operator: Operator, node: ts.Node, replacement: string): void {
    this.#add(operator, 'expression', node, replacement);
  }

  #add(operator: Operator, slot: Slot, from: ts.Node, replacement: string, to = from): void {
    const [start, end] = [from.getStart(this.#file), to.end];
    this.found.push({ operator, slot, start, end, replacement, isStatic: this.#functions === 0 });
  }

  #text(node: ts.Node): string {
    return node.getText(this.#file);
  }
}

/** A literal on the left of an assignment, or in the head of a loop, takes values apart. */
function isPattern(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isBinaryExpression(parent))
    return parent.left === node && parent.operatorToken.kind === K.EqualsToken;
  if (ts.isForOfStatement(parent)) return parent.initializer === node;
  const isNested =
    ts.isArrayLiteralExpression(parent) ||
    ts.isSpreadElement(parent) ||
    ts.isObjectLiteralExpression(parent) ||
    ts.isPropertyAssignment(parent);
  return isNested && isPattern(parent);
}

/** `...(a !== undefined && { a })`, where either operand alone gives about the same, or what `drop property` gives. */
function isOptionalProperty({ parent }: ts.Node): boolean {
  return ts.isParenthesizedExpression(parent) && ts.isSpreadAssignment(parent.parent);
}

const isInstanceField = (node: ts.Node): boolean =>
  ts.isPropertyDeclaration(node) && !node.modifiers?.some(({ kind }) => kind === K.StaticKeyword);

/** Not the name of a property. */
const isValue = (node: ts.NumericLiteral): boolean =>
  !('name' in node.parent && node.parent.name === node) && !ts.isPropertyAccessExpression(node.parent);

/** Small numbers count things, great ones are limits, of which one more makes no difference. */
function otherNumber(literal: string): string {
  const value = Number(literal.replaceAll('_', ''));
  return String(value <= 10 ? value + 1 : value * 2);
}
