/** Builds the tree of a YAML document from its tokens, as libyaml does: same texts accepted, same complaints. */
import { yamlErrorAt } from './yaml-error.ts';
import { YamlScanner, type YamlScanOptions } from './yaml-scan.ts';
import type { YamlToken, YamlTokenKind } from './yaml-tokens.ts';

export interface ScalarNode {
  readonly kind: 'scalar';
  /** 0-based. */
  readonly line: number;
  readonly value: string;
  /** The full tag; empty when there is none. */
  readonly tag: string;
  /** Whether it may be something else than text. */
  readonly isPlain: boolean;
  /** Where it begins in the text, at its quote or block sign; undefined when nothing is written. */
  readonly index?: number | undefined;
}
interface SequenceNode {
  readonly kind: 'sequence';
  readonly line: number;
  readonly items: YamlNode[];
}
export interface MappingNode {
  readonly kind: 'mapping';
  readonly line: number;
  /** Keys and values by turns. */
  readonly items: YamlNode[];
}
export interface AliasNode {
  readonly kind: 'alias';
  readonly line: number;
  readonly name: string;
  readonly target: YamlNode;
}
export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode;

const MAX_DEPTH = 1000;
const AFTER_BLOCK_ENTRY = new Set<YamlTokenKind>(['entry', 'block-end']);
const AFTER_LOOSE_ENTRY = new Set<YamlTokenKind>(['entry', 'key', 'value', 'block-end']);
const AFTER_BLOCK_KEY = new Set<YamlTokenKind>(['key', 'value', 'block-end']);
const AFTER_FLOW_KEY = new Set<YamlTokenKind>(['value', 'flow-entry', 'mapping-end']);
const AFTER_FLOW_VALUE = new Set<YamlTokenKind>(['flow-entry', 'mapping-end']);
const AFTER_PAIR_KEY = new Set<YamlTokenKind>(['value', 'flow-entry', 'sequence-end']);
const AFTER_PAIR_VALUE = new Set<YamlTokenKind>(['flow-entry', 'sequence-end']);

