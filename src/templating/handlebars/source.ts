/**
 * Parses Handlebars templates. Only the package's parser is used; it never compiles or runs anything, so no text of a
 * user becomes code.
 */
import { table } from '../../lib/objects.ts';
import { createHash } from 'node:crypto';
import Handlebars from 'handlebars';
import { closest } from '../../lib/closest.ts';
import { placeOf, TemplateParseError, type TemplatePlace } from '../gotemplate/errors.ts';

/** A parsed template; immutable, can be executed repeatedly. */
export interface Source {
  /** Name in messages: the execution, or the path of a file. */
  readonly name: string;
  readonly text: string;
  readonly program: hbs.AST.Program;
}

const CACHE_SIZE = 512;
const cache = new Map<string, Source>();

/** A template, or one of the last 512 that were parsed. @throws TemplateParseError */
export function readSource(name: string, text: string): Source {
  const key = createHash('sha256').update(`${name}\0`).update(text).digest('base64');
  const known = cache.get(key);
  if (known) cache.delete(key);
  const source = known ?? { name, text, program: parse(name, text) };
  cache.set(key, source);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value as string);
  return source;
}

/** The grammar does not know paths from the root, `{{> /a.hbs}}`; a blank instead of the slash keeps all positions. */
const FROM_ROOT = /(?<!\\)(\{\{~?#?>\s*)\/(?=[\w.])/g;

/** Deeper than real templates; the parser's time grows quadratically with it. */
const MAX_DEPTH = 200;

/** Where blocks or parentheses are nested too deeply; undefined if they are not. */
function tooDeep(text: string): number | undefined {
  let [blocks, parentheses, isCode] = [0, 0, false];
  for (const { 0: token, index } of text.matchAll(/\{\{~?[#/]?|\}\}|[()]/g)) {
    if (token.length > 1) {
      isCode = token !== '}}';
      parentheses = 0;
      blocks += token.endsWith('#') ? 1 : token.endsWith('/') ? -1 : 0;
    } else if (isCode) parentheses += token === '(' ? 1 : -1;
    if (blocks > MAX_DEPTH || parentheses > MAX_DEPTH) return index;
  }
  return undefined;
}

function parse(name: string, text: string): hbs.AST.Program {
  try {
    const deep = tooDeep(text);
    if (deep !== undefined) throw new TooDeep(deep);
    return Handlebars.parse(text.replace(FROM_ROOT, '$1 '));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { pos, reason } = complaint(text, error);
    const place = placeOf(name, text, pos);
    const message = `template: ${name}:${String(place.line)}:${String(place.column)}: ${reason}`;
    throw new TemplateParseError(message, place, reason, { cause: error });
  }
}

/** More levels than a template may have. */
class TooDeep extends Error {
  readonly pos: number;

  constructor(pos: number) {
    super(
      `the template is nested too deeply: more than ${String(MAX_DEPTH)} blocks or parentheses, a fixed limit`,
    );
    this.pos = pos;
  }
}

interface Complaint {
  readonly pos: number;
  readonly reason: string;
}

/** Position and message of a syntax error, which the parser reports in three formats. */
function complaint(
  text: string,
  error: Error & { readonly lineNumber?: number; readonly column?: number },
): Complaint {
  if (error instanceof TooDeep) return { pos: error.pos, reason: error.message };
  if (error instanceof RangeError) return { pos: 0, reason: 'the template is nested too deeply' };
  const { message, lineNumber, column } = error;
  if (lineNumber !== undefined) {
    const [opened, closed] = message.includes(" doesn't match ")
      ? message.split(/ doesn't match | - \d/)
      : [];
    const reason =
      closed === undefined
        ? message.replace(/ - \d+:\d+$/, '')
        : `{{#${String(opened)}}} is closed by {{/${closed}}}; expected {{/${String(opened)}}}`;
    return { pos: positionOf(text, lineNumber, column ?? 0), reason };
  }
  const line = Number(/ on line (\d+)/.exec(message)?.[1] ?? 1);
  const [, snippet = '', pointer = '', rest = ''] = message.split('\n');
  const pos = positionOf(text, line, columnIn(text, line, snippet.slice(0, pointer.length - 1)));
  const found = / got '([^']*)'$/.exec(rest)?.[1] ?? 'INVALID';
  const expected = [...rest.matchAll(/'([A-Z_]+)'/g)].map(([, token]) => WORDS[token ?? '']);
  const wanted = [...new Set(expected.slice(0, -1).filter((word) => word !== undefined))];
  const what = WORDS[found] ?? `"${text.slice(pos).split('\n')[0]?.slice(0, 20) ?? ''}"`;
  const list = wanted.length === 0 ? '' : `, expected ${wanted.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
  const open = found === 'EOF' ? lastOpenBlock(text) : undefined;
  if (open) {
    return {
      pos: open.pos,
      reason: `{{#${open.name}}} is never closed; expected {{/${open.name}}} before the end of the template`,
    };
  }
  return { pos, reason: `found ${what}${list}` };
}

/** The innermost block that nothing closes. */
function lastOpenBlock(text: string): { readonly name: string; readonly pos: number } | undefined {
  const open: { name: string; pos: number }[] = [];
  for (const { 1: mark, 2: name = '', index } of text.matchAll(/\{\{~?([#/])[>*]?\s*([\w.-]+)/g)) {
    if (mark === '#') open.push({ name, pos: index });
    else open.pop();
  }
  return open.at(-1);
}

/** Readable names of tokens; tokens that are unlikely at the position are omitted. */
const WORDS: Readonly<Record<string, string>> = table({
  CLOSE: '}}',
  CLOSE_RAW_BLOCK: '}}}}',
  CLOSE_UNESCAPED: '}}}',
  OPEN_SEXPR: '(',
  CLOSE_SEXPR: ')',
  OPEN_ENDBLOCK: '{{/…}}',
  OPEN_BLOCK: '{{#…}}',
  OPEN_PARTIAL: '{{>…}}',
  INVERSE: '{{else}}',
  ID: 'a name',
  STRING: 'a string',
  NUMBER: 'a number',
  DATA: '@',
  SEP: '/',
  EQUALS: '=',
  EOF: 'the end of the template',
});

/** The parser shows the text before the position, shortened and without line breaks. */
function columnIn(text: string, line: number, before: string): number {
  const written = text.split('\n')[line - 1] ?? '';
  for (let length = before.length; length > 0; length--) {
    const at = written.lastIndexOf(before.slice(-length));
    if (at >= 0) return at + length;
  }
  return 0;
}

/** @param line 1-based; @param column 0-based, in characters */
function positionOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let n = 1; n < line; n++) start = text.indexOf('\n', start) + 1;
  return start + column;
}

export const offsetOfNode = ({ text }: Source, { loc }: hbs.AST.Node): number =>
  positionOf(text, loc.start.line, loc.start.column);

export const placeOfNode = (source: Source, node: hbs.AST.Node): TemplatePlace =>
  placeOf(source.name, source.text, offsetOfNode(source, node));

const MAX_SHOWN = 60;

/** A node in its source form, for messages; long ones are cut. */
export function writtenAs({ text }: Source, { loc }: hbs.AST.Node): string {
  const [start, end] = [loc.start, loc.end].map(({ line, column }) => positionOf(text, line, column));
  const written = text.slice(start, end).replace(/\s+/g, ' ').trim();
  return written.length > MAX_SHOWN ? `${written.slice(0, MAX_SHOWN)}…` : written;
}

/** ` (did you mean …?)`, if one of the names is similar. */
export function meant(name: string, known: readonly string[]): string {
  const near = closest(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
