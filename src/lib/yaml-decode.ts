/** Converts a YAML tree to JSON: resolves scalars, keys, merges and aliases as go-yaml and sigs.k8s.io/yaml do. */
import { survivesDouble } from './exact-json.ts';
import { formatGoFloat } from './go-float.ts';
import { excessiveAliasing, IntegerTooLong, tooMuchAliased, YamlError, yamlErrorAt } from './yaml-error.ts';
import type { YamlBudget } from './yaml-budget.ts';
import type { AliasNode, MappingNode, ScalarNode, YamlNode } from './yaml-parse.ts';
import { fieldOf, goText, innerOf, yamlFloatKey, type YamlStrings } from './yaml-strings.ts';
import { isYamlBool, isYamlDate, isYamlNull, yamlBool, yamlFloat, yamlInteger } from './yaml-scalars.ts';

export interface YamlOptions {
  /** How integers beyond ±(2^53 - 1) are handled; default `refuse`, unless they keep their digits as a double. */
  readonly integers?: 'refuse' | 'exact' | 'rounded';
  /** Scalars that a Go program reads as strings; default: none. */
  readonly strings?: YamlStrings | undefined;
  /** Limits the result, with its aliases expanded; several texts may share it. Default: go-yaml's limits only. */
  readonly budget?: YamlBudget;
}

type Scalar = string | number | bigint | boolean | null;
type ScalarType = 'null' | 'bool' | 'int' | 'float' | 'str' | 'timestamp';

const PREFIX = 'tag:yaml.org,2002:';
const RESOLVABLE = new Set<string>(['null', 'bool', 'int', 'float', 'str', 'timestamp']);

/** go-yaml's limits for the part of a document that is expanded from aliases. */
const FEW_NODES = 400_000;
const MANY_NODES = 4_000_000;
/**
 * Maximum number of characters of scalars that are expanded from aliases; not in go-yaml. An aliased string is in
 * memory once, but JSON of the document contains it for each alias.
 */
const MAX_ALIASED_MIB = 16;

/** The value of an unquoted string. */
function resolve(text: string): Scalar {
  if (isYamlNull(text)) return null;
  if (isYamlBool(text)) return yamlBool(text);
  return yamlInteger(text) ?? yamlFloat(text) ?? text;
}

function typeOf(value: Scalar): ScalarType {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  return typeof value === 'number' ? 'float' : 'str';
}

export class YamlDecoder {
  readonly #integers: 'refuse' | 'exact' | 'rounded';
  readonly #budget: YamlBudget | undefined;
  readonly #strings: YamlStrings | undefined;
  /** Targets of the aliases that are being expanded. */
  readonly #open = new Set<YamlNode>();
  /** The outermost of these aliases, in the document itself. */
  #outermost: AliasNode | undefined;
  #nodes = 0;
  #fromAliases = 0;
  #aliasedCharacters = 0;

  constructor(options: YamlOptions) {
    this.#integers = options.integers ?? 'refuse';
    this.#budget = options.budget;
    this.#strings = options.strings;
  }

  /** @throws YamlError */
  decode(node: YamlNode): unknown {
    return this.#decode(node, this.#strings);
  }

  #decode(node: YamlNode, strings: YamlStrings | undefined): unknown {
    this.#count();
    if (node.kind !== 'alias')
      this.#budget?.takeValue(node.kind === 'scalar' ? node.value.length : 0, node.line);
    switch (node.kind) {
      case 'scalar':
        return this.#value(node, strings);
      case 'sequence':
        return node.items.map((item) => this.#decode(item, innerOf(strings)));
      case 'mapping':
        return this.#mapping(node, strings);
      default:
        return this.#alias(node, () => this.#decode(node.target, strings));
    }
  }