/** What stands before a node. */
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
    if (!isBare) {
      this.#directives();
      if (this.#peek().kind !== 'document-start') this.#fail('did not find expected <document start>');
      this.#scanner.skip();
    }
    const node = this.#content(isBare);
    if (this.#peek().kind === 'document-end') this.#scanner.skip();
    return node;
  }

  #content(isBare: boolean): YamlNode {
    const { kind, line } = this.#peek();
    const ends: readonly YamlTokenKind[] = [
      'version',
      'tag-directive',
      'document-start',
      'document-end',
      'stream-end',
    ];
    return !isBare && ends.includes(kind) ? empty(line) : this.#node('block');
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

  /** @param context `loose` is a place where a list may stand at the indentation of its key */
  #node(context: 'block' | 'loose' | 'flow'): YamlNode {
    const token = this.#peek();
    if (token.kind === 'alias') {
      const target = this.#anchors.get(token.value);
      if (!target) throw yamlErrorAt(`unknown anchor '${token.value}' referenced`, token.line);
      this.#scanner.skip();
      return { kind: 'alias', line: token.line, name: token.value, target };
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
    const { kind, line } = this.#peek();
    if (kind === 'entry' && context === 'loose') return this.#looseSequence(properties);
    if (kind === 'scalar') return this.#scalar(properties);
    if (kind === 'sequence') return this.#flowSequence(properties);
    if (kind === 'mapping') return this.#flowMapping(properties);
    if (kind === 'block-sequence' && context !== 'flow') return this.#blockSequence(properties);
    if (kind === 'block-mapping' && context !== 'flow') return this.#blockMapping(properties);
    if (properties.anchor === undefined && properties.tag === '')
      this.#fail('did not find expected node content');
    return this.#remember(properties, { ...empty(line), tag: properties.tag });
  }

  #remember<T extends YamlNode>({ anchor }: Properties, node: T): T {
    if (anchor !== undefined) this.#anchors.set(anchor, node);
    return node;
  }

  #scalar(properties: Properties): ScalarNode {
    const { line, value, isPlain, index } = this.#peek();
    this.#scanner.skip();
    const { tag } = properties;
    return this.#remember(properties, {
      kind: 'scalar',
      line,
      value,
      tag,
      isPlain: tag === '!' || (tag === '' && isPlain),
      index,
    });
  }

  #sequence(properties: Properties): SequenceNode {
    return this.#remember(properties, { kind: 'sequence', line: this.#peek().line, items: [] });
  }

  #mapping(properties: Properties): MappingNode {
    return this.#remember(properties, { kind: 'mapping', line: this.#peek().line, items: [] });
  }

  #blockSequence(properties: Properties): SequenceNode {
    const node = this.#sequence(properties);
    let token = this.#next();
    while (token.kind === 'entry') {
      const { line } = token;
      const isEmpty = AFTER_BLOCK_ENTRY.has(this.#next().kind);
      node.items.push(isEmpty ? empty(line) : this.#node('block'));
      token = this.#peek();
    }
    if (token.kind !== 'block-end') this.#fail("did not find expected '-' indicator");
    this.#scanner.skip();
    return node;
  }

  /** A list at the indentation of its key: no token marks its end. */
  #looseSequence(properties: Properties): SequenceNode {
    const node = this.#sequence(properties);
    for (let token = this.#peek(); token.kind === 'entry'; token = this.#peek()) {
      const { line } = token;
      const isEmpty = AFTER_LOOSE_ENTRY.has(this.#next().kind);
      node.items.push(isEmpty ? empty(line) : this.#node('block'));
    }
    return node;
  }

  #blockMapping(properties: Properties): MappingNode {
    const node = this.#mapping(properties);
    let token = this.#next();
    while (token.kind === 'key') {
      const { line } = token;
      const key = AFTER_BLOCK_KEY.has(this.#next().kind) ? empty(line) : this.#node('loose');
      node.items.push(key, this.#blockValue());
      token = this.#peek();
    }
    if (token.kind !== 'block-end') this.#fail('did not find expected key');
    this.#scanner.skip();
    return node;
  }

  #blockValue(): YamlNode {
    const { kind, line } = this.#peek();
    if (kind !== 'value') return empty(line);
    return AFTER_BLOCK_KEY.has(this.#next().kind) ? empty(line) : this.#node('loose');
  }

  #flowSequence(properties: Properties): SequenceNode {
    const node = this.#sequence(properties);
    let token = this.#next();
    while (token.kind !== 'sequence-end') {
      if (node.items.length > 0) token = this.#afterEntry(token, "did not find expected ',' or ']'");
      if (token.kind === 'key') node.items.push(this.#pair(token.line));
      else if (token.kind !== 'sequence-end') node.items.push(this.#node('flow'));
      token = this.#peek();
    }
    this.#scanner.skip();
    return node;
  }

  #afterEntry(token: YamlToken, problem: string): YamlToken {
    return token.kind === 'flow-entry' ? this.#next() : this.#fail(problem);
  }

  /** `[a: b]`: a map of one entry in a list. */
  #pair(line: number): MappingNode {
    const first = this.#next();
    let key: YamlNode = empty(first.line);
    if (AFTER_PAIR_KEY.has(first.kind)) this.#scanner.skip();
    else key = this.#node('flow');
    const token = this.#peek();
    const isEmpty = token.kind !== 'value' || AFTER_PAIR_VALUE.has(this.#next().kind);
    return { kind: 'mapping', line, items: [key, isEmpty ? empty(token.line) : this.#node('flow')] };
  }

  #flowMapping(properties: Properties): MappingNode {
    const node = this.#mapping(properties);
    let token = this.#next();
    while (token.kind !== 'mapping-end') {
      if (node.items.length > 0) token = this.#afterEntry(token, "did not find expected ',' or '}'");
      if (token.kind === 'key') {
        const { line } = token;
        const key = AFTER_FLOW_KEY.has(this.#next().kind) ? empty(line) : this.#node('flow');
        node.items.push(key, this.#flowValue());
      } else if (token.kind !== 'mapping-end') node.items.push(this.#node('flow'), empty(token.line));
      token = this.#peek();
    }
    this.#scanner.skip();
    return node;
  }

  #flowValue(): YamlNode {
    const { kind, line } = this.#peek();
    if (kind !== 'value') return empty(line);
    return AFTER_FLOW_VALUE.has(this.#next().kind) ? empty(line) : this.#node('flow');
  }
}

const empty = (line: number): ScalarNode => ({ kind: 'scalar', line, value: '', tag: '', isPlain: true });
