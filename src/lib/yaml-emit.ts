/** Writes YAML as sigs.k8s.io/yaml does (the emitter of go-yaml 2): same quotes, folds and indentation. */
import { table } from './objects.ts';
import { formatGoFloat } from './go-float.ts';
import { analyzeText, compareKeys, isBreak, isPrintable } from './yaml-text.ts';
import { needsYamlQuotes } from './yaml-scalars.ts';

const BEST_WIDTH = 80;
const STEP = 2;
const MAX_SIMPLE_KEY = 128;

const ESCAPES: Readonly<Record<string, string>> = table({
  '\0': '0',
  '\u0007': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\u001b': 'e',
  '"': '"',
  '\\': '\\',
  '\u0085': 'N',
  '\u00a0': '_',
  '\u2028': 'L',
  '\u2029': 'P',
});

function escape(c: string): string {
  const named = ESCAPES[c];
  if (named !== undefined) return `\\${named}`;
  const code = c.codePointAt(0) as number;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** A number as JSON represents it, and as go-yaml reads and writes it. */
function numberText(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === 0) return '0';
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 64) {
    const digits = BigInt(value).toString();
    if (value >= -(2 ** 63)) return Math.abs(value) < 2 ** 53 ? digits : String(value);
  }
  return floatText(value);
}

/** A Go float: a million is `1e+06`. */
function floatText(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString();
  return formatGoFloat(value, 'g').replace('+Inf', '.inf').replace('-Inf', '-.inf').replace('NaN', '.nan');
}

/** Differences between programs that write YAML. */
export interface YamlDialect {
  readonly numberText: (value: number | bigint) => string;
  /** Whether a string must be quoted, because it would be read as another type. */
  readonly needsQuotes: (text: string) => boolean;
  /** Whether a string is written as a block, if possible. */
  readonly isBlock: (text: string) => boolean;
  /** Whether non-ASCII characters are written as escapes, in quotes. */
  readonly isAscii: boolean;
  /** Whether every block that ends with a line break is written with `|+`. */
  readonly keepsBreaks: boolean;
  readonly compareKeys: (a: string, b: string) => number;
  /** Whether lists are indented below their key. */
  readonly indentsLists: boolean;
  /** Whether long strings are folded. */
  readonly folds: boolean;
}

const GO_YAML: YamlDialect = {
  numberText,
  needsQuotes: needsYamlQuotes,
  isBlock: (text) => text.includes('\n'),
  isAscii: false,
  keepsBreaks: false,
  compareKeys,
  indentsLists: false,
  folds: true,
};

/** go-yaml 3. */
export const PRETTY_YAML: YamlDialect = {
  ...GO_YAML,
  numberText: floatText,
  indentsLists: true,
  folds: false,
};

/** The same with keys in their original order. */
export const GIVEN_YAML: YamlDialect = { ...PRETTY_YAML, indentsLists: false, compareKeys: () => 0 };

/** The text of a scalar, and whether it is a string, which may need quotes. */
interface Scalar {
  readonly text: string;
  readonly isString: boolean;
}

export class YamlEmitter {
  readonly #dialect: YamlDialect;
  #out = '';
  #column = 0;
  #indent = -1;
  #isWhitespace = true;
  #isIndention = true;

  constructor(dialect = GO_YAML) {
    this.#dialect = dialect;
  }

  /** @throws TypeError for values that JSON does not support */
  emit(value: unknown): string {
    this.#node(value, false);
    this.#indent = 0;
    this.#writeIndent();
    return this.#out;
  }

