/** The tokens of a label selector: names, operators, brackets. */

export type TokenType =
  'end' | 'error' | 'identifier' | 'in' | 'notin' | '=' | '==' | '!=' | '!' | '>' | '<' | '(' | ')' | ',';

export interface Token {
  readonly type: TokenType;
  readonly text: string;
}

const SYMBOLS = new Set(['=', '!', '(', ')', ',', '>', '<']);
const BLANKS = new Set([' ', '\t', '\r', '\n']);
const OPERATORS = new Set(['=', '==', '!=', '!', '>', '<', '(', ')', ',']);

/** All tokens of `text` and a final `end`; consecutive symbols form the longest possible operator. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const char = text.charAt(position);
    if (BLANKS.has(char)) {
      position++;
      continue;
    }
    const token = SYMBOLS.has(char) ? symbolAt(text, position) : wordAt(text, position);
    tokens.push(token);
    position += Math.max(token.text.length, 1);
  }
  tokens.push({ type: 'end', text: '' });
  return tokens;
}

function symbolAt(text: string, start: number): Token {
  const two = text.slice(start, start + 2);
  const found = two.length === 2 && OPERATORS.has(two) ? two : text.charAt(start);
  return { type: found as TokenType, text: found };
}

function wordAt(text: string, start: number): Token {
  let end = start;
  while (end < text.length && !SYMBOLS.has(text.charAt(end)) && !BLANKS.has(text.charAt(end))) end++;
  const word = text.slice(start, end);
  return { type: word === 'in' || word === 'notin' ? word : 'identifier', text: word };
}
