/**
 * Splits YAML into tokens. Tokens for the start and the end of blocks are derived from the indentation. Whether a
 * node is a key is known only at the `:` after it, so tokens are held back while one of them may be a key.
 */
import { table } from './objects.ts';
import { Cursor, END, isBlankCode, isBlankOrEnd, isBreakCode } from './yaml-cursor.ts';
import { yamlErrorAt } from './yaml-error.ts';
import { scanBlock, scanPlain, scanQuoted } from './yaml-scan-scalars.ts';
import { scanAnchor, scanDirective, scanTag } from './yaml-scan-tags.ts';
import { markOf, noKey, type SimpleKey, type YamlToken, type YamlTokenKind } from './yaml-tokens.ts';

const MAX_KEY_LENGTH = 1024;
const MAX_DEPTH = 1000;

const OPENING: Readonly<Record<string, YamlTokenKind>> = table({ '[': 'sequence', '{': 'mapping' });
const CLOSING: Readonly<Record<string, YamlTokenKind>> = table({ ']': 'sequence-end', '}': 'mapping-end' });
const NOT_PLAIN = new Set('-?:,[]{}#&*!|>\'"%@`');

/** Differences between programs that read YAML. */
export interface YamlScanOptions {
  /** Whether `[http://x]` is an error; otherwise it is a string. */
  readonly refusesColonInFlow?: boolean;
}

export class YamlScanner {
  readonly #cursor: Cursor;
  readonly #refusesColon: boolean;
  #tokens: YamlToken[] = [];
  #head = 0;
  #taken = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  #flowLevel = 0;
  #isKeyAllowed = true;
  readonly #keys: SimpleKey[] = [noKey()];
  #isDone = false;

  constructor(text: string, options: YamlScanOptions = {}) {
    this.#cursor = new Cursor(text);
    this.#refusesColon = options.refusesColonInFlow ?? false;
    if (text.startsWith('\ufeff')) this.#cursor.index = 1;
  }

  /** The next token, without removing it. @throws YamlError */
  peek(): YamlToken {
    while (!this.#isDone && (this.#head === this.#tokens.length || this.#mayBeKey())) this.#fetch();
    return this.#tokens[this.#head] as YamlToken;
  }

  skip(): void {
    this.#head++;
    this.#taken++;
    if (this.#head < 64) return;
    this.#tokens = this.#tokens.slice(this.#head);
    this.#head = 0;
  }

  /** Whether the next token may still be a key. */
  #mayBeKey(): boolean {
    for (const key of this.#keys) if (key.token === this.#taken && this.#isValid(key)) return true;
    return false;
  }

  /** A token without characters. */
  #push(kind: YamlTokenKind): void {
    const { line, index } = this.#cursor;
    this.#tokens.push(markOf(kind, line, index));
  }

  /** A token for the next characters. */
  #take(kind: YamlTokenKind, length = 1): void {
    const { line, index } = this.#cursor;
    this.#cursor.skip(length);
    this.#tokens.push(markOf(kind, line, index, index + length));
  }

