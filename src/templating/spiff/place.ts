/**
 * Finds the position of an unresolved expression in the text of its document. Nodes have no positions, so the text is
 * parsed again, only for messages. Merging moves values: an expression that is not at its path is searched
 * everywhere.
 */
import { parseYamlNodes, type YamlNode } from '../../lib/yaml.ts';
import type { ScalarNode } from '../../lib/yaml-parse.ts';
import { isExpr, type Path } from './syntax/ast.ts';
import { SyntaxProblem } from './syntax/cursor.ts';
import { parseExpression } from './syntax/parse.ts';
import { print } from './syntax/print.ts';
import { embedded } from './tree/resolved.ts';
import type { Culprit } from './culprit.ts';

/** The fields of a culprit that determine its position. */
type Sought = Pick<Culprit, 'paths' | 'value' | 'offset'>;

interface Written {
  readonly scalar: ScalarNode;
  readonly path: Path;
}

/**
 * Where the expression begins in the text (UTF-16 code units), or where its syntax error is; undefined if the text does
 * not contain it.
 * @param text YAML that has been parsed before
 */
export function offsetOf(text: string, sought: Sought): number | undefined {
  const [root] = parseYamlNodes(text, { refusesColonInFlow: true });
  if (!root) return undefined;
  const near = sought.paths.flatMap((path): Written[] => {
    const scalar = scalarAt(root, path);
    return scalar ? [{ scalar, path }] : [];
  });
  const found =
    near.find((one) => isMeant(one, sought)) ??
    first(scalarsIn(root), (one) => isMeant(one, sought)) ??
    // It may have been evaluated in part, and differ from the source.
    near.find(({ scalar }) => !isExpr(sought.value) || embedded(scalar.value) !== undefined);
  if (!found) return undefined;
  const start = startOf(found.scalar, text);
  if (start === undefined || sought.offset === undefined) return start;
  return alignedTo(found.scalar.value.slice(0, '(('.length + sought.offset), text, start);
}

function first<T>(all: Iterable<T>, fits: (one: T) => boolean): T | undefined {
  for (const one of all) if (fits(one)) return one;
  return undefined;
}

interface WrittenExpression {
  /** The text between the parentheses. */
  readonly expression: string;
  /** @param pos in the expression, in characters @returns UTF-16 code units in the text */
  readonly offsetAt: (pos: number) => number;
}

/** All expressions in the values of a document. @throws YamlError */
export function expressionsIn(text: string): readonly WrittenExpression[] {
  const [root] = parseYamlNodes(text, { refusesColonInFlow: true });
  if (!root) return [];
  return [...scalarsIn(root)].flatMap(({ scalar }) => {
    const expression = embedded(scalar.value);
    const start = startOf(scalar, text);
    if (expression === undefined || start === undefined) return [];
    const before = (pos: number): string => `((${Array.from(expression).slice(0, pos).join('')}`;
    return { expression, offsetAt: (pos) => alignedTo(before(pos), text, start) };
  });
}

/** The same expression, apart from white space; or the same text if it is not an expression. */
function isMeant({ scalar, path }: Written, { value }: Sought): boolean {
  if (!isExpr(value)) return scalar.value === value;
  const source = embedded(scalar.value);
  if (source === undefined) return false;
  try {
    return print(parseExpression(source, path, path)) === print(value);
  } catch (error) {
    if (error instanceof SyntaxProblem) return false;
    throw error;
  }
}

const targetOf = (node: YamlNode): YamlNode => (node.kind === 'alias' ? targetOf(node.target) : node);

/**
 * The text at a path, or the expression on the way that produces the rest; in a map, the key of its merge, otherwise
 * its first key.
 */
function scalarAt(root: YamlNode, path: Path): ScalarNode | undefined {
  let target = targetOf(root);
  for (const step of path) {
    if (target.kind === 'scalar') break;
    const at = next(target, step);
    if (!at) return undefined;
    target = targetOf(at);
  }
  if (target.kind === 'scalar') return target;
  const keys = target.kind === 'mapping' ? keysOf(target.items) : [];
  return keys.find(({ value }) => /^<<<?$/.test(value)) ?? keys[0];
}

const keysOf = (items: readonly YamlNode[]): ScalarNode[] =>
  items.flatMap((item, i) => {
    const key = targetOf(item);
    return i % 2 === 0 && key.kind === 'scalar' ? [key] : [];
  });

function next(node: YamlNode, step: string): YamlNode | undefined {
  if (node.kind === 'mapping') {
    const at = node.items.findLastIndex((item, i) => i % 2 === 0 && isText(item, step));
    return at < 0 ? undefined : node.items[at + 1];
  }
  if (node.kind !== 'sequence') return undefined;
  const [, index] = /^\[(\d+)\]$/.exec(step) ?? [];
  if (index !== undefined) return node.items[Number(index)];
  const colon = step.indexOf(':');
  return node.items.find((item) => {
    const entry = targetOf(item);
    const name = entry.kind === 'mapping' ? next(entry, step.slice(0, colon)) : undefined;
    return name !== undefined && isText(name, step.slice(colon + 1));
  });
}

function isText(node: YamlNode, text: string): boolean {
  const target = targetOf(node);
  return target.kind === 'scalar' && target.value === text;
}

function* scalarsIn(node: YamlNode, path: Path = []): Generator<Written> {
  if (node.kind === 'scalar') yield { scalar: node, path };
  else if (node.kind === 'sequence') {
    for (const [i, item] of node.items.entries()) yield* scalarsIn(item, [...path, `[${i}]`]);
  } else if (node.kind === 'mapping') {
    for (let i = 0; i + 1 < node.items.length; i += 2) {
      const key = targetOf(node.items[i] as YamlNode);
      const step = key.kind === 'scalar' ? key.value : '';
      yield* scalarsIn(node.items[i + 1] as YamlNode, [...path, step]);
    }
  }
  // Aliases: their values are at the position of the anchor.
}

/** After the quote; for a block, after the indentation of its first line. */
function startOf({ start, end }: ScalarNode, text: string): number | undefined {
  if (start === end) return undefined;
  const sign = text.charAt(start);
  if (sign === '"' || sign === "'") return start + 1;
  if (sign !== '|' && sign !== '>') return start;
  const lineEnd = text.indexOf('\n', start);
  return lineEnd < 0 ? start : behindBlanks(text, lineEnd);
}

const isBlank = (char: string): boolean => /^\s$/.test(char);

function behindBlanks(text: string, start: number): number {
  let at = start;
  while (isBlank(text.charAt(at))) at++;
  return at;
}

/** The position after a part of a scalar; blanks differ in folded lines. If it contains escapes, the start. */
function alignedTo(part: string, text: string, start: number): number {
  let at = start;
  for (const char of part.replace(/\s+/g, '')) {
    at = behindBlanks(text, at);
    if (!text.startsWith(char, at)) return start;
    at += char.length;
  }
  return behindBlanks(text, at);
}
