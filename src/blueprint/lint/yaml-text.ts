/**
 * A YAML text with the places of everything in it. What the text means is read by lib/yaml.ts, as everywhere; this
 * second reading only tells where things stand, and answers with the nearest thing around when it is at a loss.
 */
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseAllDocuments,
  Scalar,
  type Document,
  type Node,
  type Pair,
} from 'yaml';
import { Source, type Embedding, type Place } from './source.ts';

export type Path = readonly (string | number)[];

interface Found {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}

export class YamlText {
  readonly source: Source;
  readonly #document: Document | undefined;
  readonly #base: Path;

  private constructor(source: Source, document: Document | undefined, base: Path) {
    this.source = source;
    this.#document = document;
    this.#base = base;
  }

  /** @param index which document of the text */
  static of(source: Source, index = 0): YamlText {
    return new YamlText(source, documentsOf(source.text)[index], []);
  }

  /** The part of this document below a path. */
  below(path: Path): YamlText {
    return new YamlText(this.source, this.#document, [...this.#base, ...path]);
  }

  /** Where a field or an element stands: its name, or the value itself. */
  at(path: Path, part: 'key' | 'value' = 'value'): Place {
    const all = [...this.#base, ...path];
    for (let end = all.length; end >= 0; end--) {
      const found = this.#find(all.slice(0, end));
      const node = part === 'key' || end < all.length ? (found?.key ?? found?.value) : found?.value;
      const range = (node ?? found?.key)?.range;
      if (range) return this.source.place(range[0], lengthOf(node, range));
    }
    return this.source.place(0);
  }

  /** The text of a field as a source of its own, whose places are those in this text; undefined when it is no text. */
  textAt(path: Path, text: string): Source | undefined {
    const node = this.#find([...this.#base, ...path])?.value;
    if (!isScalar(node) || !node.range) return undefined;
    return new Source(this.source.file, text, embeddingOf(this.source, node, text));
  }

  /** The source text of a whole field, and the offset at which it begins. */
  sliceAt(path: Path): { readonly text: string; readonly offset: number } | undefined {
    const range = this.#find([...this.#base, ...path])?.value?.range;
    return range ? { text: this.source.text.slice(range[0], range[1]), offset: range[0] } : undefined;
  }

  /** Names that a map has a second time; the places are those of the later ones, which win. */
  repeatedKeys(): readonly { readonly key: string; readonly place: Place }[] {
    const repeated: { key: string; place: Place }[] = [];
    const visit = (node: unknown): void => {
      if (isSeq(node)) node.items.forEach(visit);
      if (!isMap(node)) return;
      const seen = new Set<string>();
      for (const pair of node.items as readonly Pair<Node, Node>[]) {
        const key = keyOf(pair);
        const range = pair.key.range;
        if (seen.has(key) && range) {
          repeated.push({ key, place: this.source.place(range[0], lengthOf(pair.key, range)) });
        }
        if (key !== '<<') seen.add(key);
        visit(pair.value);
      }
    };
    visit(this.#find(this.#base)?.value);
    return repeated;
  }

  #find(path: Path): Found | undefined {
    const document = this.#document;
    if (!document) return undefined;
    let found: Found = { key: undefined, value: document.contents ?? undefined };
    for (const step of path) {
      const node = isAlias(found.value) ? found.value.resolve(document) : found.value;
      const next = typeof step === 'number' ? element(node, step) : field(node, step);
      if (!next) return undefined;
      found = next;
    }
    return found;
  }
}

const cache = new Map<string, readonly Document[]>();
const CACHE_SIZE = 16;

/** The same file is asked for by the blueprint in it, and by each of its parts. */
function documentsOf(text: string): readonly Document[] {
  const known = cache.get(text);
  if (known) return known;
  const options = { version: '1.1', uniqueKeys: false, strict: false, logLevel: 'silent' } as const;
  const parsed = parseAllDocuments(text, options);
  const documents = Array.isArray(parsed) ? (parsed as Document[]) : [];
  cache.set(text, documents);
  const [oldest] = cache.keys();
  if (cache.size > CACHE_SIZE && oldest !== undefined) cache.delete(oldest);
  return documents;
}

const keyOf = ({ key }: Pair<Node>): string =>
  isScalar(key) ? String(key.source ?? key.value) : String(key);

/** The last one of that name, as in lib/yaml.ts; else one that differs in capitals only, as in decode.ts. */
function field(node: unknown, name: string): Found | undefined {
  if (!isMap(node)) return undefined;
  const pairs = node.items as readonly Pair<Node, Node | null>[];
  const pair =
    pairs.findLast((one) => keyOf(one) === name || (isScalar(one.key) && String(one.key.value) === name)) ??
    pairs.find((one) => keyOf(one).toLowerCase() === name.toLowerCase());
  return pair && { key: pair.key, value: pair.value ?? undefined };
}

function element(node: unknown, index: number): Found | undefined {
  if (!isSeq(node)) return undefined;
  const item = node.items[index] as Node | undefined;
  return item && { key: undefined, value: item };
}

/** What is worth underlining: a word, or the first line of something larger. */
const lengthOf = (node: unknown, range: readonly [number, number, number]): number =>
  isScalar(node) && !isBlock(node) ? range[1] - range[0] : 1;

const isBlock = (node: Scalar): boolean =>
  node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED;

/**
 * Lines of a literal block correspond one to one, shifted by the indentation; a text on one line corresponds if no
 * escapes are in it. Everything else is told as the place where the text begins.
 */
function embeddingOf(outer: Source, node: Scalar, text: string): Embedding {
  const [start, end] = node.range ?? [0, 0, 0];
  const first = outer.lineAt(start) + 1;
  if (node.type === Scalar.BLOCK_LITERAL) {
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
  const isVerbatim = node.type !== Scalar.BLOCK_FOLDED && within >= 0 && !text.includes('\n');
  return { outer, offset: (_line, column) => (isVerbatim ? start + within + column : start) };
}
