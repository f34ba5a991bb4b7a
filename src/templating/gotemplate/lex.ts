/** Splits a template into tokens with the rules of Go's text/template: text, trim markers, comments, actions. */

import { quoteString } from '../go/quote.ts';

export type TokenKind =
  | 'text'
  | 'left'
  | 'right'
  | 'space'
  | 'identifier'
  | 'keyword'
  | 'field'
  | 'variable'
  | 'dot'
  | 'nil'
  | 'bool'
  | 'number'
  | 'string'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'open'
  | 'close'
  | 'char'
  | 'error'
  | 'eof';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** Offset in the source, in UTF-16 units. */
  readonly pos: number;
  readonly line: number;
}

const KEYWORDS = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
]);
const isSpace = (c: string | undefined): boolean => c === ' ' || c === '\t' || c === '\r' || c === '\n';
const LETTERS = /[_\p{L}\p{Nd}]+/uy;
const LETTER = /[_\p{L}\p{Nd}]/u;

/** All tokens of a template; a lexical error ends the list with an `error` token. */
export const tokenize = (source: string): readonly Token[] => new Lexer(source).run();

/** Stops the scan; contains the message of the error token. */
class Stop extends Error {}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #pos = 0;
  #start = 0;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  run(): readonly Token[] {
    try {
      while (this.#text()) {
        if (!this.#comment()) this.#action();
      }
      this.#emit('eof', 'EOF');
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
      this.#tokens.push({ kind: 'error', text: error.message, pos: this.#start, line: this.#line });
    }
    return this.#tokens;
  }

  #emit(kind: TokenKind, text = this.#source.slice(this.#start, this.#pos)): void {
    this.#tokens.push({ kind, text, pos: this.#start, line: this.#line });
    this.#ignore();
  }

  /** Skips the text from the start of the token to the current position, but counts its lines. */
  #ignore(): void {
    for (let i = this.#start; i < this.#pos; i++) if (this.#source.charCodeAt(i) === 10) this.#line++;
    this.#start = this.#pos;
  }

  /** Text up to the next action; false at the end of the source. */
  #text(): boolean {
    const at = this.#source.indexOf('{{', this.#pos);
    const end = at < 0 ? this.#source.length : at;
    let cut = end;
    if (at >= 0 && this.#source[at + 2] === '-' && isSpace(this.#source[at + 3])) {
      while (cut > this.#pos && isSpace(this.#source[cut - 1])) cut--;
    }
    this.#pos = cut;
    if (cut > this.#start) this.#emit('text');
    this.#pos = end;
    this.#ignore();
    return at >= 0;
  }

  #leftTrimLength(): number {
    return this.#source[this.#pos] === '-' && isSpace(this.#source[this.#pos + 1]) ? 2 : 0;
  }

  /** Length of a right delimiter at this position, including a trim marker; 0 if there is none. */
  #rightDelimiter(at = this.#pos): number {
    if (this.#source.startsWith('}}', at)) return 2;
    return isSpace(this.#source[at]) && this.#source.startsWith('-}}', at + 1) ? 4 : 0;
  }

  #skipSpace(): void {
    while (isSpace(this.#source[this.#pos])) this.#pos++;
    this.#ignore();
  }

  /** Skips a comment; false if the action is not a comment. */
  #comment(): boolean {
    const begin = this.#pos;
    this.#pos += 2;
    const trim = this.#leftTrimLength();
    if (!this.#source.startsWith('/*', this.#pos + trim)) {
      this.#pos = begin;
      return false;
    }
    this.#pos += trim;
    this.#ignore();
    const end = this.#source.indexOf('*/', this.#pos + 2);
    if (end < 0) throw new Stop('unclosed comment');
    this.#pos = end + 2;
    const delimiter = this.#rightDelimiter();
    if (delimiter === 0) throw new Stop('comment ends before closing delimiter');
    this.#pos += delimiter;
    this.#ignore();
    if (delimiter === 4) this.#skipSpace();
    return true;
  }

  #action(): void {
    this.#pos += 2;
    this.#emit('left');
    this.#pos += this.#leftTrimLength();
    this.#ignore();
    let depth = 0;
    for (;;) {
      const delimiter = this.#rightDelimiter();
      if (delimiter > 0) {
        if (depth > 0) throw new Stop('unclosed left paren');
        this.#rightEnd(delimiter);
        return;
      }
      const c = this.#source[this.#pos];
      if (c === '(') depth++;
      if (c === ')' && --depth < 0) throw new Stop('unexpected right paren');
      this.#inside(c);
    }
  }

  #rightEnd(delimiter: number): void {
    if (delimiter === 4) {
      this.#pos += 2;
      this.#ignore();
    }
    this.#pos += 2;
    this.#emit('right');
    if (delimiter === 4) this.#skipSpace();
  }

  #inside(c: string | undefined): void {
    if (c === undefined) throw new Stop('unclosed action');
    if (isSpace(c)) this.#space();
    else if (c === '"') this.#quoted('string', 'unterminated quoted string', '"');
    else if (c === "'") this.#quoted('number', 'unterminated character constant', "'");
    else if (c === '`') this.#raw();
    else if (c === '$') this.#name('variable');
    else if (c === '.' && /[^0-9]/.test(this.#source[this.#pos + 1] ?? '0')) this.#name('field');
    else if (/[-+0-9.]/.test(c)) this.#number();
    else if (LETTER.test(this.#char())) this.#identifier();
    else this.#symbol(c);
  }

  #symbol(c: string): void {
    this.#pos++;
    if (c === '=') this.#emit('assign');
    else if (c === ':') {
      this.#pos++;
      if (this.#source[this.#pos - 1] !== '=') throw new Stop('expected :=');
      this.#emit('declare');
    } else if (c === '|') this.#emit('pipe');
    else if (c === '(') this.#emit('open');
    else if (c === ')') this.#emit('close');
    else if (c >= ' ' && c <= '~') this.#emit('char');
    else {
      this.#pos--;
      throw new Stop(`unrecognized character in action: ${unicodeName(this.#char())}`);
    }
  }

  #char(at = this.#pos): string {
    const code = this.#source.codePointAt(at);
    return code === undefined ? '' : String.fromCodePoint(code);
  }

  /** A run of blanks, without the last one if it belongs to ` -}}`. */
  #space(): void {
    while (isSpace(this.#source[this.#pos])) this.#pos++;
    if (this.#source.startsWith('-}}', this.#pos)) this.#pos--;
    if (this.#pos > this.#start) this.#emit('space');
  }

  #quoted(kind: 'string' | 'number', complaint: string, quote: string): void {
    this.#pos++;
    for (;;) {
      let c = this.#source[this.#pos++];
      if (c === '\\') {
        c = this.#source[this.#pos++];
        if (c !== undefined && c !== '\n') continue;
      }
      if (c === undefined || c === '\n') throw new Stop(complaint);
      if (c === quote) break;
    }
    this.#emit(kind);
  }

  #raw(): void {
    const end = this.#source.indexOf('`', this.#pos + 1);
    if (end < 0) throw new Stop('unterminated raw quoted string');
    this.#pos = end + 1;
    this.#emit('string');
  }

  #letters(): void {
    LETTERS.lastIndex = this.#pos;
    this.#pos += LETTERS.exec(this.#source)?.[0].length ?? 0;
  }

  /** Checks the character after a name. */
  #checkTerminator(): void {
    const c = this.#source[this.#pos];
    if (c === undefined || isSpace(c) || '.,|:)('.includes(c) || this.#source.startsWith('}}', this.#pos))
      return;
    throw new Stop(`bad character ${unicodeName(this.#char())}`);
  }

  #name(kind: 'field' | 'variable'): void {
    this.#pos++;
    this.#letters();
    this.#checkTerminator();
    this.#emit(kind === 'field' && this.#pos === this.#start + 1 ? 'dot' : kind);
  }

  #identifier(): void {
    this.#letters();
    this.#checkTerminator();
    const word = this.#source.slice(this.#start, this.#pos);
    if (word === 'nil') this.#emit('nil');
    else if (KEYWORDS.has(word)) this.#emit('keyword');
    else this.#emit(word === 'true' || word === 'false' ? 'bool' : 'identifier');
  }

  /** One number, without the characters after it. */
  #digits(): void {
    const scan =
      /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
    scan.lastIndex = this.#pos;
    this.#pos += scan.exec(this.#source)?.[0].length ?? 0;
    const next = this.#char();
    if (!LETTER.test(next)) return;
    this.#pos += next.length;
    this.#badNumber();
  }

  #badNumber(): never {
    throw new Stop(`bad number syntax: ${quoteString(this.#source.slice(this.#start, this.#pos))}`);
  }

  #number(): void {
    this.#digits();
    const next = this.#char();
    if (next === '+' || next === '-') {
      this.#digits();
      this.#badNumber();
    }
    this.#emit('number');
  }
}

/** A character in the format of Go's `%#U`. */
function unicodeName(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase().padStart(4, '0');
  return /[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(char) ? `U+${hex} '${char}'` : `U+${hex}`;
}
