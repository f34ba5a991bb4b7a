/** Reads YAML scalars: plain, quoted, literal and folded, with their rules about line breaks. */
import { table } from './objects.ts';
import { type Cursor, END, isBlankCode, isBlankOrEnd, isBreakCode, isBreakOrEnd } from './yaml-cursor.ts';
import { yamlErrorAt } from './yaml-error.ts';

/** White space between two parts of a scalar: its value depends on the line breaks in it. */
class Gap {
  #blanks = '';
  #first = '';
  #rest = '';
  hasBreak = false;

  /** An escaped line break: the white space after it is ignored. */
  escape(): void {
    this.hasBreak = true;
  }

  /** White space up to the next other character. @param indent for plain scalars: where tabs are invalid */
  take(cursor: Cursor, indent = -1): void {
    for (;;) {
      const c = cursor.code();
      if (isBlankCode(c)) {
        if (this.hasBreak && cursor.column < indent && c === 9) {
          throw yamlErrorAt('found a tab character that violates indentation', cursor.line);
        }
        if (!this.hasBreak) this.#blanks += String.fromCharCode(c);
        cursor.skip();
      } else if (isBreakCode(c)) {
        if (this.hasBreak) this.#rest += cursor.takeBreak();
        else {
          this.#blanks = '';
          this.#first = cursor.takeBreak();
          this.hasBreak = true;
        }
      } else return;
    }
  }

  /** Its text: one break becomes a space, of several the first is dropped. */
  flush(): string {
    let text = this.#blanks;
    if (this.hasBreak) {
      if (this.#first === '\n') text = this.#rest === '' ? ' ' : this.#rest;
      else text = this.#first + this.#rest;
    }
    this.#blanks = '';
    this.#first = '';
    this.#rest = '';
    this.hasBreak = false;
    return text;
  }
}

interface ScannedScalar {
  readonly text: string;
  /** Offset after its last character; the cursor is after the white space that follows. */
  readonly end: number;
}

interface PlainScalar extends ScannedScalar {
  /** Whether a line break follows; then the next token may be a key. */
  readonly endsInBreak: boolean;
}

const isFlowIndicator = (c: number): boolean =>
  c === 44 || c === 63 || c === 91 || c === 93 || c === 123 || c === 125;

interface PlainOptions {
  /** Indentation of the enclosing block; deeper lines belong to the scalar. */
  readonly indent: number;
  readonly isFlow: boolean;
  /** Whether a scalar in a flow collection must not contain `:`, as before libyaml 0.2. */
  readonly refusesColon: boolean;
}

export function scanPlain(cursor: Cursor, options: PlainOptions): PlainScalar {
  const indent = options.indent + 1;
  const gap = new Gap();
  let text = '';
  let behind = cursor.index;
  for (;;) {
    if (cursor.isDocumentIndicator() || cursor.code() === 35) break;
    const start = cursor.index;
    let end = start;
    for (let c = cursor.code(); !isBlankOrEnd(c); c = cursor.text.charCodeAt(end) || END) {
      if (c === 58 && isBlankOrEnd(cursor.text.charCodeAt(end + 1) || END)) break;
      if (c === 58 && options.isFlow && options.refusesColon)
        throw yamlErrorAt("found unexpected ':'; put the text in quotes", cursor.line);
      if (options.isFlow && isFlowIndicator(c)) break;
      end++;
    }
    if (end > start) {
      text += gap.flush() + cursor.text.slice(start, end);
      cursor.skip(end - start);
      behind = end;
    }
    const c = cursor.code();
    if (!isBlankCode(c) && !isBreakCode(c)) break;
    gap.take(cursor, indent);
    if (!options.isFlow && cursor.column < indent) break;
  }
  return { text, end: behind, endsInBreak: gap.hasBreak };
}

const ESCAPES: Readonly<Record<string, string>> = table({
  '0': '\0',
  a: '\u0007',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\u001b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
});
const HEX_LENGTH: Readonly<Record<string, number>> = table({ x: 2, u: 4, U: 8 });

function takeEscape(cursor: Cursor): string {
  const letter = String.fromCharCode(cursor.code(1));
  const length = HEX_LENGTH[letter];
  if (length === undefined) {
    const text = ESCAPES[letter];
    if (text === undefined) throw yamlErrorAt('found unknown escape character', cursor.line);
    cursor.skip(2);
    return text;
  }
  cursor.skip(2);
  const digits = cursor.text.slice(cursor.index, cursor.index + length);
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) {
    throw yamlErrorAt('did not find expected hexdecimal number', cursor.line);
  }
  const code = Number.parseInt(digits, 16);
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
    throw yamlErrorAt('found invalid Unicode character escape code', cursor.line);
  }
  cursor.skip(length);
  return String.fromCodePoint(code);
}

