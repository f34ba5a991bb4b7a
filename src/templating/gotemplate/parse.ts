/** Parses a template: text, actions and control structures. Pipelines are in parse-pipeline.ts. */
import { isEmpty, type ListNode, type PipeNode, type Statement } from './ast.ts';
import { tokenize } from './lex.ts';
import { LiteralError, unquote } from '../go/literals.ts';
import { parsePipeline } from './parse-pipeline.ts';
import { quoteString } from '../go/quote.ts';
import { TokenStream } from './token-stream.ts';

/** The templates in a source: its own text under its name, and all `define` and `block` sections. */
export interface ParsedSource {
  readonly name: string;
  readonly source: string;
  readonly root: ListNode;
  readonly definitions: ReadonlyMap<string, ListNode>;
}

/** `{{end}}` or `{{else}}`; ends a list and is not part of the tree. */
type Terminator =
  { readonly kind: 'end'; readonly pos: number } | { readonly kind: 'else'; readonly pos: number };

/**
 * Parses a template.
 * @param isFunction decides which names are functions; other names are errors
 * @throws TemplateParseError
 */
export function parse(name: string, source: string, isFunction: (name: string) => boolean): ParsedSource {
  const definitions = new Map<string, ListNode>();
  const stream = new TokenStream(name, source, tokenize(source));
  try {
    const root = new Parser(stream, definitions, isFunction).source(name);
    return { name, source, root, definitions };
  } catch (error) {
    if (error instanceof LiteralError) stream.fail(error.message);
    if (error instanceof RangeError) stream.fail('the template is nested too deeply');
    throw error;
  }
}

/** Parser of one tree: the source itself, or one `define` or `block` section. */
class Parser {
  readonly #tokens: TokenStream;
  readonly #definitions: Map<string, ListNode>;
  readonly #isFunction: (name: string) => boolean;
  #variables: string[] = ['$'];
  #rangeDepth = 0;

  constructor(
    tokens: TokenStream,
    definitions: Map<string, ListNode>,
    isFunction: (name: string) => boolean,
  ) {
    this.#tokens = tokens;
    this.#definitions = definitions;
    this.#isFunction = isFunction;
  }

  source(name: string): ListNode {
    const root: ListNode = { kind: 'list', pos: 0, nodes: [] };
    while (this.#tokens.peek().kind !== 'eof') {
      if (this.#tokens.peek().kind === 'left') {
        const mark = this.#tokens.mark();
        this.#tokens.next();
        const token = this.#tokens.nextNonSpace();
        if (token.kind === 'keyword' && token.text === 'define') {
          this.#child().#definition();
          continue;
        }
        this.#tokens.reset(mark);
      }
      const node = this.#statement();
      if (node.kind === 'end' || node.kind === 'else')
        return this.#tokens.fail(`unexpected {{${node.kind}}}`);
      root.nodes.push(node);
    }
    this.#define(name, root);
    return this.#definitions.get(name) ?? root;
  }

  #child(): Parser {
    return new Parser(this.#tokens, this.#definitions, this.#isFunction);
  }

