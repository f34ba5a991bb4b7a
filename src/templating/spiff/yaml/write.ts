/** Formats Spiff's YAML: keys sorted by bytes, doubles in Go's shortest form, multi-line strings as block scalars. */
import { table } from '../../../lib/objects.ts';
import { byCodePoint } from '../../../lib/gojson.ts';
import { formatGoFloat } from '../../../lib/go-float.ts';
import { YamlEmitter, type YamlDialect } from '../../../lib/yaml-emit.ts';
import { isSpiffList, isSpiffMap, SpiffCallable, SpiffTemplate, type SpiffValue } from '../value.ts';
import { readScalar } from './scalars.ts';

/** Matches strings that other parsers of this dialect read as dates. */
const DATE =
  /^\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?)?)?)?$/;

const DIALECT: YamlDialect = {
  numberText: (value) => (typeof value === 'bigint' ? value.toString() : doubleText(value)),
  needsQuotes: (text) => typeof readScalar(text) !== 'string' || DATE.test(text),
  isBlock: (text) => /[\n\u0085\u2028\u2029]/.test(text),
  isAscii: true,
  keepsBreaks: true,
  compareKeys: byCodePoint,
  indentsLists: false,
  folds: true,
};

const SPECIAL: Readonly<Record<string, string>> = table({ NaN: '.nan', '+Inf': '+.inf', '-Inf': '-.inf' });

function doubleText(value: number): string {
  const text = formatGoFloat(value, 'g');
  return SPECIAL[text] ?? text;
}

/** The value as YAML, with a line break at the end. Lambdas and templates are written as expressions. */
export const writeSpiffYaml = (value: SpiffValue): string => new YamlEmitter(DIALECT).emit(plain(value));

/** Converts a value for the emitter: objects without a prototype. */
function plain(value: SpiffValue): unknown {
  if (isSpiffList(value)) return value.map(plain);
  if (isSpiffMap(value)) {
    const object = Object.create(null) as Record<string, unknown>;
    for (const [key, item] of value) object[key] = plain(item);
    return object;
  }
  return value instanceof SpiffCallable || value instanceof SpiffTemplate ? `(( ${value.text} ))` : value;
}