/** A quoted scalar; the cursor is at the opening quote. */
export function scanQuoted(cursor: Cursor, quote: '"' | "'"): string {
  const gap = new Gap();
  const end = quote.charCodeAt(0);
  let text = '';
  cursor.skip();
  for (;;) {
    if (cursor.isDocumentIndicator()) throw yamlErrorAt('found unexpected document indicator', cursor.line);
    if (cursor.code() === END) throw yamlErrorAt('found unexpected end of stream', cursor.line);
    text += takeQuotedWord(cursor, end, gap);
    if (cursor.code() === end) break;
    gap.take(cursor);
    text += gap.flush();
  }
  cursor.skip();
  return text;
}

/** Text up to white space, a break or the closing quote. */
function takeQuotedWord(cursor: Cursor, end: number, gap: Gap): string {
  let text = '';
  for (let c = cursor.code(); !isBlankOrEnd(c); c = cursor.code()) {
    if (c === end) {
      if (end !== 39 || cursor.code(1) !== 39) return text;
      text += "'";
      cursor.skip(2);
    } else if (c === 92 && end === 34) {
      if (isBreakCode(cursor.code(1))) {
        cursor.skip();
        cursor.takeBreak();
        gap.escape();
        return text;
      }
      text += takeEscape(cursor);
    } else {
      const start = cursor.index;
      let at = start + 1;
      for (let d = cursor.text.charCodeAt(at); d !== end && d !== 92 && !isBlankOrEnd(d || END);) {
        d = cursor.text.charCodeAt(++at);
      }
      text += cursor.text.slice(start, at);
      cursor.skip(at - start);
    }
  }
  return text;
}

interface BlockHeader {
  readonly chomping: '+' | '-' | '';
  /** Explicit indentation; 0 if it must be detected. */
  readonly increment: number;
  /** Offset after it. */
  readonly end: number;
}

function takeBlockHeader(cursor: Cursor): BlockHeader {
  let chomping: BlockHeader['chomping'] = '';
  let increment = 0;
  cursor.skip();
  for (let i = 0; i < 2; i++) {
    const c = cursor.code();
    if ((c === 43 || c === 45) && chomping === '') chomping = c === 43 ? '+' : '-';
    else if (c >= 48 && c <= 57 && increment === 0) {
      if (c === 48) throw yamlErrorAt('found an indentation indicator equal to 0', cursor.line);
      increment = c - 48;
    } else break;
    cursor.skip();
  }
  const end = cursor.index;
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.code())) {
    throw yamlErrorAt('did not find expected comment or line break', cursor.line);
  }
  cursor.takeBreak();
  return { chomping, increment, end };
}

/** Empty lines; detects the indentation if `indent` is 0. */
function takeBlockBreaks(cursor: Cursor, indent: number, parent: number): { breaks: string; indent: number } {
  let breaks = '';
  let deepest = 0;
  for (;;) {
    while ((indent === 0 || cursor.column < indent) && cursor.code() === 32) cursor.skip();
    deepest = Math.max(deepest, cursor.column);
    if ((indent === 0 || cursor.column < indent) && cursor.code() === 9) {
      throw yamlErrorAt('found a tab character where an indentation space is expected', cursor.line);
    }
    if (!isBreakCode(cursor.code())) break;
    breaks += cursor.takeBreak();
  }
  return { breaks, indent: indent === 0 ? Math.max(deepest, parent + 1, 1) : indent };
}

/** A literal or folded scalar; the cursor is at `|` or `>`. @param parent indentation of the enclosing block */
export function scanBlock(cursor: Cursor, parent: number, isLiteral: boolean): ScannedScalar {
  const { chomping, increment, end: headerEnd } = takeBlockHeader(cursor);
  const wanted = increment === 0 ? 0 : Math.max(parent, 0) + increment;
  let { breaks, indent } = takeBlockBreaks(cursor, wanted, parent);
  let text = '';
  let leading = '';
  let wasBlank = false;
  let end = headerEnd;
  while (cursor.column === indent && cursor.code() !== END) {
    const isBlank = isBlankCode(cursor.code());
    const isFolded = !isLiteral && leading === '\n' && !wasBlank && !isBlank;
    text += isFolded ? (breaks === '' ? ' ' : '') : leading;
    text += breaks;
    wasBlank = isBlank;
    const start = cursor.index;
    while (!isBreakOrEnd(cursor.code())) cursor.skip();
    end = cursor.index;
    text += cursor.text.slice(start, end);
    leading = cursor.takeBreak();
    ({ breaks, indent } = takeBlockBreaks(cursor, indent, parent));
  }
  if (chomping !== '-') text += leading;
  return { text: chomping === '+' ? text + breaks : text, end };
}
