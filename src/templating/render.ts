/** Runs a template execution of a blueprint: finds the template, selects the engine, reads the result as YAML. */
import type { Clock } from '../lib/clock.ts';
import type { Rng } from '../lib/rng.ts';
import { closest } from '../lib/closest.ts';
import { anyCaseField } from '../lib/objects.ts';
import { parseYaml, YamlError } from '../lib/yaml.ts';
import type { TemplateLimits } from './budget.ts';
import { TEMPLATE_NAME, withBlueprintFunctions } from './blueprint-functions.ts';
import {
  ResultHasNoValue,
  ResultUnreadable,
  TemplateBroken,
  TemplateNotFound,
  TemplateTypeUnknown,
} from './errors.ts';
import { blockAt, excerpt, inputBlock, sourceBlock, withoutValues } from './excerpt.ts';
import type { TemplateFiles } from './files.ts';
import type { WayListener } from './fork.ts';
import type { Env, FunctionTable } from './gotemplate/env.ts';
import {
  placeOf,
  TemplateError,
  TemplateExecutionError,
  TemplateParseError,
  type TemplatePlace,
} from './gotemplate/errors.ts';
import { toValidText } from './go/go-string.ts';
import { executeIn, executeTraced, newEnv, parseTemplate, standardFunctions } from './gotemplate/template.ts';
import { fromJson } from './gotemplate/values.ts';
import { renderHandlebars } from './handlebars/render.ts';
import type { SpiffFunctionTable } from './spiff/function.ts';
import { renderSpiffExecution } from './spiff-execution.ts';

/** An entry of a blueprint's `deployExecutions` and similar lists. */
export interface TemplateExecution {
  readonly name?: string | undefined;
  /** GoTemplate, Spiff or Handlebars. */
  readonly type: string;
  /** The template; takes precedence over `file`. A tree is valid only for Spiff. */
  readonly template?: unknown;
  /** Path of the template within the blueprint. */
  readonly file?: string | undefined;
}

export interface EngineOptions {
  readonly clock: Clock;
  readonly rng: Rng;
  readonly files: TemplateFiles;
  /** Functions in addition to Go's, sprig's and those for files and YAML: `getResource` and similar ones. */
  readonly functions?: FunctionTable;
  /** The same for Spiff. */
  readonly spiffFunctions?: SpiffFunctionTable;
  readonly limits?: Partial<TemplateLimits>;
  readonly onWay?: WayListener;
  /** The name in messages of an execution that must not print `<no value>`; undefined: allowed. */
  readonly refuseNoValueIn?: 'deploy execution' | 'subinstallation execution' | 'export execution';
}

type Values = Readonly<Record<string, unknown>>;

export interface Rendering {
  readonly output: unknown;
  /** The new state of the execution, if it returns one. */
  readonly state?: RenderedState;
}

export interface RenderedState {
  readonly state: unknown;
  /** The format in the secret, for compatibility with upstream's controllers; default JSON. */
  readonly format?: 'yaml';
}

/**
 * Runs an execution that can keep a state between jobs.
 * @param stored the state of the last job; an empty map in the first one
 * @throws RenderError like renderExecution
 */
export function renderWithState(
  execution: TemplateExecution,
  values: Values,
  options: EngineOptions,
  stored: unknown,
): Rendering {
  if (execution.type === 'Spiff') {
    const { output, state } = renderSpiffExecution(execution, values, { ...options, state: stored });
    return { output, state: { state, format: 'yaml' } };
  }
  const output = renderExecution(execution, { ...values, state: stored }, options);
  const state = anyCaseField(output, 'state') ?? undefined;
  return state === undefined ? { output } : { output, state: { state } };
}

/**
 * Runs an execution and reads the first document of its result as JSON.
 * @param values root values; they are not changed
 * @throws RenderError: TemplateNotFound, TemplateTypeUnknown, TemplateBroken, ResultHasNoValue, ResultUnreadable
 * @see gardener/landscaper pkg/landscaper/installations/executions/template
 */
export function renderExecution(
  execution: TemplateExecution,
  values: Values,
  options: EngineOptions,
): unknown {
  if (execution.type === 'Spiff') return renderSpiffExecution(execution, values, options).output;
  const text = renderText(execution, values, options);
  try {
    return readResult(text);
  } catch (error) {
    if (!(error instanceof ResultUnreadable)) throw error;
    // Error messages about YAML quote it.
    const said = withoutValues(error.message, '', values);
    const { cause } = error;
    const origin = cause instanceof YamlError ? originOf(cause, text, execution, values, options) : undefined;
    if (!origin) throw new ResultUnreadable(said, { cause });
    const { line, column = 0 } = origin;
    throw new ResultUnreadable(said + blockAt(origin.source, line, column), {
      cause: new TemplateExecutionError(
        said,
        origin,
        withoutValues((cause as YamlError).message, '', values),
        { cause },
      ),
    });
  }
}

/** The result of an execution before it is read as YAML; Spiff's results are values already. @throws RenderError */
export function renderText(execution: TemplateExecution, values: Values, options: EngineOptions): string {
  switch (execution.type) {
    case 'GoTemplate':
      return renderGoTemplate(templateText(execution, options.files), values, options);
    case 'Handlebars':
      return renderHandlebarsTemplate(templateText(execution, options.files), values, options);
    default:
      throw new TemplateTypeUnknown(execution.type);
  }
}

/** @throws ResultUnreadable */
function readResult(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new ResultUnreadable(`error converting YAML to JSON: ${error.message}`, { cause: error });
  }
}