  /** The same, before a key that has already been read. */
  #insert({ token, line, index }: SimpleKey, kind: YamlTokenKind): void {
    this.#tokens.splice(this.#head + token - this.#taken, 0, markOf(kind, line, index));
  }

  /** A key is in one line, and has a maximum length. */
  #isValid(key: SimpleKey): boolean {
    if (!key.isPossible) return false;
    const { line, index } = this.#cursor;
    if (key.line >= line && key.index + MAX_KEY_LENGTH >= index) return true;
    if (key.isRequired) throw yamlErrorAt("could not find expected ':'", line);
    key.isPossible = false;
    return false;
  }

  #saveKey(): void {
    if (!this.#isKeyAllowed) return;
    this.#dropKey();
    const key = this.#lastKey();
    const { index, line, column } = this.#cursor;
    key.isPossible = true;
    key.isRequired = this.#flowLevel === 0 && this.#indent === column;
    key.token = this.#taken + this.#tokens.length - this.#head;
    key.index = index;
    key.line = line;
    key.column = column;
  }

  #lastKey(): SimpleKey {
    return this.#keys[this.#keys.length - 1] as SimpleKey;
  }

  #dropKey(): void {
    const key = this.#lastKey();
    if (!key.isPossible) return;
    if (key.isRequired) throw yamlErrorAt("could not find expected ':'", this.#cursor.line);
    key.isPossible = false;
  }

  /** Opens a block if the column is deeper. @param key start of the block; undefined for here */
  #roll(column: number, kind: YamlTokenKind, key?: SimpleKey): void {
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > MAX_DEPTH) {
      throw yamlErrorAt(`exceeded max depth of ${String(MAX_DEPTH)}`, key?.line ?? this.#cursor.line);
    }
    if (key) this.#insert(key, kind);
    else this.#push(kind);
  }

  /** Closes the blocks that are deeper than the column. */
  #unroll(column: number): void {
    if (this.#flowLevel > 0) return;
    while (this.#indent > column) {
      this.#push('block-end');
      this.#indent = this.#indents.pop() as number;
    }
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      while (cursor.code() === 32 || ((this.#flowLevel > 0 || !this.#isKeyAllowed) && cursor.code() === 9)) {
        cursor.skip();
      }
      cursor.skipComment();
      if (!isBreakCode(cursor.code())) return;
      cursor.takeBreak();
      if (this.#flowLevel === 0) this.#isKeyAllowed = true;
    }
  }

  #fetch(): void {
    this.#skipToToken();
    const cursor = this.#cursor;
    this.#unroll(cursor.column);
    const c = cursor.code();
    if (c === END) this.#fetchEnd();
    else if (cursor.column === 0 && c === 37) this.#fetchDirective();
    else if (cursor.isDocumentIndicator()) this.#fetchDocumentIndicator(c === 45);
    else this.#fetchContent(String.fromCharCode(c), isBlankOrEnd(cursor.code(1)));
  }

  #endBlocks(): void {
    this.#unroll(-1);
    this.#dropKey();
    this.#isKeyAllowed = false;
  }

  #fetchEnd(): void {
    this.#endBlocks();
    this.#push('stream-end');
    this.#isDone = true;
  }

  #fetchDirective(): void {
    this.#endBlocks();
    const { line, index: start } = this.#cursor;
    const { kind, value, prefix: suffix } = scanDirective(this.#cursor);
    this.#tokens.push({ kind, line, value, suffix, isPlain: false, start, end: this.#cursor.index });
  }

  #fetchDocumentIndicator(isStart: boolean): void {
    this.#endBlocks();
    this.#take(isStart ? 'document-start' : 'document-end', 3);
  }

  #fetchContent(c: string, isFollowedByBlank: boolean): void {
    const isFlow = this.#flowLevel > 0;
    if (c === '-' && isFollowedByBlank) this.#entry();
    else if (c === '?' && (isFlow || isFollowedByBlank)) this.#key();
    else if (c === ':' && (isFlow || isFollowedByBlank)) this.#value();
    else if (c === "'" || c === '"') this.#quoted(c);
    else if (this.#canBePlain(c, isFollowedByBlank)) this.#plain();
    else this.#fetchIndicator(c, isFlow);
  }

  #fetchIndicator(c: string, isFlow: boolean): void {
    if (c in OPENING) this.#open(OPENING[c] as YamlTokenKind);
    else if (c in CLOSING) this.#close(CLOSING[c] as YamlTokenKind);
    else if (c === ',') this.#flowEntry();
    else if ((c === '|' || c === '>') && !isFlow) this.#blockScalar(c === '|');
    else if (c === '*' || c === '&' || c === '!') this.#property(c);
    else throw yamlErrorAt('found character that cannot start any token', this.#cursor.line);
  }

  #canBePlain(c: string, isFollowedByBlank: boolean): boolean {
    if (c === '-') return !isBlankCode(this.#cursor.code(1));
    if (c === '?' || c === ':') return this.#flowLevel === 0 && !isFollowedByBlank;
    return !NOT_PLAIN.has(c) && c !== '\t';
  }

  #open(kind: YamlTokenKind): void {
    this.#saveKey();
    this.#keys.push(noKey());
    if (++this.#flowLevel > MAX_DEPTH) {
      throw yamlErrorAt(`exceeded max depth of ${String(MAX_DEPTH)}`, this.#cursor.line);
    }
    this.#isKeyAllowed = true;
    this.#take(kind);
  }

  #close(kind: YamlTokenKind): void {
    this.#dropKey();
    if (this.#flowLevel > 0) {
      this.#flowLevel--;
      this.#keys.pop();
    }
    this.#isKeyAllowed = false;
    this.#take(kind);
  }

  #flowEntry(): void {
    this.#dropKey();
    this.#isKeyAllowed = true;
    this.#take('flow-entry');
  }

  /** Tokens that are allowed only at the start of a line of a block. */
  #checkBlockStart(problem: string, kind: YamlTokenKind): void {
    if (this.#flowLevel > 0) return;
    const { line, column } = this.#cursor;
    if (!this.#isKeyAllowed) throw yamlErrorAt(problem, line);
    this.#roll(column, kind);
  }

  #entry(): void {
    this.#checkBlockStart('block sequence entries are not allowed in this context', 'block-sequence');
    this.#dropKey();
    this.#isKeyAllowed = true;
    this.#take('entry');
  }

  #key(): void {
    this.#checkBlockStart('mapping keys are not allowed in this context', 'block-mapping');
    this.#dropKey();
    this.#isKeyAllowed = this.#flowLevel === 0;
    this.#take('key');
  }

  #value(): void {
    const key = this.#lastKey();
    if (this.#isValid(key)) {
      this.#insert(key, 'key');
      this.#roll(key.column, 'block-mapping', key);
      key.isPossible = false;
      this.#isKeyAllowed = false;
    } else {
      this.#checkBlockStart('mapping values are not allowed in this context', 'block-mapping');
      this.#isKeyAllowed = this.#flowLevel === 0;
    }
    this.#take('value');
  }

  #property(c: '*' | '&' | '!'): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const { line, index: start } = this.#cursor;
    const { handle, suffix } =
      c === '!' ? scanTag(this.#cursor) : { handle: scanAnchor(this.#cursor), suffix: '' };
    const kind = ({ '*': 'alias', '&': 'anchor', '!': 'tag' } as const)[c];
    this.#tokens.push({ kind, line, value: handle, suffix, isPlain: false, start, end: this.#cursor.index });
  }

  #blockScalar(isLiteral: boolean): void {
    this.#dropKey();
    this.#isKeyAllowed = true;
    const { line, index: start } = this.#cursor;
    const { text, end } = scanBlock(this.#cursor, this.#indent, isLiteral);
    this.#tokens.push({ kind: 'scalar', line, value: text, suffix: '', isPlain: false, start, end });
  }

  #quoted(quote: '"' | "'"): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const { line, index: start } = this.#cursor;
    const value = scanQuoted(this.#cursor, quote);
    const end = this.#cursor.index;
    this.#tokens.push({ kind: 'scalar', line, value, suffix: '', isPlain: false, start, end });
  }

  #plain(): void {
    this.#saveKey();
    this.#isKeyAllowed = false;
    const { line, index: start } = this.#cursor;
    const { text, end, endsInBreak } = scanPlain(this.#cursor, {
      indent: this.#indent,
      isFlow: this.#flowLevel > 0,
      refusesColon: this.#refusesColon,
    });
    if (endsInBreak) this.#isKeyAllowed = true;
    this.#tokens.push({ kind: 'scalar', line, value: text, suffix: '', isPlain: true, start, end });
  }
}
