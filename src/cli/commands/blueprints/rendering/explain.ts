/**
 * Shows where a template failed, in the style of a compiler: the error of the engine, and the line in the author's
 * file.
 */
import { templateSources, type BlueprintInput } from '../../../../blueprint/lint/inspect.ts';
import type { Finding } from '../../../../blueprint/lint/finding.ts';
import type { Place, Source } from '../../../../blueprint/lint/source.ts';
import { TemplateError } from '../../../../templating/gotemplate/errors.ts';

/**
 * The failure as a finding; undefined if it does not refer to a single place in a template.
 * @param input the rendered blueprint; the engine reports a line, and its text identifies the template
 * @param around files with the Installation, whose mappings may fail
 */
export function templateFinding(
  error: unknown,
  input: BlueprintInput,
  around: readonly Source[] = [],
): Finding | undefined {
  const failure = innermostError(error);
  if (!failure) return undefined;
  const place = placeOf(failure, [...templateSources(input), ...around]);
  if (!place) return undefined;
  return {
    rule: 'render',
    level: 'error',
    place,
    message: failure.hint === undefined ? failure.reason : `${failure.reason} (${failure.hint})`,
  };
}

function placeOf(failure: TemplateError, sources: readonly Source[]): Place | undefined {
  const { line, sourceLine } = failure;
  if (sourceLine.trim() === '') return undefined;
  const source = sources.find((one) => one.lineText(line - 1) === sourceLine);
  if (!source) return placeInTree(failure, sources);
  if (failure.column === undefined) return source.placeOfLine(line - 1);
  return source.place(source.lineStart(line - 1) + charactersBefore(failure));
}

/**
 * A template tree fails as YAML that was generated from it: its lines equal the author's, except for number and
 * indentation. If several lines match, none is reported.
 */
function placeInTree(failure: TemplateError, sources: readonly Source[]): Place | undefined {
  const wanted = withoutIndentation(failure.sourceLine);
  const behind = failure.sourceLine.trimEnd().length - charactersBefore(failure);
  const places = new Map<string, Place>();
  for (const source of sources) {
    for (const [i, text] of source.text.split('\n').entries()) {
      if (withoutIndentation(text) !== wanted) continue;
      const place = source.place(source.lineStart(i) + text.trimEnd().length - behind);
      places.set(`${place.file}:${place.line}`, place);
    }
  }
  const [place] = places.values();
  return places.size === 1 ? place : undefined;
}

/** The line without indentation and dashes. */
const withoutIndentation = (line: string): string => line.trim().replace(/^(- +)+/, '');

/** Engines report columns in bytes. */
const charactersBefore = ({ sourceLine, column = 0 }: TemplateError): number =>
  Buffer.from(sourceLine).subarray(0, column).toString('utf8').length;

/** If an included file fails, the error of the file is the cause of the including template's error. */
function innermostError(error: unknown): TemplateError | undefined {
  let found: TemplateError | undefined;
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof TemplateError) found = at;
  return found;
}