/** The template itself, inline or from a file. @throws TemplateNotFound */
function templateText({ template, file }: TemplateExecution, files: TemplateFiles): string {
  if (typeof template === 'string') return template;
  if (template !== undefined && template !== null) {
    const kind = Array.isArray(template) ? 'array' : typeof template === 'boolean' ? 'bool' : typeof template;
    throw new TemplateNotFound(`json: cannot unmarshal ${kind} into Go value of type string`);
  }
  if (file === undefined || file === '') throw new TemplateNotFound('no template found');
  const content = files.read(file);
  if (!content) throw new TemplateNotFound(`file does not exist: there is no ${file} in the blueprint`);
  return Buffer.from(content).toString('utf8');
}

/** The part of a Go template that wrote the line of the result with the YAML error. */
function originOf(
  error: YamlError,
  text: string,
  execution: TemplateExecution,
  values: Values,
  options: EngineOptions,
): (TemplatePlace & { readonly source: string }) | undefined {
  if (execution.type !== 'GoTemplate' || error.line === undefined) return undefined;
  const functions = functionsOf(options);
  const deadline = options.clock.now() + MAX_TRACE_MS;
  try {
    const env = newEnv({ ...options, functions, deadline });
    const template = parseTemplate(TEMPLATE_NAME, templateText(execution, options.files), functions);
    const traced = executeTraced(env, template, fromJson(values));
    // With other random values the lines may differ.
    if (toValidText(traced.text) !== text) return undefined;
    const lines = traced.text.split('\n');
    const start = lines.slice(0, error.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    const at = start + Math.max((lines[error.line - 1] ?? '').search(/\S/), 0);
    const mark = traced.marks.findLast((one) => one.at <= at);
    if (!mark) return undefined;
    return {
      ...placeOf(TEMPLATE_NAME, mark.source, mark.isText ? mark.pos + at - mark.at : mark.pos),
      source: mark.source,
    };
  } catch (failure) {
    if (failure instanceof TemplateError) return undefined;
    throw failure;
  }
}

/** The time limit for finding the source of a failure: it is not worth more. */
const MAX_TRACE_MS = 1_000;

/** Go's message about an unknown function is short. */
function withHint(error: unknown, functions: FunctionTable): unknown {
  if (!(error instanceof TemplateParseError)) return error;
  const [, name] = /^function "(\w+)" not defined$/.exec(error.reason) ?? [];
  if (name === undefined) return error;
  const meant = closest(name, [...Object.keys(functions), ...Object.keys(standardFunctions)]);
  error.hint = HELM_ONLY.has(name)
    ? `"${name}" is a function of Helm, which blueprints do not have`
    : meant && `did you mean "${meant}"?`;
  return error;
}

const HELM_ONLY = new Set(['required', 'tpl', 'lookup', 'toToml', 'fromToml']);

const noFunctions: FunctionTable = {};

/** Landscaper's functions and the caller's. */
const functionsOf = ({ functions = noFunctions }: EngineOptions): FunctionTable =>
  withBlueprintFunctions(functions);

function renderGoTemplate(source: string, values: Values, options: EngineOptions): string {
  const functions = functionsOf(options);
  const env = newEnv({ ...options, functions });
  let text: string;
  try {
    text = toValidText(executeIn(env, parseTemplate(TEMPLATE_NAME, source, functions), fromJson(values)));
  } catch (error) {
    throw broken(withHint(error, functions), source, values);
  }
  if (options.refuseNoValueIn !== undefined) checkNoValue(text, options.refuseNoValueIn, env, values);
  return text;
}

/** The engine is strict, so the output contains no placeholders for missing values. */
function renderHandlebarsTemplate(source: string, values: Values, options: EngineOptions): string {
  try {
    return renderHandlebars(TEMPLATE_NAME, source, values, { ...options, functions: functionsOf(options) });
  } catch (error) {
    const { template = TEMPLATE_NAME } = error instanceof TemplateError ? error : {};
    const file = template === TEMPLATE_NAME ? undefined : options.files.read(template);
    throw broken(error, file ? Buffer.from(file).toString('utf8') : source, values);
  }
}

/** The error of an engine with the lines around its position and the input of the template. */
function broken(error: unknown, source: string, values: Values): unknown {
  if (!(error instanceof TemplateError)) return error;
  const said = withoutValues(error.message, source, values);
  const hint = error.hint === undefined ? '' : `hint: ${withoutValues(error.hint, source, values)}`;
  const block =
    error instanceof TemplateParseError
      ? blockAt(source, error.line, error.column ?? 0)
      : sourceBlock(error.message, source);
  const message = said + block + inputBlock(values) + hint;
  return new TemplateBroken(message, { cause: error });
}

const NO_VALUE = '<no value>';

/**
 * Refuses a result that contains `<no value>`. Upstream shows the rendered lines, including secrets; we show the
 * positions in the template that printed it.
 */
function checkNoValue(text: string, name: string, env: Env, values: Values): void {
  if (!text.includes(NO_VALUE)) return;
  const places = text.split('\n').flatMap((line, i) =>
    [...line.matchAll(/<no value>/g)].map((match) => {
      const column = Buffer.byteLength(line.slice(0, match.index));
      return `line ${String(i + 1)}:${String(column)}\n`;
    }),
  );
  const sources = env.missing.map(({ source, pos, text: action }) => {
    const { line, column = 0 } = placeOf(TEMPLATE_NAME, source, pos);
    return `missing: ${action}\n${excerpt(source, line, column)}`;
  });
  const isOneToOne = sources.length === places.length;
  const hits = isOneToOne ? places.map((place, i) => place + (sources[i] ?? '')) : [...places, ...sources];
  const message = `template "${name}" contains fields with "no value":\n\n${hits.join('\n')}${inputBlock(values)}`;
  throw new ResultHasNoValue(message);
}