  #put(text: string): void {
    this.#out += text;
    this.#column += text.length;
  }

  #break(c = '\n'): void {
    this.#out += c;
    this.#column = 0;
  }

  #writeIndent(): void {
    const indent = Math.max(this.#indent, 0);
    if (!this.#isIndention || this.#column > indent || (this.#column === indent && !this.#isWhitespace))
      this.#break();
    if (this.#column < indent) this.#put(' '.repeat(indent - this.#column));
    this.#isWhitespace = true;
    this.#isIndention = true;
  }

  #indicator(
    text: string,
    style: { needsSpace: boolean; isWhitespace: boolean; isIndention: boolean },
  ): void {
    if (style.needsSpace && !this.#isWhitespace) this.#put(' ');
    this.#put(text);
    this.#isWhitespace = style.isWhitespace;
    this.#isIndention = this.#isIndention && style.isIndention;
  }

  #node(value: unknown, isInMapping: boolean): void {
    const json = typeof value === 'object' && value !== null && 'toJSON' in value ? toJson(value) : value;
    if (Array.isArray(json)) this.#sequence(json, isInMapping);
    else if (typeof json === 'object' && json !== null) this.#mapping(json);
    else this.#scalar(scalarOf(json, this.#dialect), false);
  }

  #sequence(items: readonly unknown[], isInMapping: boolean): void {
    if (items.length === 0) {
      this.#flow('[]');
      return;
    }
    const outer = this.#indent;
    this.#increase(false, !this.#dialect.indentsLists && isInMapping && !this.#isIndention);
    for (const item of items) {
      this.#writeIndent();
      this.#indicator('-', { needsSpace: true, isWhitespace: false, isIndention: true });
      this.#node(item === undefined ? null : item, false);
    }
    this.#indent = outer;
  }

  #increase(isFlow: boolean, isIndentless: boolean): void {
    if (this.#indent < 0) this.#indent = isFlow ? STEP : 0;
    else if (!isIndentless) this.#indent += STEP;
  }

  #flow(text: string): void {
    this.#indicator(text, { needsSpace: true, isWhitespace: false, isIndention: false });
  }

  #mapping(map: object): void {
    const entries = Object.entries(map).filter(([, value]) => value !== undefined);
    if (entries.length === 0) {
      this.#flow('{}');
      return;
    }
    const outer = this.#indent;
    this.#increase(false, false);
    entries.sort(([a], [b]) => this.#dialect.compareKeys(a, b));
    for (const [key, value] of entries) {
      this.#writeIndent();
      const isSimple = !analyzeText(key).isMultiline && Buffer.byteLength(key) <= MAX_SIMPLE_KEY;
      if (isSimple) this.#scalar({ text: key, isString: true }, true);
      else {
        this.#indicator('?', { needsSpace: true, isWhitespace: false, isIndention: true });
        this.#scalar({ text: key, isString: true }, false);
        this.#writeIndent();
      }
      this.#indicator(':', { needsSpace: !isSimple, isWhitespace: false, isIndention: !isSimple });
      this.#node(value, true);
    }
    this.#indent = outer;
  }

  #scalar({ text, isString }: Scalar, isKey: boolean): void {
    const outer = this.#indent;
    this.#increase(true, false);
    if (!isString) this.#plain(text, false);
    else this.#string(text.replace(/\p{Surrogate}/gu, '\ufffd'), isKey);
    this.#indent = outer;
  }

  #string(text: string, isKey: boolean): void {
    const analysis = analyzeText(text);
    if (this.#dialect.isAscii && !ASCII.test(text)) this.#double(text, !isKey);
    else if (this.#dialect.isBlock(text)) {
      if (analysis.block && !isKey) this.#literal(text);
      else this.#double(text, !isKey);
    } else if (this.#dialect.needsQuotes(text)) this.#double(text, !isKey);
    else if (analysis.isMultiline && isKey) this.#double(text, false);
    else if (analysis.plain) this.#plain(text, !isKey);
    else if (analysis.single) this.#single(text, !isKey);
    else this.#double(text, !isKey);
  }

  /** Whether a space at this position becomes a line break. */
  #isFold(chars: readonly string[], i: number, wasSpace: boolean): boolean {
    if (!this.#dialect.folds) return false;
    return chars[i] === ' ' && !wasSpace && this.#column > BEST_WIDTH && i > 0 && i < chars.length - 1;
  }

  #plain(text: string, canFold: boolean): void {
    if (!this.#isWhitespace) this.#put(' ');
    this.#words(text, canFold, (c) => c);
    this.#isWhitespace = false;
    this.#isIndention = false;
  }

  /** Folded text; Unicode line breaks in it start a new indented line. */
  #words(text: string, canFold: boolean, write: (c: string) => string): void {
    if (!isBreakable(text) && (!canFold || this.#column + text.length <= BEST_WIDTH)) {
      for (const c of text) this.#put1(write(c));
      return;
    }
    const chars = Array.from(text);
    let wasSpace = false;
    let wasBreak = false;
    chars.forEach((c, i) => {
      if (c === ' ') {
        if (canFold && this.#isFold(chars, i, wasSpace) && chars[i + 1] !== ' ') this.#writeIndent();
        else this.#put1(c);
        wasSpace = true;
      } else if (isBreak(c)) {
        this.#break(c);
        this.#isIndention = true;
        wasBreak = true;
      } else {
        if (wasBreak) this.#writeIndent();
        this.#put1(write(c));
        this.#isIndention = false;
        wasSpace = false;
        wasBreak = false;
      }
    });
  }

  /** One character, one column. */
  #put1(text: string): void {
    this.#out += text;
    this.#column += text.length > 1 && text.codePointAt(0) === text.codePointAt(1) ? 2 : 1;
  }

  #single(text: string, canFold: boolean): void {
    this.#indicator("'", { needsSpace: true, isWhitespace: false, isIndention: false });
    this.#words(text, canFold, (c) => (c === "'" ? "''" : c));
    this.#indicator("'", { needsSpace: false, isWhitespace: false, isIndention: false });
  }

  #double(text: string, canFold: boolean): void {
    this.#indicator('"', { needsSpace: true, isWhitespace: false, isIndention: false });
    const chars = Array.from(text);
    let wasSpace = false;
    chars.forEach((c, i) => {
      if (!isPrintable(c) || (this.#dialect.isAscii && c > '~') || isBreak(c) || c === '"' || c === '\\') {
        this.#put(escape(c));
        wasSpace = false;
      } else if (c === ' ') {
        if (canFold && this.#isFold(chars, i, wasSpace)) {
          this.#writeIndent();
          if (chars[i + 1] === ' ') this.#put('\\');
        } else this.#put(c);
        wasSpace = true;
      } else {
        this.#put1(c);
        wasSpace = false;
      }
    });
    this.#indicator('"', { needsSpace: false, isWhitespace: false, isIndention: false });
  }

  #literal(text: string): void {
    this.#indicator('|', { needsSpace: true, isWhitespace: false, isIndention: false });
    const plain = { needsSpace: false, isWhitespace: false, isIndention: false };
    if (text.startsWith(' ') || isBreak(text.charAt(0))) this.#indicator(String(STEP), plain);
    const last = text.at(-1) as string;
    if (!isBreak(last)) this.#indicator('-', plain);
    else if (this.#dialect.keepsBreaks || text.length === 1 || isBreak(text.at(-2) as string))
      this.#indicator('+', plain);
    this.#break();
    this.#isIndention = true;
    this.#isWhitespace = true;
    let wasBreak = true;
    for (const c of text) {
      if (isBreak(c)) {
        this.#break(c);
        this.#isIndention = true;
        wasBreak = true;
      } else {
        if (wasBreak) this.#writeIndent();
        this.#put1(c);
        this.#isIndention = false;
        wasBreak = false;
      }
    }
  }
}

const ASCII = /^[\x00-\x7f]*$/;
const isBreakable = (text: string): boolean => /[\r\u0085\u2028\u2029]/.test(text);

const toJson = (value: object): unknown => (value as { toJSON: () => unknown }).toJSON();

function scalarOf(value: unknown, dialect: YamlDialect): Scalar {
  switch (typeof value) {
    case 'string':
      return { text: value, isString: true };
    case 'number':
    case 'bigint':
      return { text: dialect.numberText(value), isString: false };
    case 'boolean':
      return { text: String(value), isString: false };
    case 'undefined':
      return { text: 'null', isString: false };
    case 'object':
      if (value === null) return { text: 'null', isString: false };
      break;
    default:
  }
  throw new TypeError(`a ${typeof value} cannot be written as YAML`);
}
