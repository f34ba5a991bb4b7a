/** Parses templates without executing them: the one place that knows how each engine does that. */
import { YamlError } from '../lib/yaml.ts';
import { TEMPLATE_NAME, withBlueprintFunctions } from './blueprint-functions.ts';
import type { FunctionTable } from './gotemplate/env.ts';
import { TemplateParseError } from './gotemplate/errors.ts';
import { parseTemplate } from './gotemplate/template.ts';
import { readSource } from './handlebars/source.ts';
import { findBrokenExpression } from './spiff/check.ts';
import { fromJsonValue } from './spiff/json.ts';
import { readSpiffYaml } from './spiff/yaml/index.ts';

/** A template that is no template. */
export interface SyntaxProblem {
  readonly kind: 'broken';
  readonly message: string;
  /** 1-based; undefined when the engine does not tell. */
  readonly line: number | undefined;
  /** 0-based, in characters; undefined when only the line is known. */
  readonly column: number | undefined;
}

export type SyntaxVerdict =
  | { readonly kind: 'fine' }
  | SyntaxProblem
  /** no template type at all */
  | { readonly kind: 'unknown' };

export interface TemplateToCheck {
  readonly type: string;
  /** A text; for Spiff also a tree. */
  readonly template: unknown;
  /** Names that may be called besides those that come with the engine. */
  readonly functions: FunctionTable;
}

type Parser = (template: TemplateToCheck) => SyntaxVerdict;

const parsers: Readonly<Record<string, Parser>> = {
  GoTemplate: ({ template, functions }) =>
    checkText('GoTemplate', template, (name, text) =>
      parseTemplate(name, text, withBlueprintFunctions(functions)),
    ),
  Spiff: ({ template }) => checkSpiff(template),
  Handlebars: ({ template }) => checkText('Handlebars', template, readSource),
};

export function checkTemplate(template: TemplateToCheck): SyntaxVerdict {
  const parse = Object.hasOwn(parsers, template.type) ? parsers[template.type] : undefined;
  return parse ? parse(template) : { kind: 'unknown' };
}

function checkText(
  type: string,
  template: unknown,
  parse: (name: string, text: string) => unknown,
): SyntaxVerdict {
  if (typeof template !== 'string') {
    return { kind: 'broken', message: `a ${type} must be a text`, line: undefined, column: undefined };
  }
  try {
    parse(TEMPLATE_NAME, template);
    return { kind: 'fine' };
  } catch (error) {
    if (!(error instanceof TemplateParseError)) throw error;
    return { kind: 'broken', message: error.reason, line: error.line, column: error.column };
  }
}

function checkSpiff(template: unknown): SyntaxVerdict {
  const broken = (message: string, line?: number): SyntaxProblem => ({
    ...{ kind: 'broken', message, line, column: undefined },
  });
  try {
    const found = findBrokenExpression(
      typeof template === 'string' ? readSpiffYaml(template) : fromJsonValue(template ?? null, 'document'),
    );
    if (!found) return { kind: 'fine' };
    const { path, expression, message } = found;
    return broken(`${expression}${path.length > 0 ? ` at ${path.join('.')}` : ''}: ${message}`);
  } catch (error) {
    if (error instanceof YamlError) return broken(error.message);
    throw error;
  }
}