  #define(name: string, body: ListNode): void {
    const present = this.#definitions.get(name);
    if (present === undefined || isEmpty(present)) this.#definitions.set(name, body);
    else if (!isEmpty(body)) {
      this.#tokens.fail(`template: multiple definition of template ${quoteString(name)}`);
    }
  }

  #definition(): void {
    const name = this.#templateName('define clause');
    this.#tokens.expectRight('define clause');
    const { list, end } = this.#list();
    if (end.kind !== 'end') this.#tokens.fail(`unexpected {{${end.kind}}} in define clause`);
    this.#define(name, list);
  }

  #templateName(context: string): string {
    const token = this.#tokens.nextNonSpace();
    return token.kind === 'string' ? unquote(token.text) : this.#tokens.unexpected(token, context);
  }

  #list(): { list: ListNode; end: Terminator } {
    const list: ListNode = { kind: 'list', pos: this.#tokens.peekNonSpace().pos, nodes: [] };
    while (this.#tokens.peekNonSpace().kind !== 'eof') {
      const node = this.#statement();
      if (node.kind === 'end' || node.kind === 'else') return { list, end: node };
      list.nodes.push(node);
    }
    return this.#tokens.fail('unexpected EOF');
  }

  #statement(): Statement | Terminator {
    const token = this.#tokens.nextNonSpace();
    if (token.kind === 'text') return { kind: 'text', pos: token.pos, text: token.text };
    if (token.kind !== 'left') return this.#tokens.unexpected(token, 'input');
    this.#tokens.actionLine = token.line;
    const node = this.#action();
    this.#tokens.actionLine = 0;
    return node;
  }

  #action(): Statement | Terminator {
    const token = this.#tokens.nextNonSpace();
    if (token.kind === 'keyword') return this.#control(token.text, token.pos);
    this.#tokens.backup();
    const pos = this.#tokens.peek().pos;
    return { kind: 'action', pos, pipe: this.#pipeline('command') };
  }

  #control(keyword: string, pos: number): Statement | Terminator {
    switch (keyword) {
      case 'if':
      case 'with':
      case 'range':
        return this.#branch(keyword);
      case 'else': {
        const next = this.#tokens.peekNonSpace();
        if (next.kind === 'keyword' && (next.text === 'if' || next.text === 'with')) {
          return { kind: 'else', pos: next.pos };
        }
        return { kind: 'else', pos: this.#tokens.expectRight('else').pos };
      }
      case 'end':
        return { kind: 'end', pos: this.#tokens.expectRight('end').pos };
      case 'break':
      case 'continue': {
        this.#tokens.expectRight(`{{${keyword}}}`);
        if (this.#rangeDepth === 0) this.#tokens.fail(`{{${keyword}}} outside {{range}}`);
        return { kind: keyword, pos };
      }
      case 'template':
        return this.#template();
      case 'block':
        return this.#block();
      default:
        this.#tokens.backup();
        return this.#tokens.unexpected(this.#tokens.peek(), 'command');
    }
  }

  #pipeline(context: string): PipeNode {
    return parsePipeline(
      { tokens: this.#tokens, variables: this.#variables, isFunction: this.#isFunction },
      context,
      'right',
    );
  }

  #branch(kind: 'if' | 'with' | 'range'): Statement {
    const outer = this.#variables.length;
    const pipe = this.#pipeline(kind);
    if (kind === 'range') this.#rangeDepth++;
    const { list, end } = this.#list();
    if (kind === 'range') this.#rangeDepth--;
    const otherwise = end.kind === 'else' ? this.#otherwise(kind, end) : undefined;
    this.#variables.length = outer;
    return { kind, pos: pipe.pos, pipe, list, otherwise };
  }

  /** After `{{else`: a list, or the rest of `else if` and `else with`, which share the `{{end}}`. */
  #otherwise(kind: 'if' | 'with' | 'range', start: Terminator): ListNode {
    const next = this.#tokens.peek();
    if (kind !== 'range' && next.kind === 'keyword' && next.text === kind) {
      this.#tokens.next();
      return { kind: 'list', pos: start.pos, nodes: [this.#branch(kind)] };
    }
    const { list, end } = this.#list();
    if (end.kind !== 'end') this.#tokens.fail(`expected end; found {{${end.kind}}}`);
    return list;
  }

  #template(): Statement {
    const pos = this.#tokens.peekNonSpace().pos;
    const name = this.#templateName('template clause');
    if (this.#tokens.nextNonSpace().kind === 'right') return { kind: 'template', pos, name, pipe: undefined };
    this.#tokens.backup();
    return { kind: 'template', pos, name, pipe: this.#pipeline('template clause') };
  }

  #block(): Statement {
    const pos = this.#tokens.peekNonSpace().pos;
    const name = this.#templateName('block clause');
    const pipe = this.#pipeline('block clause');
    const line = this.#tokens.line;
    const child = this.#child();
    const { list, end } = child.#list();
    // Go reports the line where the clause starts, not where it ends.
    if (end.kind !== 'end') this.#tokens.fail(`unexpected {{${end.kind}}} in block clause`, line);
    child.#define(name, list);
    return { kind: 'template', pos, name, pipe };
  }
}