  #count(): void {
    this.#nodes++;
    if (!this.#outermost) return;
    this.#fromAliases++;
    if (this.#fromAliases <= 100 || this.#nodes <= 1000) return;
    const share = Math.min(Math.max((this.#nodes - FEW_NODES) / (MANY_NODES - FEW_NODES), 0), 1);
    if (this.#fromAliases / this.#nodes > 0.99 - 0.89 * share) throw excessiveAliasing(this.#outermost);
  }

  #repeat({ value }: ScalarNode, alias: AliasNode | undefined): void {
    if (!alias) return;
    this.#aliasedCharacters += value.length;
    if (this.#aliasedCharacters > MAX_ALIASED_MIB << 20) throw tooMuchAliased(alias, MAX_ALIASED_MIB);
  }

  #alias<T>(node: AliasNode, follow: () => T): T {
    const { name, target, line } = node;
    if (this.#open.has(target)) throw yamlErrorAt(`anchor '${name}' value contains itself`, line);
    const outer = this.#outermost;
    this.#outermost ??= node;
    this.#open.add(target);
    const value = follow();
    this.#open.delete(target);
    this.#outermost = outer;
    return value;
  }

  #scalar({ value: text, tag, isPlain, line }: ScalarNode): Scalar {
    if (tag === '') return isPlain ? resolve(text) : text;
    if (!tag.startsWith(PREFIX)) return text;
    const wanted = tag.slice(PREFIX.length);
    if (wanted === 'binary') return decodeBinary(text, line);
    if (wanted === 'str' || !RESOLVABLE.has(wanted)) return text;
    const value = resolve(text);
    const type = typeOf(value);
    if (type === wanted || (wanted === 'timestamp' && isYamlDate(text))) return value;
    if (type === 'int' && wanted === 'float') return Number(value);
    throw yamlErrorAt(`cannot decode !!${type} \`${text}\` as a !!${wanted}`, line);
  }

  #value(node: ScalarNode, strings: YamlStrings | undefined): Scalar {
    this.#repeat(node, this.#outermost);
    const value = this.#scalar(node);
    if (typeof strings === 'string') return goText(value, strings);
    if (typeof value === 'bigint') return this.#integer(value, node.line);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new YamlError(`json: unsupported value: ${formatGoFloat(value, 'g')}`, node.line + 1);
    }
    return value;
  }

  #integer(value: bigint, line: number): bigint | number {
    const number = Number(value);
    if (Number.isSafeInteger(number) || this.#integers === 'rounded') return number;
    if (this.#integers === 'exact') return value;
    if (survivesDouble(value.toString())) return number;
    const at = String(line + 1);
    throw new IntegerTooLong(
      `yaml: line ${at}: integer ${value.toString()} is beyond 2^53 and would lose digits; write it as a string, in quotes`,
      line + 1,
    );
  }

  #mapping(node: MappingNode, strings: YamlStrings | undefined): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#fill(map, node, strings);
    return map;
  }

  /** Later entries win, and a merge counts at its position. */
  #fill(map: Record<string, unknown>, { items }: MappingNode, strings: YamlStrings | undefined): void {
    for (let i = 0; i < items.length; i += 2) {
      const key = items[i] as YamlNode;
      const value = items[i + 1] as YamlNode;
      if (isMerge(key)) this.#merge(map, value, strings);
      else {
        const written = this.key(key, value);
        const field = fieldOf(strings, written);
        const decoded = this.#decode(value, innerOf(strings, field));
        // Go finds a field in any case, but prefers its exact name.
        if (field === written || !Object.hasOwn(map, field)) setOwn(map, field, decoded);
      }
    }
  }

  #merge(map: Record<string, unknown>, node: YamlNode, strings: YamlStrings | undefined): void {
    const sources = node.kind === 'sequence' ? [...node.items].reverse() : [node];
    for (const source of sources) {
      this.#count();
      const target = source.kind === 'alias' ? source.target : source;
      if (target.kind !== 'mapping') {
        throw yamlErrorAt('map merge requires map or sequence of maps as the value', source.line);
      }
      if (source.kind !== 'alias') this.#fill(map, target, strings);
      else
        this.#alias(source, () => {
          this.#fill(map, target, strings);
        });
    }
  }

  /** JSON keys are strings. @param value the value of the key, for the message @throws YamlError */
  key(node: YamlNode, value?: YamlNode): string {
    this.#count();
    const target = node.kind === 'alias' ? node.target : node;
    if (target.kind !== 'scalar') throw yamlErrorAt('invalid map key: a list or a map', node.line);
    this.#budget?.takeKey(target.value.length, node.line);
    this.#repeat(target, this.#outermost ?? (node.kind === 'alias' ? node : undefined));
    const key = this.#scalar(target);
    if (typeof key === 'number') return yamlFloatKey(key);
    if (key !== null && !(typeof key === 'bigint' && key >= 2n ** 63n)) return String(key);
    const of = value?.kind === 'scalar' ? `, value: ${JSON.stringify(value.value)}` : '';
    const what = key === null ? '%!s(<nil>), key: <nil>' : `uint64, key: ${key.toString()}`;
    throw new YamlError(`unsupported map key of type: ${what}${of}`, node.line + 1);
  }
}

const isMerge = (node: YamlNode): boolean =>
  node.kind === 'scalar' && node.value === '<<' && (node.isPlain || node.tag === `${PREFIX}merge`);

/** `__proto__` is a normal key. */
function setOwn(map: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') map[key] = value;
  else Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
}

function decodeBinary(text: string, line: number): string {
  if (!/^[A-Za-z0-9+/\s]*(?:={1,2}\s*)?$/.test(text)) {
    throw yamlErrorAt('!!binary value contains invalid base64 data', line);
  }
  return Buffer.from(text, 'base64').toString('utf8');
}
