/** A position in a YAML text, and functions of the scanner for the characters there. */

const NEL = 0x85;
const LINE_SEPARATOR = 0x2028;
const PARAGRAPH_SEPARATOR = 0x2029;

/** The character after the end. */
export const END = 0;

export const isBreakCode = (c: number): boolean =>
  c === 10 || c === 13 || c === NEL || c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR;
export const isBlankCode = (c: number): boolean => c === 32 || c === 9;
export const isBreakOrEnd = (c: number): boolean => c === END || isBreakCode(c);
export const isBlankOrEnd = (c: number): boolean => c === 32 || c === 9 || isBreakOrEnd(c);

export class Cursor {
  readonly text: string;
  index = 0;
  line = 0;
  column = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Code of the character `ahead` positions from here. */
  code(ahead = 0): number {
    const at = this.index + ahead;
    return at < this.text.length ? this.text.charCodeAt(at) : END;
  }

  /** Moves forward within the line. */
  skip(count = 1): void {
    this.index += count;
    this.column += count;
  }

  /** Skips a line break. @returns its text within a scalar; empty if there is none */
  takeBreak(): string {
    const c = this.code();
    if (!isBreakCode(c)) return '';
    this.index += c === 13 && this.code(1) === 10 ? 2 : 1;
    this.line++;
    this.column = 0;
    return c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR ? String.fromCharCode(c) : '\n';
  }

  skipBlanks(): void {
    while (isBlankCode(this.code())) this.skip();
  }

  skipComment(): void {
    if (this.code() !== 35) return;
    while (!isBreakOrEnd(this.code())) this.skip();
  }

  /** `---` or `...` at the start of a line. */
  isDocumentIndicator(): boolean {
    if (this.column !== 0) return false;
    const c = this.code();
    return (c === 45 || c === 46) && this.code(1) === c && this.code(2) === c && isBlankOrEnd(this.code(3));
  }
}
