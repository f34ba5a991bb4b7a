/** Parses templates without executing them: the one place that knows how each engine does that. */
import { table } from '../lib/objects.ts';
import { YamlError } from '../lib/yaml.ts';
import { TEMPLATE_NAME, withBlueprintFunctions } from './blueprint-functions.ts';
import type { FunctionTable } from './gotemplate/env.ts';
import { TemplateParseError } from './gotemplate/errors.ts';
import { parseTemplate } from './gotemplate/template.ts';
import { readSource } from './handlebars/source.ts';
import { findBrokenExpression, type ExpressionProblem } from './spiff/check.ts';
import { fromJsonValue } from './spiff/json.ts';
import { offsetOf } from './spiff/place.ts';
import { readSpiffYaml } from './spiff/yaml/index.ts';

/** A syntax error of a template. */
export interface SyntaxProblem {
  readonly kind: 'broken';
  readonly message: string;
  /** 1-based; undefined if the engine does not report it. */
  readonly line: number | undefined;
  /** 0-based, in characters; undefined when only the line is known. */
  readonly column: number | undefined;
  /** For trees: fields and `[0]` on the path to the error. */
  readonly path?: readonly string[] | undefined;
}

type SyntaxVerdict =
  | { readonly kind: 'fine' }
  | SyntaxProblem
  /** no template type at all */
  | { readonly kind: 'unknown' };

interface TemplateToCheck {
  readonly type: string;
  /** A text; for Spiff also a tree. */
  readonly template: unknown;
  /** Names of functions in addition to those of the engine. */
  readonly functions: FunctionTable;
}

type Parser = (template: TemplateToCheck) => SyntaxVerdict;

const parsers: Readonly<Record<string, Parser>> = table({
  GoTemplate: ({ template, functions }) =>
    checkText('GoTemplate', template, (name, text) =>
      parseTemplate(name, text, withBlueprintFunctions(functions)),
    ),
  Spiff: ({ template }) => checkSpiff(template),
  Handlebars: ({ template }) => checkText('Handlebars', template, readSource),
});

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
    return { kind: 'broken', message: `a ${type} must be a string`, line: undefined, column: undefined };
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
  try {
    const found = findBrokenExpression(
      typeof template === 'string' ? readSpiffYaml(template) : fromJsonValue(template ?? null, 'document'),
    );
    if (!found) return { kind: 'fine' };
    const where = found.path.length > 0 ? ` at ${found.path.join('.')}` : '';
    const message = `${found.expression}${where}: ${found.message}`;
    const place = typeof template === 'string' ? placeIn(template, found) : undefined;
    return { kind: 'broken', message, line: place?.line, column: place?.column, path: found.path };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { kind: 'broken', message: error.message, line: error.line, column: undefined };
  }
}

function placeIn(text: string, { path, expression, offset }: ExpressionProblem) {
  const at = offsetOf(text, { paths: [path], value: expression, offset });
  if (at === undefined) return undefined;
  const lines = text.slice(0, at).split('\n');
  return { line: lines.length, column: lines.at(-1)?.length ?? 0 };
}
