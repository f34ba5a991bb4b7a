/**
 * The documents of a string, for the two purposes that Helm has. `pagesOf` cuts the output of a template into pages, which
 * Helm trims, prints and stores. `documentsOf` cuts what Kubernetes' reader is given: stored manifests, hooks and files of
 * `crds/`. That reader ends every line with a line break, which a block scalar at the end of an object keeps, so a page is
 * never parsed as it is.
 */
import { trimmedEnd } from '../../lib/trim.ts';
import { trimSpace } from '../go/spaces.ts';

/** Go's `\s`, which does not match the spaces of Unicode. */
const SPACES = '\t\n\f\r ';
/** The spaces before it also belong to a separator, but an expression that begins with them takes quadratic time. */
const SEPARATOR = /(?:^|\n)---[\t\n\f\r ]*/;

/** The pages of a template's output, without white space around them and without empty ones. */
export const pagesOf = (text: string): readonly string[] =>
  trimSpace(text)
    .split(SEPARATOR)
    .map((page) => trimmedEnd(page, SPACES))
    .filter((page) => page !== '')
    .map(trimSpace);

/** The documents of a stream, each with a line break at its end; those without a value are among them. */
export function documentsOf(stream: string): readonly string[] {
  const documents: string[] = [];
  let start = 0;
  let at = 0;
  while (at < stream.length) {
    const end = endOfLine(stream, at);
    if (start < at && isSeparator(stream, at, end)) {
      documents.push(stream.slice(start, at));
      start = end;
    }
    at = end;
  }
  if (start < stream.length) documents.push(stream.slice(start));
  return documents.map((document) => (document.endsWith('\n') ? document : `${document}\n`));
}

/** The position after the line break. */
function endOfLine(text: string, at: number): number {
  const found = text.indexOf('\n', at);
  return found < 0 ? text.length : found + 1;
}

/** Three hyphens, followed by white space or a comment only. Other lines stay, and the document is not valid YAML. */
function isSeparator(text: string, at: number, end: number): boolean {
  if (!text.startsWith('---', at)) return false;
  const rest = trimSpace(text.slice(at + 3, end));
  return rest === '' || rest.startsWith('#');
}
