/** Functions that differ from those of Go templates. */
import { builtins } from '../gotemplate/builtins.ts';
import type { Env, FunctionTable } from '../gotemplate/env.ts';
import { readJson } from '../gotemplate/funcs/json.ts';
import { readYaml } from '../gotemplate/funcs/yaml.ts';
import { envFn, fn } from '../gotemplate/signature.ts';
import { GoInt, isTrue, type Value } from '../gotemplate/values.ts';
import { includeFile } from './eval.ts';
import { withIntegers } from './values.ts';

const isInteger = (value: Value): boolean => typeof value === 'bigint' || value instanceof GoInt;

/** Go never compares integers with doubles; Handlebars does. */
function comparable(values: readonly Value[]): readonly Value[] {
  const isNumeric = values.every((value) => typeof value === 'number' || isInteger(value));
  if (!isNumeric || values.every(isInteger)) return values;
  return values.map((value) => Number(value instanceof GoInt ? value.value : value));
}

const comparisons = Object.fromEntries(
  ['eq', 'ne', 'lt', 'le', 'gt', 'ge'].map((name) => [
    name,
    envFn('value value', (env: Env, a: Value, b: Value) => builtins[name]?.call(env, comparable([a, b]))),
  ]),
);

/** Overrides for functions of Go templates. */
export const handlebarsFunctions: FunctionTable = {
  ...comparisons,
  not: fn('any', (value: Value) => !isTrue(value)),
  include: envFn('string any', (env: Env, path: string, data: Value) => includeFile(env, path, data)),
  fromYaml: fn('string', (text: string) => withIntegers(readYaml(text))),
  mustFromJson: fn('string', (text: string) => withIntegers(readJson(text))),
  fromJson: fn('string', (text: string) => {
    try {
      return withIntegers(readJson(text));
    } catch {
      return null;
    }
  }),
};
