/** Builds the tree of a YAML document from its tokens, with the rules and messages of libyaml. */
import { yamlErrorAt } from './yaml-error.ts';
import { YamlScanner, type YamlScanOptions } from './yaml-scan.ts';
import type { YamlToken, YamlTokenKind } from './yaml-tokens.ts';

/** The position of a node in the text, without its anchor and tag. */
interface Extent {
  /** 0-based. */
  readonly line: number;
  /** Offset in UTF-16 code units; for a scalar that of its quote or block indicator. */
  readonly start: number;
  /** Offset after it; the same as `start` for an empty node. */
  end: number;
}
export interface ScalarNode extends Readonly<Extent> {
  readonly kind: 'scalar';
  readonly value: string;
  /** The full tag; empty if there is none. */
  readonly tag: string;
  /** Whether it can have another type than string. */
  readonly isPlain: boolean;
}
interface SequenceNode extends Extent {
  readonly kind: 'sequence';
  readonly items: YamlNode[];
}
export interface MappingNode extends Extent {
  readonly kind: 'mapping';
  /** Keys and values alternate. */
  readonly items: YamlNode[];
}
export interface AliasNode extends Readonly<Extent> {
  readonly kind: 'alias';
  readonly name: string;
  readonly target: YamlNode;
}
type Collection = SequenceNode | MappingNode;
export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

const MAX_DEPTH = 1000;
/** Tokens that follow an empty node. */
const AFTER_DOCUMENT_START = new Set<YamlTokenKind>([
  'version',
  'tag-directive',
  'document-start',
  'document-end',
  'stream-end',
]);
const AFTER_BLOCK_ENTRY = new Set<YamlTokenKind>(['entry', 'block-end']);
const AFTER_LOOSE_ENTRY = new Set<YamlTokenKind>(['entry', 'key', 'value', 'block-end']);
const AFTER_BLOCK_KEY = new Set<YamlTokenKind>(['key', 'value', 'block-end']);
const AFTER_FLOW_KEY = new Set<YamlTokenKind>(['value', 'flow-entry', 'mapping-end']);
const AFTER_FLOW_VALUE = new Set<YamlTokenKind>(['flow-entry', 'mapping-end']);
const AFTER_PAIR_KEY = new Set<YamlTokenKind>(['value', 'flow-entry', 'sequence-end']);
const AFTER_PAIR_VALUE = new Set<YamlTokenKind>(['flow-entry', 'sequence-end']);

/** Tag and anchor of a node. */
interface Properties {
  readonly anchor: string | undefined;
  readonly tag: string;
}

const NO_PROPERTIES: Properties = { anchor: undefined, tag: '' };

export class YamlParser {
  readonly #scanner: YamlScanner;
  #anchors = new Map<string, YamlNode>();
  #tags = new Map<string, string>();
  #depth = 0;
  #isFirst = true;

  constructor(text: string, options: YamlScanOptions = {}) {
    this.#scanner = new YamlScanner(text, options);
  }

