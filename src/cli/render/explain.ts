/** Shows where a template failed, as compilers do: the error of the engine, and the place in the file of the author. */
import { templateSources, type BlueprintInput } from '../../blueprint/lint/inspect.ts';
import type { Finding } from '../../blueprint/lint/finding.ts';
import { TemplateError } from '../../templating/gotemplate/errors.ts';

/**
 * The failure as a finding; undefined when it is about no single place of a template.
 * @param input the blueprint that was rendered; engines tell a line, and the text of it tells the template
 */
export function templateFinding(error: unknown, input: BlueprintInput): Finding | undefined {
  const failure = innermost(error);
  if (!failure) return undefined;
  const source = templateSources(input).find(
    (one) => one.lineText(failure.line - 1) === failure.sourceLine && failure.sourceLine.trim() !== '',
  );
  if (!source) return undefined;
  const place =
    failure.column === undefined
      ? source.placeOfLine(failure.line - 1)
      : source.place(source.lineStart(failure.line - 1) + failure.column);
  return { rule: 'render', level: 'error', place, message: failure.reason };
}

/** Files that are included fail within the template that includes them. */
function innermost(error: unknown): TemplateError | undefined {
  let found: TemplateError | undefined;
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof TemplateError) found = at;
  return found;
}
