/** Reads Kubernetes' JSONPath dialect into nodes: `{.spec.containers[?(@.name=="web")].image}` and text around it. */

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'root' }
  | { readonly kind: 'current' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number;
      readonly single: boolean;
    }
  | { readonly kind: 'union'; readonly parts: readonly Path[] }
  | { readonly kind: 'filter'; readonly left: Path; readonly operator: string; readonly right: Path }
  | { readonly kind: 'range' }
  | { readonly kind: 'end' };

/** Steps that follow one another. */
export type Path = readonly Node[];

/** A template that cannot be read. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/**
 * The parts of a template in order: each is a string or an expression in braces.
 * @throws JsonPathError
 */
export function parseTemplate(template: string): Path[] {
  const parts: Path[] = [];
  let position = 0;
  while (position < template.length) {
    const open = template.indexOf('{', position);
    if (open < 0) {
      parts.push([{ kind: 'text', text: template.slice(position) }]);
      break;
    }
    if (open > position) parts.push([{ kind: 'text', text: template.slice(position, open) }]);
    const close = closing(template, open, '{', '}');
    parts.push(parseExpression(template.slice(open + 1, close)));
    position = close + 1;
  }
  return parts;
}

/** Position of the bracket that closes the one at `open`; brackets in quotes do not count. */
function closing(text: string, open: number, left: string, right: string): number {
  let depth = 0;
  let quote = '';
  for (let i = open; i < text.length; i++) {
    const char = text.charAt(i);
    if (quote !== '') {
      if (char === '\\') i++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === left) depth++;
    else if (char === right && --depth === 0) return i;
  }
  throw new JsonPathError(
    left === '{' ? 'unclosed action' : `unterminated ${left === '[' ? 'array' : 'filter'}`,
  );
}

/** What stands between braces. @throws JsonPathError */
export function parseExpression(text: string): Path {
  const nodes: Node[] = [];
  let position = 0;
  while (position < text.length) {
    const char = text.charAt(position);
    if (char === ' ' || char === '\t' || char === '\n') {
      position++;
    } else if (char === '$' || char === '@') {
      nodes.push({ kind: char === '$' ? 'root' : 'current' });
      position++;
    } else if (text.startsWith('..', position)) {
      nodes.push({ kind: 'recursive' });
      position += /[[.*]/.test(text.charAt(position + 2)) ? 2 : 1;
    } else if (char === '.') {
      const { name, next } = fieldAt(text, position + 1);
      if (name === '*') nodes.push({ kind: 'wildcard' });
      else if (name !== '') nodes.push({ kind: 'field', name });
      position = next;
    } else if (char === '[') {
      const close = closing(text, position, '[', ']');
      nodes.push(parseBrackets(text.slice(position + 1, close).trim()));
      position = close + 1;
    } else if (char === '"' || char === "'") {
      const end = quoteEnd(text, position);
      nodes.push({ kind: 'literal', value: unquote(text.slice(position, end)) });
      position = end;
    } else {
      const word = /^[^\s.[\]"'=!<>]+(\.\d+)?/.exec(text.slice(position))?.[0] ?? '';
      if (word === '') throw new JsonPathError(`unrecognized character in action: '${char}'`);
      nodes.push(wordNode(word));
      position += word.length;
    }
  }
  return nodes;
}

function wordNode(word: string): Node {
  if (word === 'range' || word === 'end') return { kind: word };
  if (word === 'true' || word === 'false') return { kind: 'literal', value: word === 'true' };
  if (/^[+-]?\d+(\.\d+)?$/.test(word)) return { kind: 'literal', value: Number(word) };
  if (word === '*') return { kind: 'wildcard' };
  return { kind: 'field', name: word };
}

/** A field name; a backslash takes the next character as it is, so that names may hold dots. */
function fieldAt(text: string, start: number): { name: string; next: number } {
  let name = '';
  let position = start;
  while (position < text.length) {
    const char = text.charAt(position);
    if (char === '\\') {
      name += text.charAt(position + 1);
      position += 2;
      continue;
    }
    if (/[\s.[\](){}|'"=!<>@]/.test(char)) break;
    name += char;
    position++;
  }
  return { name, next: position };
}

function quoteEnd(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let i = start + 1; i < text.length; i++) {
    if (text.charAt(i) === '\\') i++;
    else if (text.charAt(i) === quote) return i + 1;
  }
  throw new JsonPathError('unterminated quoted string');
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

const unquote = (quoted: string): string =>
  quoted.slice(1, -1).replace(/\\(.)/gs, (_, char: string) => ESCAPES[char] ?? char);

function parseBrackets(inner: string): Node {
  if (inner === '*') return { kind: 'wildcard' };
  if (inner.startsWith('?(') && inner.endsWith(')')) return parseFilter(inner.slice(2, -1));
  const parts = splitOutsideQuotes(inner, ',');
  if (parts.length > 1) return { kind: 'union', parts: parts.map((part) => [parseBrackets(part.trim())]) };
  if (/^(['"]).*\1$/s.test(inner)) return { kind: 'field', name: unquote(inner) };
  const found = /^(-?\d+)?(:(-?\d+)?(:(-?\d+)?)?)?$/.exec(inner);
  if (!found || inner === '') throw new JsonPathError(`invalid array index ${inner}`);
  const number = (part: string | undefined): number | undefined =>
    part === undefined ? undefined : Number(part);
  return {
    kind: 'slice',
    from: number(found[1]),
    to: number(found[3]),
    step: number(found[5]) ?? 1,
    single: found[2] === undefined,
  };
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (quote !== '') {
      if (char === '\\') i++;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if (char === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function parseFilter(text: string): Node {
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (quote !== '') {
      if (char === '\\') i++;
      else if (char === quote) quote = '';
      continue;
    }
    if (char === '"' || char === "'") quote = char;
    const operator = /^(==|!=|<=|>=|<|>)/.exec(text.slice(i))?.[0];
    if (quote === '' && operator !== undefined) {
      const left = parseExpression(text.slice(0, i));
      return { kind: 'filter', left, operator, right: parseExpression(text.slice(i + operator.length)) };
    }
  }
  return { kind: 'filter', left: parseExpression(text), operator: 'exists', right: [] };
}
