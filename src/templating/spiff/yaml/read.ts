/**
 * Parses Spiff's YAML. In this dialect, tags are ignored (`!!str 5` is 5), `<<` is a normal key (the evaluator
 * merges), keys must be strings, and `:` in a plain scalar in a flow collection is an error. Better than the
 * original: all characters are allowed, dates stay unchanged, aliases cannot fill the memory.
 */
import { parseYamlNodes, YamlError, type YamlNode } from '../../../lib/yaml.ts';
import { excessiveAliasing } from '../../../lib/yaml-error.ts';
import type { SpiffMap, SpiffValue } from '../value.ts';
import { readScalar, type YamlScalar } from './scalars.ts';

/** Maximum number of nodes that aliases may repeat in one document. */
const MAX_REPEATED = 100_000;

/**
 * The only document of a string; null if it is empty.
 * @throws YamlError
 */
export function readSpiffYaml(text: string): SpiffValue {
  const [document = null, ...others] = readSpiffYamlAll(text);
  if (others.length > 0) throw new YamlError('multi document not possible');
  return document;
}

/** All documents of a stream; an empty stream has one document with null. @throws YamlError */
export function readSpiffYamlAll(text: string): SpiffValue[] {
  const nodes = parseYamlNodes(text, { refusesColonInFlow: true });
  return nodes.length === 0 ? [null] : nodes.map((node) => new Reader().read(node));
}

type AliasNode = YamlNode & { readonly kind: 'alias' };

class Reader {
  /** Targets of the aliases that are being resolved. */
  readonly #open = new Set<YamlNode>();
  /** The outermost of these aliases, which is in the document itself. */
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
