/** The tokens of a template for the parser: peek, back up, and errors with Go's messages. */
import { placeOf, placeOfLine, TemplateParseError, type TemplatePlace } from './errors.ts';
import type { Token, TokenKind } from './lex.ts';
import { byteLength } from '../go/go-string.ts';
import { quoteString } from '../go/quote.ts';

export class TokenStream {
  /** Line of the current action; 0 outside actions. */
  actionLine = 0;
  readonly #name: string;
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #index = 0;
  /** The furthest token that was read; errors report its line. */
  #furthest = 0;

  constructor(name: string, source: string, tokens: readonly Token[]) {
    this.#name = name;
    this.#source = source;
    this.#tokens = tokens;
  }

  #at(index: number): Token {
    this.#furthest = Math.max(this.#furthest, Math.min(index, this.#tokens.length - 1));
    return this.#tokens[Math.min(index, this.#tokens.length - 1)] as Token;
  }

  next(): Token {
    return this.#at(this.#index++);
  }

  peek(): Token {
    return this.#at(this.#index);
  }

  backup(): void {
    this.#index--;
  }

  mark(): number {
    return this.#index;
  }

  reset(mark: number): void {
    this.#index = mark;
  }

  nextNonSpace(): Token {
    let token = this.next();
    while (token.kind === 'space') token = this.next();
    return token;
  }

  peekNonSpace(): Token {
    const token = this.nextNonSpace();
    this.backup();
    return token;
  }

  expectRight(context: string): Token {
    return this.#expect('right', context);
  }

  #expect(kind: TokenKind, context: string): Token {
    const token = this.nextNonSpace();
    return token.kind === kind ? token : this.unexpected(token, context);
  }

  /** @throws TemplateParseError always */
  unexpected(token: Token, context: string): never {
    if (token.kind === 'error') {
      let extra = '';
      if (this.actionLine !== 0 && this.actionLine !== token.line) {
        const where = ` started at ${this.#name}:${String(this.actionLine)}`;
        extra = token.text.endsWith(' action') ? where : ` in action${where}`;
      }
      this.fail(token.text + extra);
    }
    this.fail(`unexpected ${describe(token)} in ${context}`);
  }

  /** Line of the last token that was read. */
  get line(): number {
    return this.#tokens[this.#furthest]?.line ?? 1;
  }

  /**
   * @param line line in Go's message; default: the line of the last token that was read
   * @param pos position of the error in the source; default: the last token that was read
   * @throws TemplateParseError always
   */
  fail(reason: string, line = this.line, pos = this.#tokens[this.#furthest]?.pos ?? 0): never {
    const message = `template: ${this.#name}:${String(line)}: ${reason}`;
    throw new TemplateParseError(message, this.#placeIn(line, pos), reason);
  }

  /** Go's message contains only the line; we add the column if the position is on that line. */
  #placeIn(line: number, pos: number): TemplatePlace {
    const place = placeOf(this.#name, this.#source, pos);
    return place.line === line ? place : placeOfLine(this.#name, this.#source, line);
  }
}

/** A token in the format of Go's messages. */
function describe(token: Token): string {
  if (token.kind === 'eof') return 'EOF';
  if (token.kind === 'keyword' || token.kind === 'nil' || token.kind === 'dot') return `<${token.text}>`;
  // Go counts bytes, and then shows characters.
  if (byteLength(token.text) <= 10) return quoteString(token.text);
  return `${quoteString(Array.from(token.text).slice(0, 10).join(''))}...`;
}
