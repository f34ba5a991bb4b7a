/** Shows where a template failed, as compilers do: the error of the engine, and the place in the file of the author. */
import { templateSources, type BlueprintInput } from '../../../../blueprint/lint/inspect.ts';
import type { Finding } from '../../../../blueprint/lint/finding.ts';
import type { Place, Source } from '../../../../blueprint/lint/source.ts';
import { TemplateError } from '../../../../templating/gotemplate/errors.ts';

/**
 * The failure as a finding; undefined when it is about no single place of a template.
 * @param input the blueprint that was rendered; engines tell a line, and the text of it tells the template
 * @param around files with the Installation, whose mappings may fail
 */
export function templateFinding(
  error: unknown,
  input: BlueprintInput,
  around: readonly Source[] = [],
): Finding | undefined {
  const failure = innermost(error);
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
 * A tree fails in the layout that YAML gives it: its lines are those of the author, but for number and indentation. When
 * several lines could be meant, none is.
 */
function placeInTree(failure: TemplateError, sources: readonly Source[]): Place | undefined {
  const wanted = bare(failure.sourceLine);
  const behind = failure.sourceLine.trimEnd().length - charactersBefore(failure);
  const places = new Map<string, Place>();
  for (const source of sources) {
    for (const [i, text] of source.text.split('\n').entries()) {
      if (bare(text) !== wanted) continue;
      const place = source.place(source.lineStart(i) + text.trimEnd().length - behind);
      places.set(`${place.file}:${place.line}`, place);
    }
  }
  const [place] = places.values();
  return places.size === 1 ? place : undefined;
}

/** Without indentation and dashes. */
const bare = (line: string): string => line.trim().replace(/^(- +)+/, '');

/** Engines count bytes. */
const charactersBefore = ({ sourceLine, column = 0 }: TemplateError): number =>
  Buffer.from(sourceLine).subarray(0, column).toString('utf8').length;

/** Files that are included fail within the template that includes them. */
function innermost(error: unknown): TemplateError | undefined {
  let found: TemplateError | undefined;
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof TemplateError) found = at;
  return found;
}
