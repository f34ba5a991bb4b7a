/**
 * The functions that Helm adds to Go's and sprig's: strings and data in several formats, templates by name, the
 * cluster.
 */
import { isObject } from '../../lib/objects.ts';
import { toYamlPretty } from '../../lib/yaml.ts';
import type { Env, FunctionTable } from '../gotemplate/env.ts';
import { FunctionError, TemplateParseError } from '../gotemplate/errors.ts';
import { COMPACT, readJson, toPlain, writeJson } from '../gotemplate/funcs/json.ts';
import { readYaml, writeYaml } from '../gotemplate/funcs/yaml.ts';
import { envFn, fn } from '../gotemplate/signature.ts';
import { addToSet, executeNamed, executeIn, parseTemplate } from '../gotemplate/template.ts';
import { fromJson, GoMap, nilList, isList, kindName, type Value } from '../gotemplate/values.ts';
import { readToml, writeToml } from './toml.ts';

/** The message of `required` and `fail` is between these marks, and is shown alone. */
export const WARN_START = 'HELM_ERR_START';
export const WARN_END = 'HELM_ERR_END';

/** How often a template may include itself, directly or through others. */
const MAX_INCLUDES = 1000;

/** An object of the cluster, a list of objects, or an empty map. Returns immediately; unknown lookups are recorded. */
export type Lookup = (wanted: LookupKey) => unknown;

export interface LookupKey {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  /** An empty result for all lookups. */
  readonly name: string;
}

const failure = (message: string): FunctionError => new FunctionError(`${WARN_START}${message}${WARN_END}`);

const withoutNoValue = (text: string): string => text.replaceAll('<no value>', '');

/** Like `read`, with the error as a value: the template checks for it there. */
function answering<T>(read: (text: string) => T, otherwise: (message: string) => T) {
  return fn('string', ((text: string) => {
    try {
      return read(text);
    } catch (error) {
      if (error instanceof FunctionError) return otherwise(error.message);
      throw error;
    }
  }) as never);
}

const errorMap = (message: string): Value => fromJson({ Error: message });
const errorList = (message: string): Value => [message];

/** Go's error message about JSON of another type. */
function expectType(value: Value, wanted: 'map' | 'list', prefix: string): Value {
  if (value === null || value === undefined) {
    // JSON's null makes the result nil; YAML's leaves it empty.
    const isJson = prefix === '';
    if (wanted === 'map') return isJson ? GoMap.nil('interface {}') : new GoMap();
    return isJson ? nilList() : [];
  }
  if (wanted === 'map' ? value instanceof GoMap : isList(value)) return value;
  const got =
    { map: 'object', slice: 'array', float64: 'number', int: 'number' }[kindName(value)] ?? kindName(value);
  const type = wanted === 'map' ? 'map[string]interface {}' : '[]interface {}';
  throw new FunctionError(`${prefix}json: cannot unmarshal ${got} into Go value of type ${type}`);
}

const YAML_PREFIX = 'error unmarshaling JSON: while decoding JSON: ';
const quietly = (write: (value: Value) => string) =>
  fn('any', (value: Value) => {
    try {
      return write(value);
    } catch (error) {
      if (error instanceof FunctionError || error instanceof TypeError) return '';
      throw error;
    }
  });

const dataFunctions: FunctionTable = {
  toYaml: fn('any', writeYaml),
  mustToYaml: fn('any', writeYaml),
  toYamlPretty: quietly((value) => toYamlPretty(toPlain(value)).replace(/\n$/, '')),
  fromYaml: answering((text) => expectType(readYaml(text), 'map', YAML_PREFIX), errorMap),
  fromYamlArray: answering((text) => expectType(readYaml(text), 'list', YAML_PREFIX), errorList),
  toJson: quietly((value) => writeJson(value, COMPACT)),
  fromJson: answering((text) => expectType(readJson(text), 'map', ''), errorMap),
  fromJsonArray: answering((text) => expectType(readJson(text), 'list', ''), errorList),
  toToml: fn('any', (value: Value) => {
    try {
      return writeToml(value);
    } catch (error) {
      if (error instanceof FunctionError) return error.message;
      throw error;
    }
  }),
  fromToml: answering(readToml as (text: string) => Value, errorMap),
};

function required(message: string, value: Value): Value {
  if (value === null || value === undefined || value === '') throw failure(message);
  return value;
}

const getHostByName = fn('string', () => '');

/** The functions for one rendering. */
export function helmFunctions(lookup: Lookup): FunctionTable {
  const counts = new Map<string, number>();
  const table: FunctionTable = {
    ...dataFunctions,
    getHostByName,
    required: fn('string any', required),
    fail: fn('string', (message: string) => {
      throw failure(message);
    }),
    lookup: fn(
      'string string string string',
      (apiVersion: string, kind: string, namespace: string, name: string) =>
        fromJson(objectOr(lookup({ apiVersion, kind, namespace, name }))),
    ),
    include: envFn('string any', (env: Env, name: string, data: Value) => {
      const count = counts.get(name) ?? 0;
      if (count > MAX_INCLUDES) {
        throw new FunctionError(
          `rendering template has a nested reference name: ${name}: unable to execute template`,
        );
      }
      counts.set(name, count + 1);
      try {
        return executeNamed(env, name, data ?? undefined);
      } finally {
        counts.set(name, count);
      }
    }),
    tpl: envFn('string any', (env: Env, text: string, data: Value) => tpl(env, text, data)),
  };
  return table;
}

const objectOr = (value: unknown): object => (isObject(value) ? value : {});

/** The string is a value, which may be secret, so error messages do not repeat it as Helm's do. */
function tpl(env: Env, text: string, data: Value): string {
  const outer = env.templates;
  const set = new Map(outer);
  try {
    const template = parseTemplate('gotpl', text, env.functions);
    addToSet(set, template);
    env.templates = set;
    return withoutNoValue(executeIn(env, template, data ?? undefined));
  } catch (error) {
    if (!(error instanceof TemplateParseError)) throw error;
    throw new FunctionError(
      `cannot parse the text given to tpl: line ${String(error.line)}: ${error.reason}`,
      {
        cause: error,
      },
    );
  } finally {
    env.templates = outer;
  }
}
