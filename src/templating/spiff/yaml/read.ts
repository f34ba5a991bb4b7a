/**
 * Reads Spiff's YAML. It is a dialect: a tag means nothing (`!!str 5` is 5), `<<` is a key like any other (the
 * evaluator merges), keys must be text, and `:` inside of a text in a flow collection is an error.
 * Better than the original: any character may be used, dates stay as they are, aliases cannot fill the memory.
 */
import { parseYamlNodes, YamlError, type YamlNode } from '../../../lib/yaml.ts';
import { excessiveAliasing } from '../../../lib/yaml-error.ts';
import type { SpiffMap, SpiffValue } from '../value.ts';
import { readScalar, type YamlScalar } from './scalars.ts';

/** How many nodes aliases may repeat in one document. */
const MAX_REPEATED = 100_000;

/**
 * The only document of a text; null when it is empty.
 * @throws YamlError
 */
export function readSpiffYaml(text: string): SpiffValue {
  const [document = null, ...others] = readSpiffYamlAll(text);
  if (others.length > 0) throw new YamlError('multi document not possible');
  return document;
}

/** All documents of a stream; an empty one has one that is null. @throws YamlError */
export function readSpiffYamlAll(text: string): SpiffValue[] {
  const nodes = parseYamlNodes(text, { refusesColonInFlow: true });
  return nodes.length === 0 ? [null] : nodes.map((node) => new Reader().read(node));
}

type AliasNode = YamlNode & { readonly kind: 'alias' };

class Reader {
  /** Targets of the aliases that are being followed. */
  readonly #open = new Set<YamlNode>();
  /** The first of these aliases, which stands in the document itself. */
  #outermost: AliasNode | undefined;
  #repeated = 0;

  read(node: YamlNode): SpiffValue {
    if (this.#outermost && ++this.#repeated > MAX_REPEATED) throw excessiveAliasing(this.#outermost);
    switch (node.kind) {
      case 'scalar':
        return scalarOf(node);
      case 'sequence':
        return node.items.map((item) => this.read(item));
      case 'mapping':
        return this.#mapping(node.items);
      default:
        return this.#alias(node);
    }
  }

  #mapping(items: readonly YamlNode[]): SpiffMap {
    const map = new Map<string, SpiffValue>();
    for (let i = 0; i < items.length; i += 2) {
      map.set(keyOf(items[i] as YamlNode), this.read(items[i + 1] as YamlNode));
    }
    return map;
  }

  #alias(node: AliasNode): SpiffValue {
    const { target, name, line } = node;
    if (this.#open.has(target)) {
      throw new YamlError(`yaml: line ${String(line + 1)}: anchor '${name}' value contains itself`, line + 1);
    }
    const outer = this.#outermost;
    this.#outermost ??= node;
    this.#open.add(target);
    const value = this.read(target);
    this.#open.delete(target);
    this.#outermost = outer;
    return value;
  }
}

const scalarOf = ({ value, tag, isPlain }: YamlNode & { kind: 'scalar' }): YamlScalar =>
  tag === '' && !isPlain ? value : readScalar(value);

function keyOf(node: YamlNode): string {
  const target = node.kind === 'alias' ? node.target : node;
  if (target.kind === 'scalar') {
    const key = scalarOf(target);
    if (typeof key === 'string') return key;
    throw new YamlError(`map key must be a string: ${key === null ? '<nil>' : String(key)}`, node.line + 1);
  }
  throw new YamlError(
    `map key must be a string: a ${target.kind === 'sequence' ? 'list' : 'map'}`,
    node.line + 1,
  );
}
