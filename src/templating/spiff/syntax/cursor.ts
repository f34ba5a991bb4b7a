/** Reads the text of an expression step by step, and remembers the furthest position of all attempts, for errors. */

/** A syntax error. The message contains the position, with the original's text. */
export class SyntaxProblem extends Error {
  /** Position of the error, in UTF-16 code units. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const NAME_CHARACTER = /[a-zA-Z0-9_-]/;

export class Cursor {
  /** Characters (not bytes) of the text. */
  readonly #chars: readonly string[];
  pos = 0;
  #farthest = { start: 0, end: 0 };

  constructor(text: string) {
    this.#chars = Array.from(text);
  }

  get isAtEnd(): boolean {
    return this.pos >= this.#chars.length;
  }

  peek(offset = 0): string {
    return this.#chars[this.pos + offset] ?? '';
  }

  since(start: number): string {
    return this.#chars.slice(start, this.pos).join('');
  }

  /** Records that the text from `start` to the current position is valid. */
  mark(start: number): void {
    if (this.pos > start && this.pos > this.#farthest.end) this.#farthest = { start, end: this.pos };
  }

  /** Consumes the text if it comes next. */
  take(wanted: string): boolean {
    for (let i = 0; i < wanted.length; i++) if (this.peek(i) !== wanted.charAt(i)) return false;
    this.pos += wanted.length;
    return true;
  }

  /** Consumes a sign that is a token of its own. */
  sign(wanted: string): boolean {
    return this.close(wanted, this.pos);
  }

  /** Consumes the sign that closes the group at `start`. */
  close(wanted: string, start: number): boolean {
    if (!this.take(wanted)) return false;
    this.mark(start);
    return true;
  }

  /** Consumes a word, unless it is a prefix of a longer name. */
  word(wanted: string): boolean {
    const start = this.pos;
    if (!this.take(wanted)) return false;
    if (NAME_CHARACTER.test(this.peek())) {
      this.pos = start;
      return false;
    }
    this.mark(start);
    return true;
  }

  /** Consumes characters that match; returns their number. */
  run(fits: RegExp): number {
    const start = this.pos;
    while (!this.isAtEnd && fits.test(this.peek())) this.pos++;
    return this.pos - start;
  }

  /** Optional blanks. */
  blanks(): true {
    const start = this.pos;
    this.run(/[ \t\n\r]/);
    this.mark(start);
    return true;
  }

  /** At least one blank. */
  gap(): boolean {
    const start = this.pos;
    this.blanks();
    return this.pos > start;
  }

  /** Returns the result of `parse`; if it is undefined, restores the position. */
  attempt<T>(parse: () => T | undefined): T | undefined {
    const start = this.pos;
    const result = parse();
    if (result === undefined) this.pos = start;
    return result;
  }

  /** The furthest position, for example `parse error near symbol 3 - symbol 4: 'a'`. */
  problem(): SyntaxProblem {
    const { start, end } = this.#farthest;
    return new SyntaxProblem(this.#describe(start, end), this.#offset(end));
  }

  problemAt(start: number, why: string): SyntaxProblem {
    return new SyntaxProblem(`${this.#describe(start, this.pos)}: ${why}`, this.#offset(this.pos));
  }

  #offset(pos: number): number {
    return this.#chars.slice(0, pos).join('').length;
  }

  #describe(start: number, end: number): string {
    const has = this.#chars.includes('\n');
    const place = (pos: number): string => {
      const lineStart = this.#chars.lastIndexOf('\n', pos);
      const line = this.#chars.slice(0, pos + 1).filter((char) => char === '\n').length + 1;
      const symbol = `symbol ${pos - lineStart}`;
      return has ? `line ${line} ${symbol}` : symbol;
    };
    return `parse error near ${place(start)} - ${place(end)}: '${this.#chars.slice(start, end).join('')}'`;
  }
}
