/** Parses and executes Go templates: the public interface of this folder. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import { builtins } from './builtins.ts';
import type { TemplateFiles } from '../files.ts';
import type { WayListener } from '../fork.ts';
import type { TemplateLimits } from '../budget.ts';
import { isEmpty } from './ast.ts';
import { Env, type FunctionTable, type NamedTemplate, type OutputMark } from './env.ts';
import { FunctionError } from './errors.ts';
import { Evaluation, type Output } from './eval.ts';
import { sprigFunctions } from './funcs/sprig.ts';
import { rejoin, toValidText } from '../go/go-string.ts';
import { parse, type ParsedSource } from './parse.ts';
import { quoteString } from '../go/quote.ts';
import { fromJson, type Value } from './values.ts';

/** A parsed template; immutable, can be executed repeatedly. */
interface Template {
  readonly name: string;
  readonly source: ParsedSource;
}

export interface ExecuteOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly limits?: Partial<TemplateLimits>;
  /** Time of `clock.now()`; default: now plus the limit. */
  readonly deadline?: number;
  readonly files?: TemplateFiles;
  /** Functions besides Go's and sprig's; they override these. */
  readonly functions?: FunctionTable;
  readonly onWay?: WayListener;
}

/** Functions that are available in all templates. */
export const standardFunctions: FunctionTable = { ...builtins, ...sprigFunctions };

const CACHE_SIZE = 512;
const cache = new Map<string, Template>();
const tableIds = new WeakMap<FunctionTable, string>();

/** Tables with the same names parse in the same way. */
function idOf(functions: FunctionTable): string {
  let id = tableIds.get(functions);
  if (id === undefined) {
    id = Object.keys(functions).sort().join();
    tableIds.set(functions, id);
  }
  return id;
}

/**
 * Parses a template, or finds it among the last 512 parsed ones.
 * @param name for error messages
 * @param functions names that may be called besides the standard ones
 * @throws TemplateParseError
 */
export function parseTemplate(name: string, text: string, functions: FunctionTable = {}): Template {
  const key = createHash('sha256')
    .update(`${name}\0${idOf(functions)}\0`)
    .update(text)
    .digest('base64');
  const known = cache.get(key);
  if (known) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const isFunction = (f: string): boolean =>
    Object.hasOwn(functions, f) || Object.hasOwn(standardFunctions, f);
  const template = { name, source: parse(name, text, isFunction) };
  cache.set(key, template);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value as string);
  return template;
}

/**
 * Executes a template.
 * @param data JSON, not modified; integers beyond 2^53 as bigint keep all their digits
 * @throws TemplateExecutionError; TemplateLimitExceeded if a limit of the options is exceeded
 */
export function execute(template: Template, data: unknown, options: ExecuteOptions): string {
  return toValidText(executeIn(newEnv(options), template, fromJson(data)));
}

const tables = new WeakMap<FunctionTable, FunctionTable>();

/** The standard functions and these. */
function tableOf(functions: FunctionTable | undefined): FunctionTable {
  if (!functions) return standardFunctions;
  let table = tables.get(functions);
  if (!table) {
    table = { ...standardFunctions, ...functions };
    tables.set(functions, table);
  }
  return table;
}

/** The environment that an execution shares with its included files. */
export const newEnv = (options: ExecuteOptions): Env =>
  new Env({ ...options, functions: tableOf(options.functions) });

/** Adds the definitions of a source to a set; an empty definition does not replace another one. */
export function addToSet(set: Map<string, NamedTemplate>, { source }: Template): void {
  for (const [name, body] of source.definitions) {
    if (!isEmpty(body) || !set.has(name)) set.set(name, { source, body });
  }
}

/** Executes a template of `env.templates`. @throws FunctionError if there is none with that name */
export function executeNamed(env: Env, name: string, dot: Value): string {
  const found = env.templates?.get(name);
  if (!found)
    throw new FunctionError(`template: no template ${quoteString(name)} associated with template "gotpl"`);
  const output: Output = { text: '', bytes: 0 };
  new Evaluation(found.source, name, dot, { env, output }).run(found.body);
  return rejoin(output.text);
}

/** Executes a template again and records the origin of each part of its output. @throws as `execute` */
export function executeTraced(
  env: Env,
  template: Template,
  dot: Value,
): { readonly text: string; readonly marks: readonly OutputMark[] } {
  const output: Output = { text: '', bytes: 0 };
  env.trace = { output, marks: [] };
  new Evaluation(template.source, template.name, dot, { env, output }).run(template.source.root);
  return { text: rejoin(output.text), marks: env.trace.marks };
}

/** Executes a template in a running execution, with shared limits, for `include`. */
export function executeIn(env: Env, template: Template, dot: Value): string {
  const output: Output = { text: '', bytes: 0 };
  new Evaluation(template.source, template.name, dot, { env, output }).run(template.source.root);
  return rejoin(output.text);
}
