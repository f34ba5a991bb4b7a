/** Runs executions of type Spiff: finds the document, evaluates it, explains what it was given when that fails. */
import { YamlError } from '../lib/yaml.ts';
import { ResultUnreadable, TemplateBroken, TemplateNotFound } from './errors.ts';
import { inputBlock } from './excerpt.ts';
import type { TemplateFiles } from './files.ts';
import { Unresolvable, type SpiffFunctionTable } from './spiff/function.ts';
import { fromJsonValue, toJsonValue } from './spiff/json.ts';
import { standardFunctions } from './spiff/functions/index.ts';
import { ociFunctions } from './spiff/oci.ts';
import { SpiffProblem } from './spiff/problem.ts';
import { renderSpiff, type SpiffWorld } from './spiff/spiff.ts';
import type { SpiffMap, SpiffValue } from './spiff/value.ts';
import { readSpiffYaml } from './spiff/yaml/index.ts';

type Values = Readonly<Record<string, unknown>>;

export interface SpiffOptions extends Omit<SpiffWorld, 'functions'> {
  /** Functions on the component. */
  readonly spiffFunctions?: SpiffFunctionTable | undefined;
  /** What was remembered the last time; undefined where nothing can be. */
  readonly state?: unknown;
}

/**
 * @returns the value as JSON, and the state to be stored
 * @throws TemplateNotFound, TemplateBroken, ResultUnreadable
 */
export function renderSpiffExecution(
  execution: { readonly template?: unknown; readonly file?: string | undefined },
  values: Values,
  { spiffFunctions, state, clock, rng, files, limits }: SpiffOptions,
): { readonly output: unknown; readonly state: unknown } {
  const functions = { ...standardFunctions, ...ociFunctions, ...spiffFunctions };
  try {
    const input = {
      document: documentOf(execution, files),
      values: fromJsonValue(values, 'input') as SpiffMap,
      state: state === undefined ? undefined : fromJsonValue(state, 'document'),
      source: 'template',
    };
    const result = renderSpiff(input, { clock, rng, files, limits, functions });
    return { output: toJsonValue(result.value), state: toJsonValue(result.state) };
  } catch (error) {
    if (error instanceof Unresolvable) throw new ResultUnreadable(error.message, { cause: error });
    if (!(error instanceof SpiffProblem)) throw error;
    throw new TemplateBroken(error.message + inputBlock(values), { cause: error });
  }
}

/** A tree, or a text or file that holds one. */
function documentOf(
  { template, file }: { readonly template?: unknown; readonly file?: string | undefined },
  files: TemplateFiles,
): SpiffValue {
  if (typeof template === 'string') return documentIn(template);
  if (template !== undefined && template !== null) return fromJsonValue(template, 'document');
  if (file === undefined || file === '') throw new TemplateNotFound('no template found');
  const content = files.read(file);
  if (content) return documentIn(Buffer.from(content).toString('utf8'));
  throw new TemplateNotFound('file does not exist', { cause: new Error(`no file ${file} in the blueprint`) });
}

function documentIn(text: string): SpiffValue {
  try {
    return readSpiffYaml(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new TemplateBroken(error.message, { cause: error });
  }
}
