/** Runs executions of type Spiff: finds the document, evaluates it, and lists its inputs if that fails. */
import { toYamlAsGiven, YamlError } from '../lib/yaml.ts';
import { TEMPLATE_NAME } from './blueprint-functions.ts';
import { ResultUnreadable, TemplateBroken, TemplateNotFound } from './errors.ts';
import { blockAt, inputBlock } from './excerpt.ts';
import type { TemplateFiles } from './files.ts';
import { placeOfLine, TemplateParseError } from './gotemplate/errors.ts';
import { Unresolvable, type SpiffFunctionTable } from './spiff/function.ts';
import { fromJsonValue, toJsonValue } from './spiff/json.ts';
import { standardFunctions } from './spiff/functions/index.ts';
import { culpritIn } from './spiff-culprit.ts';
import { ociFunctions } from './spiff/oci.ts';
import { SpiffProblem } from './spiff/problem.ts';
import { renderSpiff, type SpiffWorld } from './spiff/spiff.ts';
import type { SpiffMap, SpiffValue } from './spiff/value.ts';
import { readSpiffYaml } from './spiff/yaml/index.ts';

type Values = Readonly<Record<string, unknown>>;

interface SpiffOptions extends Omit<SpiffWorld, 'functions'> {
  /** Functions on the component. */
  readonly spiffFunctions?: SpiffFunctionTable | undefined;
  /** The state of the last job; undefined if the execution has no state. */
  readonly state?: unknown;
}

/**
 * @returns the value as JSON, and the state to be stored
 * @throws TemplateNotFound, TemplateBroken, ResultUnreadable
 */
export function renderSpiffExecution(
  execution: { readonly template?: unknown; readonly file?: string | undefined },
  values: Values,
  { spiffFunctions, state, clock, rng, files, limits, onWay }: SpiffOptions,
): { readonly output: unknown; readonly state: unknown } {
  const template = templateOf(execution, files);
  const functions = { ...standardFunctions, ...ociFunctions, ...spiffFunctions };
  try {
    const input = {
      document: documentOf(template),
      values: fromJsonValue(values, 'input') as SpiffMap,
      state: state === undefined ? undefined : fromJsonValue(state, 'document'),
      source: 'template',
    };
    const result = renderSpiff(input, { clock, rng, files, limits, functions, onWay });
    return { output: toJsonValue(result.value), state: toJsonValue(result.state) };
  } catch (error) {
    if (error instanceof Unresolvable) throw new ResultUnreadable(error.message, { cause: error });
    if (!(error instanceof SpiffProblem)) throw error;
    throw broken(error, template, values);
  }
}

/** The message of the engine with the lines around the expression and the input of the template. */
function broken(error: SpiffProblem, template: unknown, values: Values): TemplateBroken {
  // The source text of a tree is lost: it is shown as YAML.
  const source = typeof template === 'string' ? template : toYamlAsGiven(template);
  const found = culpritIn(error, source, TEMPLATE_NAME);
  const block = found ? blockAt(source, found.place.line, found.column) : '';
  return new TemplateBroken(error.message + block + inputBlock(values), { cause: found?.failure ?? error });
}

/** A tree, or the source text of one, which may be in a file. */
function templateOf(
  { template, file }: { readonly template?: unknown; readonly file?: string | undefined },
  files: TemplateFiles,
): unknown {
  if (template !== undefined && template !== null) return template;
  if (file === undefined || file === '') throw new TemplateNotFound('no template found');
  const content = files.read(file);
  if (content) return Buffer.from(content).toString('utf8');
  throw new TemplateNotFound('file does not exist', { cause: new Error(`no file ${file} in the blueprint`) });
}

function documentOf(template: unknown): SpiffValue {
  if (typeof template !== 'string') return fromJsonValue(template, 'document');
  try {
    return readSpiffYaml(template);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const { message, line } = error;
    if (line === undefined) throw new TemplateBroken(message, { cause: error });
    const place = placeOfLine(TEMPLATE_NAME, template, line);
    const column = Math.max(place.sourceLine.search(/\S/), 0);
    throw new TemplateBroken(message + blockAt(template, line, column), {
      cause: new TemplateParseError(message, place, message, { cause: error }),
    });
  }
}