  /** The next document; undefined at the end of the stream. @throws YamlError */
  document(): YamlNode | undefined {
    this.#anchors = new Map();
    this.#tags = new Map([
      ['!', '!'],
      ['!!', 'tag:yaml.org,2002:'],
    ]);
    let token = this.#peek();
    while (!this.#isFirst && token.kind === 'document-end') token = this.#next();
    if (token.kind === 'stream-end') return undefined;
    const isBare = this.#isFirst && !['version', 'tag-directive', 'document-start'].includes(token.kind);
    this.#isFirst = false;
    const node = isBare ? this.#node('block') : this.#marked();
    if (this.#peek().kind === 'document-end') this.#scanner.skip();
    return node;
  }

  /** A document that begins with `---`, possibly after directives. */
  #marked(): YamlNode {
    this.#directives();
    const { kind, end } = this.#peek();
    if (kind !== 'document-start') this.#fail('did not find expected <document start>');
    const next = this.#next();
    return AFTER_DOCUMENT_START.has(next.kind) ? empty(next.line, end) : this.#node('block');
  }

  #directives(): void {
    let hasVersion = false;
    const named = new Set<string>();
    for (let token = this.#peek(); ; token = this.#next()) {
      if (token.kind === 'version') {
        if (hasVersion) this.#fail('found duplicate %YAML directive');
        if (token.value !== '1.1') this.#fail('found incompatible YAML document');
        hasVersion = true;
      } else if (token.kind === 'tag-directive') {
        if (named.has(token.value)) this.#fail('found duplicate %TAG directive');
        named.add(token.value);
        this.#tags.set(token.value, token.suffix);
      } else return;
    }
  }

  #peek(): YamlToken {
    return this.#scanner.peek();
  }

  #next(): YamlToken {
    this.#scanner.skip();
    return this.#scanner.peek();
  }

  #fail(problem: string): never {
    throw yamlErrorAt(problem, this.#peek().line);
  }

  /** @param context `loose`: a list may have the indentation of its key */
  #node(context: 'block' | 'loose' | 'flow'): YamlNode {
    const token = this.#peek();
    if (token.kind === 'alias') {
      const target = this.#anchors.get(token.value);
      if (!target) throw yamlErrorAt(`unknown anchor '${token.value}' referenced`, token.line);
      this.#scanner.skip();
      const { line, start, end } = token;
      return { kind: 'alias', line, start, end, name: token.value, target };
    }
    if (++this.#depth > MAX_DEPTH) this.#fail(`exceeded max depth of ${String(MAX_DEPTH)}`);
    const node = this.#afterProperties(context, this.#properties());
    this.#depth--;
    return node;
  }

  #properties(): Properties {
    let token = this.#peek();
    if (token.kind !== 'anchor' && token.kind !== 'tag') return NO_PROPERTIES;
    let anchor: string | undefined;
    let tag = '';
    for (let i = 0; i < 2; i++) {
      if (token.kind === 'anchor' && anchor === undefined) anchor = token.value;
      else if (token.kind === 'tag' && tag === '') tag = this.#fullTag(token);
      else break;
      token = this.#next();
    }
    return { anchor, tag };
  }

  #fullTag({ value: handle, suffix, line }: YamlToken): string {
    if (handle === '') return suffix;
    const prefix = this.#tags.get(handle);
    if (prefix === undefined) throw yamlErrorAt('found undefined tag handle', line);
    return prefix + suffix;
  }

  #afterProperties(context: 'block' | 'loose' | 'flow', properties: Properties): YamlNode {
    const { kind, line, start } = this.#peek();
    if (kind === 'entry' && context === 'loose') return this.#looseSequence(properties);
    if (kind === 'scalar') return this.#scalar(properties);
    if (kind === 'sequence') return this.#flowSequence(properties);
    if (kind === 'mapping') return this.#flowMapping(properties);
    if (kind === 'block-sequence' && context !== 'flow') return this.#blockSequence(properties);
    if (kind === 'block-mapping' && context !== 'flow') return this.#blockMapping(properties);
    if (properties.anchor === undefined && properties.tag === '')
      this.#fail('did not find expected node content');
    return this.#remember(properties, { ...empty(line, start), tag: properties.tag });
  }

  #remember<T extends YamlNode>({ anchor }: Properties, node: T): T {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  #scalar(properties: Properties): ScalarNode {
    const { line, value, isPlain, start, end } = this.#peek();
    this.#scanner.skip();
    const { tag } = properties;
    return this.#remember(properties, {
      kind: 'scalar',
      line,
      start,
      end,
      value,
      tag,
      isPlain: tag === '!' || (tag === '' && isPlain),
    });
  }

  /** A list that begins at the next token. */
  #sequence(properties: Properties): SequenceNode {
    const { line, start, end } = this.#peek();
    return this.#remember(properties, { kind: 'sequence', line, start, end, items: [] });
  }

  #mapping(properties: Properties): MappingNode {
    const { line, start, end } = this.#peek();
    return this.#remember(properties, { kind: 'mapping', line, start, end, items: [] });
  }

  /** Ends a block at the end of its last item. */
  #endBlock(node: Collection, problem: string): void {
    if (this.#peek().kind !== 'block-end') this.#fail(problem);
    this.#scanner.skip();
    endAtLastItem(node);
  }

  #endFlow(node: Collection): void {
    node.end = this.#peek().end;
    this.#scanner.skip();
  }

  #blockSequence(properties: Properties): SequenceNode {
    const node = this.#sequence(properties);
    this.#scanner.skip();
    this.#entries(node, AFTER_BLOCK_ENTRY);
    this.#endBlock(node, "did not find expected '-' indicator");
    return node;
  }

  /** A list with the indentation of its key: no token marks its end. */
  #looseSequence(properties: Properties): SequenceNode {
    const node = this.#sequence(properties);
    this.#entries(node, AFTER_LOOSE_ENTRY);
    endAtLastItem(node);
    return node;
  }

  #entries({ items }: SequenceNode, ends: ReadonlySet<YamlTokenKind>): void {
    for (let token = this.#peek(); token.kind === 'entry'; token = this.#peek()) {
      const { line, end } = token;
      items.push(ends.has(this.#next().kind) ? empty(line, end) : this.#node('block'));
    }
  }

  #blockMapping(properties: Properties): MappingNode {
    const node = this.#mapping(properties);
    let token = this.#next();
    while (token.kind === 'key') {
      const { line, end } = token;
      const key = AFTER_BLOCK_KEY.has(this.#next().kind) ? empty(line, end) : this.#node('loose');
      node.items.push(key, this.#valueOf(key, 'loose', AFTER_BLOCK_KEY));
      token = this.#peek();
    }
    this.#endBlock(node, 'did not find expected key');
    return node;
  }

  #flowSequence(properties: Properties): SequenceNode {
    const node = this.#sequence(properties);
    let token = this.#next();
    while (token.kind !== 'sequence-end') {
      if (node.items.length > 0) token = this.#afterEntry(token, "did not find expected ',' or ']'");
      if (token.kind === 'key') node.items.push(this.#pair(token));
      else if (token.kind !== 'sequence-end') node.items.push(this.#node('flow'));
      token = this.#peek();
    }
    this.#endFlow(node);
    return node;
  }

  #afterEntry(token: YamlToken, problem: string): YamlToken {
    return token.kind === 'flow-entry' ? this.#next() : this.#fail(problem);
  }

  /** `[a: b]`: a map with one entry in a list. */
  #pair({ line, start, end }: YamlToken): MappingNode {
    const first = this.#next();
    let key: YamlNode = empty(first.line, end);
    if (AFTER_PAIR_KEY.has(first.kind)) this.#scanner.skip();
    else key = this.#node('flow');
    const value = this.#valueOf(key, 'flow', AFTER_PAIR_VALUE);
    return { kind: 'mapping', line, start, end: value.end, items: [key, value] };
  }

  #flowMapping(properties: Properties): MappingNode {
    const node = this.#mapping(properties);
    let token = this.#next();
    while (token.kind !== 'mapping-end') {
      if (node.items.length > 0) token = this.#afterEntry(token, "did not find expected ',' or '}'");
      if (token.kind === 'key') {
        const { line, end } = token;
        const key = AFTER_FLOW_KEY.has(this.#next().kind) ? empty(line, end) : this.#node('flow');
        node.items.push(key, this.#valueOf(key, 'flow', AFTER_FLOW_VALUE));
      } else if (token.kind !== 'mapping-end') {
        const { line } = token;
        const key = this.#node('flow');
        node.items.push(key, empty(line, key.end));
      }
      token = this.#peek();
    }
    this.#endFlow(node);
    return node;
  }

  /** @param ends tokens that follow an empty node */
  #valueOf(key: YamlNode, context: 'loose' | 'flow', ends: ReadonlySet<YamlTokenKind>): YamlNode {
    const { kind, line, end } = this.#peek();
    if (kind !== 'value') return empty(line, key.end);
    return ends.has(this.#next().kind) ? empty(line, end) : this.#node(context);
  }
}

function endAtLastItem(node: Collection): void {
  node.end = node.items.at(-1)?.end ?? node.end;
}

/** @param at offset of the missing node */
const empty = (line: number, at: number): ScalarNode => ({
  kind: 'scalar',
  line,
  start: at,
  end: at,
  value: '',
  tag: '',
  isPlain: true,
});
