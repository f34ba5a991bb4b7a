/** The parser's view of the tokens: look ahead, step back, complain with Go's words. */
import { placeOf, placeOfLine, TemplateParseError, type TemplatePlace } from './errors.ts';
import type { Token, TokenKind } from './lex.ts';
import { quoteString } from '../go/quote.ts';

export class TokenStream {
  /** Line of the action that is being parsed; 0 outside of actions. */
  actionLine = 0;
  readonly #name: string;
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #index = 0;
  /** The furthest token looked at; errors name its line. */
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

  /** Of the last token that was looked at. */
  get line(): number {
    return this.#tokens[this.#furthest]?.line ?? 1;
  }

  /**
   * @param line what Go names: that of the last token looked at, if nothing else is said
   * @param pos what is wrong, in the source; by itself the last token looked at
   * @throws TemplateParseError always
   */
  fail(reason: string, line = this.line, pos = this.#tokens[this.#furthest]?.pos ?? 0): never {
    const message = `template: ${this.#name}:${String(line)}: ${reason}`;
    throw new TemplateParseError(message, this.#placeIn(line, pos), reason);
  }

  /** Go's words have the line only; the column is ours, where the place is on that line. */
  #placeIn(line: number, pos: number): TemplatePlace {
    const place = placeOf(this.#name, this.#source, pos);
    return place.line === line ? place : placeOfLine(this.#name, this.#source, line);
  }
}

/** A token as Go names it in messages. */
function describe(token: Token): string {
  if (token.kind === 'eof') return 'EOF';
  if (token.kind === 'keyword' || token.kind === 'nil' || token.kind === 'dot') return `<${token.text}>`;
  const chars = Array.from(token.text);
  return chars.length > 10 ? `${quoteString(chars.slice(0, 10).join(''))}...` : quoteString(token.text);
}
