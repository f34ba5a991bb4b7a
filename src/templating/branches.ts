/** The branches of templates, for the question which of them no execution has taken. */
import { createHash } from 'node:crypto';
import { TEMPLATE_NAME, withBlueprintFunctions } from './blueprint-functions.ts';
import type { Fork, Way } from './fork.ts';
import type { FunctionTable } from './gotemplate/env.ts';
import { placeOf, TemplateParseError } from './gotemplate/errors.ts';
import { goForks, goIncludes } from './gotemplate/forks.ts';
import { parseTemplate } from './gotemplate/template.ts';
import { handlebarsForks, handlebarsIncludes } from './handlebars/forks.ts';
import { readSource } from './handlebars/source.ts';
import { spiffForks } from './spiff/forks.ts';

/** One way of a fork. */
export interface Branch {
  /** The same for the same place in the same text. */
  readonly id: string;
  /** 1-based. */
  readonly line: number;
  /** Such as `{{if .imports.ha}}`. */
  readonly text: string;
  readonly way: Way;
}

/** Identifies a template by its text, whatever its name. */
export const templateId = (source: string): string => createHash('sha256').update(source).digest('base64url');

export const branchId = (template: string, pos: number, way: Way): string =>
  `${template}:${String(pos)}:${way}`;

/** In the order of the text; none for unknown types, and for templates that cannot be parsed. */
export function branchesOf(type: string, source: string, functions: FunctionTable): readonly Branch[] {
  const template = templateId(source);
  return forksOf(type, source, functions)
    .toSorted((a, b) => a.pos - b.pos)
    .flatMap(({ pos, text, ways, reported }) => {
      const { line } = placeOf(TEMPLATE_NAME, source, pos);
      const id = (way: Way): string =>
        reported ? branchId(templateId(reported.source), reported.pos, way) : branchId(template, pos, way);
      return ways.map((way) => ({ id: id(way), line, text: oneLine(text), way }));
    });
}

function forksOf(type: string, source: string, functions: FunctionTable): readonly Fork[] {
  try {
    switch (type) {
      case 'GoTemplate':
        return goForks(parseTemplate(TEMPLATE_NAME, source, withBlueprintFunctions(functions)).source);
      case 'Handlebars':
        return handlebarsForks(readSource(TEMPLATE_NAME, source));
      case 'Spiff':
        return spiffForks(source);
      default:
        return [];
    }
  } catch (error) {
    if (error instanceof TemplateParseError) return [];
    throw error;
  }
}

/** Paths of the files that a template includes by a constant path; none if it cannot be parsed. */
export function filesIncludedBy(type: string, source: string, functions: FunctionTable): readonly string[] {
  try {
    switch (type) {
      case 'GoTemplate':
        return goIncludes(parseTemplate(TEMPLATE_NAME, source, withBlueprintFunctions(functions)).source);
      case 'Handlebars':
        return handlebarsIncludes(readSource(TEMPLATE_NAME, source));
      default:
        return [];
    }
  } catch (error) {
    if (error instanceof TemplateParseError) return [];
    throw error;
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');
