/** Renders Handlebars templates: the public interface of this folder. */
import type { FunctionTable } from '../gotemplate/env.ts';
import { toValidText } from '../go/go-string.ts';
import { newEnv, type ExecuteOptions } from '../gotemplate/template.ts';
import { executeSource } from './eval.ts';
import { handlebarsFunctions } from './functions.ts';
import { readSource } from './source.ts';
import { withIntegers } from './values.ts';

const tables = new WeakMap<FunctionTable, FunctionTable>();

function tableOf(functions: FunctionTable): FunctionTable {
  const table = tables.get(functions) ?? { ...functions, ...handlebarsFunctions };
  tables.set(functions, table);
  return table;
}

/**
 * The output of a template.
 * @param name for error messages
 * @param values root values, as JSON; not modified
 * @throws TemplateParseError, TemplateExecutionError; TemplateLimitExceeded if a limit of the options is exceeded
 */
export function renderHandlebars(
  name: string,
  text: string,
  values: Readonly<Record<string, unknown>>,
  options: ExecuteOptions & { readonly functions: FunctionTable },
): string {
  const env = newEnv({ ...options, functions: tableOf(options.functions) });
  return toValidText(executeSource(env, readSource(name, text), withIntegers(values)));
}
