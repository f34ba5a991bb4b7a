/** YAML like sigs.k8s.io/yaml, for template values. */
import { hasControlCharacters, parseYaml, toYaml, YamlError } from '../../../lib/yaml.ts';
import { FunctionError } from '../errors.ts';
import { fromJson, type Value } from '../values.ts';
import { toPlain } from './json.ts';

/** The value without the last line break; an empty string if it cannot be formatted, as in upstream. */
export function writeYaml(value: Value): string {
  try {
    const plain = toPlain(value);
    return hasControlCharacters(asJson(plain)) ? '' : toYaml(plain).replace(/\n$/, '');
  } catch (error) {
    if (error instanceof FunctionError || error instanceof TypeError) return '';
    throw error;
  }
}

/**
 * Upstream formats JSON first and parses that as YAML, which refuses characters that JSON does not escape, such as
 * U+009F.
 */
const asJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? '';

/** Integers beyond 2^53 stay exact; upstream rounds them. */
export function readYaml(text: string): Value {
  try {
    return fromJson(parseYaml(text, { integers: 'exact' }));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new FunctionError(`error converting YAML to JSON: ${error.message}`, { cause: error });
  }
}
