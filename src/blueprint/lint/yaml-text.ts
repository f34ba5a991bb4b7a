/**
 * A YAML text with the positions of all values; if a path does not exist, it returns the position of the nearest
 * parent.
 */
import { decodeYaml, yamlKey, yamlNodes, type YamlNode } from '../../lib/yaml.ts';
import { Source, type Embedding, type Place } from './source.ts';

export type Path = readonly (string | number)[];

interface Found {
  readonly key: YamlNode | undefined;
  readonly value: YamlNode;
}

/** A document as JSON and as source text. */
interface ReadYaml {
  readonly value: unknown;
  readonly document: YamlText;
}

/** The first document of a string; null if it is empty. Further documents are ignored. @throws YamlError */
export function readYaml(source: Source): ReadYaml {
  const document = YamlText.of(source);
  return { value: document.decode(), document };
}

/** All documents of a string. @throws YamlError */
export const readYamlAll = (source: Source): readonly ReadYaml[] =>
  YamlText.all(source).map((document) => ({ value: document.decode(), document }));

export class YamlText {
  readonly source: Source;
  readonly #root: YamlNode | undefined;
  readonly #base: Path;

  private constructor(source: Source, root: YamlNode | undefined, base: Path = []) {
    this.source = source;
    this.#root = root;
    this.#base = base;
  }

  /** The first document of a string. @throws YamlError */
  static of(source: Source): YamlText {
    const [root] = yamlNodes(source.text);
    return new YamlText(source, root);
  }

  /** @throws YamlError */
  static all(source: Source): readonly YamlText[] {
    return [...yamlNodes(source.text)].map((root) => new YamlText(source, root));
  }

  /** The whole document as JSON. @throws YamlError */
  decode(): unknown {
    return this.#root ? decodeYaml(this.#root) : null;
  }

  /** The part of this document below a path. */
  below(path: Path): YamlText {
    return new YamlText(this.source, this.#root, [...this.#base, ...path]);
  }

  /** Position of a field or an element: its name, or the value itself. */
  at(path: Path, part: 'key' | 'value' = 'value'): Place {
    const all = [...this.#base, ...path];
    for (let end = all.length; end >= 0; end--) {
      const found = this.#find(all.slice(0, end));
      if (!found) continue;
      const isKey = part === 'key' || end < all.length;
      return this.#placeOf(isKey ? (found.key ?? found.value) : found.value);
    }
    return this.source.place(0);
  }

  /** The string value of a field as a source, with positions in this text; undefined if it is not a string. */
  textAt(path: Path, text: string): Source | undefined {
    const found = this.#find([...this.#base, ...path]);
    const node = found && targetOf(found.value);
    if (node?.kind !== 'scalar') return undefined;
    return new Source(this.source.file, text, this.#embeddingOf(node, text));
  }

  /** The source text of a whole field, and the offset at which it begins. */
  sliceAt(path: Path): { readonly text: string; readonly offset: number } | undefined {
    const found = this.#find([...this.#base, ...path]);
    if (!found) return undefined;
    const { start, end } = targetOf(found.value);
    return { text: this.source.text.slice(start, end), offset: start };
  }

  /** Duplicate names in a map; the positions are those of the later ones, which win. */
  repeatedKeys(): readonly { readonly key: string; readonly place: Place }[] {
    const repeated: { key: string; place: Place }[] = [];
    const visit = (node: YamlNode): void => {
      if (node.kind === 'sequence') node.items.forEach(visit);
      if (node.kind !== 'mapping') return;
      const seen = new Set<string>();
      for (const { key, value } of entriesOf(node)) {
        const name = yamlKey(key);
        if (seen.has(name)) repeated.push({ key: name, place: this.#placeOf(key) });
        if (name !== '<<') seen.add(name);
        visit(value);
      }
    };
    const found = this.#find(this.#base);
    if (found) visit(found.value);
    return repeated;
  }

  #find(path: Path): Found | undefined {
    if (!this.#root) return undefined;
    let found: Found = { key: undefined, value: this.#root };
    for (const step of path) {
      const next = childOf(targetOf(found.value), step);
      if (!next) return undefined;
      found = next;
    }
    return found;
  }

  /** The range to mark: a word, or the first character of a larger value. */
  #placeOf(node: YamlNode): Place {
    const isWord = node.kind === 'alias' || (node.kind === 'scalar' && !this.#isBlock(node));
    return this.source.place(node.start, isWord ? node.end - node.start : 1);
  }

  #isBlock({ start, end }: YamlNode): boolean {
    return start < end && '|>'.includes(this.source.text.charAt(start));
  }

  /**
   * Lines of a literal block correspond one to one, shifted by the indentation; a string in one line corresponds if
   * it has no escapes. For all others, the start of the text is reported.
   */
  #embeddingOf(node: YamlNode, text: string): Embedding {
    const { start, end } = node;
    const outer = this.source;
    if (this.#isBlock(node) && outer.text.charAt(start) === '|') {
      const first = outer.lineAt(start) + 1;
      return {
        outer,
        offset(line, column) {
          const inner = text.split('\n')[line] ?? '';
          const raw = outer.lineText(first + line);
          return outer.lineStart(first + line) + Math.max(0, raw.length - inner.length) + column;
        },
      };
    }
    const within = outer.text.slice(start, end).indexOf(text);
    const isVerbatim = !this.#isBlock(node) && within >= 0 && !text.includes('\n');
    return { outer, offset: (_line, column) => (isVerbatim ? start + within + column : start) };
  }
}

const targetOf = (node: YamlNode): YamlNode => (node.kind === 'alias' ? targetOf(node.target) : node);

interface Entry {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

const entriesOf = ({ items }: YamlNode & { kind: 'mapping' }): readonly Entry[] =>
  items.flatMap((key, i) => {
    const value = items[i + 1];
    return i % 2 === 0 && value ? [{ key, value }] : [];
  });

/**
 * The last field of that name, as in lib/yaml.ts; otherwise one that differs only in upper and lower case, as in
 * decode.ts.
 */
function childOf(node: YamlNode, step: string | number): Found | undefined {
  if (node.kind === 'sequence') {
    const value = typeof step === 'number' ? node.items[step] : undefined;
    return value && { key: undefined, value };
  }
  if (node.kind !== 'mapping' || typeof step === 'number') return undefined;
  const entries = entriesOf(node);
  return (
    entries.findLast(({ key }) => yamlKey(key) === step) ??
    entries.find(({ key }) => yamlKey(key).toLowerCase() === step.toLowerCase())
  );
}
