/** Reads properties of nodes: anchors, tags, and the directives before a document. */
import { type Cursor, isBlankCode, isBlankOrEnd, isBreakOrEnd } from './yaml-cursor.ts';
import { yamlErrorAt } from './yaml-error.ts';

/** Letters, digits, `_` and `-`. */
const WORD = /[0-9A-Za-z_-]*/y;
const URI = /(?:[0-9A-Za-z_\-;/?:@&=+$,.!~*'()[\]]|%[0-9a-fA-F]{2})*/y;

function take(cursor: Cursor, pattern: RegExp): string {
  pattern.lastIndex = cursor.index;
  const text = pattern.exec(cursor.text)?.[0] ?? '';
  cursor.skip(text.length);
  return text;
}

/** Name of an anchor or alias; the cursor is at `&` or `*`. */
export function scanAnchor(cursor: Cursor): string {
  cursor.skip();
  const name = take(cursor, WORD);
  const c = cursor.code();
  if (name === '' || !(isBlankOrEnd(c) || '?:,]}%@`'.includes(String.fromCharCode(c)))) {
    throw yamlErrorAt('did not find expected alphabetic or numeric character', cursor.line);
  }
  return name;
}

function decodeUri(cursor: Cursor, text: string): string {
  if (cursor.code() === 37) throw yamlErrorAt('did not find URI escaped octet', cursor.line);
  try {
    return text.includes('%') ? decodeURIComponent(text) : text;
  } catch {
    throw yamlErrorAt('found an incorrect leading UTF-8 octet', cursor.line);
  }
}

/** `!`, `!!` or `!name!`. */
function takeHandle(cursor: Cursor): string {
  cursor.skip();
  const name = `!${take(cursor, WORD)}`;
  if (cursor.code() !== 33) return name;
  cursor.skip();
  return `${name}!`;
}

interface Tag {
  /** Empty for a verbatim tag. */
  readonly handle: string;
  readonly suffix: string;
}

/** A tag; the cursor is at `!`. */
export function scanTag(cursor: Cursor): Tag {
  const tag = cursor.code(1) === 60 ? takeVerbatim(cursor) : takeShorthand(cursor);
  if (!isBlankOrEnd(cursor.code())) {
    throw yamlErrorAt('did not find expected whitespace or line break', cursor.line);
  }
  return tag;
}

function takeVerbatim(cursor: Cursor): Tag {
  cursor.skip(2);
  const suffix = decodeUri(cursor, take(cursor, URI));
  if (suffix === '') throw yamlErrorAt('did not find expected tag URI', cursor.line);
  if (cursor.code() !== 62) throw yamlErrorAt("did not find the expected '>'", cursor.line);
  cursor.skip();
  return { handle: '', suffix };
}

function takeShorthand(cursor: Cursor): Tag {
  const handle = takeHandle(cursor);
  const suffix = decodeUri(cursor, take(cursor, URI));
  if (handle.length > 1 && handle.endsWith('!')) {
    if (suffix === '') throw yamlErrorAt('did not find expected tag URI', cursor.line);
    return { handle, suffix };
  }
  const local = handle.slice(1) + suffix;
  return local === '' ? { handle: '', suffix: '!' } : { handle: '!', suffix: local };
}

interface Directive {
  readonly kind: 'version' | 'tag-directive';
  /** Version, or handle of the tag. */
  readonly value: string;
  readonly prefix: string;
}

/** A directive; the cursor is at `%`. */
export function scanDirective(cursor: Cursor): Directive {
  cursor.skip();
  const name = take(cursor, WORD);
  if (name === '') throw yamlErrorAt('could not find expected directive name', cursor.line);
  if (!isBlankOrEnd(cursor.code())) {
    throw yamlErrorAt('found unexpected non-alphabetical character', cursor.line);
  }
  let directive: Directive;
  if (name === 'YAML') directive = { kind: 'version', value: takeVersion(cursor), prefix: '' };
  else if (name === 'TAG') directive = takeTagDirective(cursor);
  else throw yamlErrorAt('found unknown directive name', cursor.line);
  cursor.skipBlanks();
  cursor.skipComment();
  if (!isBreakOrEnd(cursor.code())) {
    throw yamlErrorAt('did not find expected comment or line break', cursor.line);
  }
  cursor.takeBreak();
  return directive;
}

function takeVersion(cursor: Cursor): string {
  cursor.skipBlanks();
  const version = take(cursor, /\d{1,2}\.\d{1,2}/y);
  if (version === '') throw yamlErrorAt('did not find expected version number', cursor.line);
  return version;
}

function takeTagDirective(cursor: Cursor): Directive {
  cursor.skipBlanks();
  if (cursor.code() !== 33) throw yamlErrorAt("did not find expected '!'", cursor.line);
  const value = takeHandle(cursor);
  if (!isBlankCode(cursor.code())) throw yamlErrorAt('did not find expected whitespace', cursor.line);
  cursor.skipBlanks();
  const prefix = decodeUri(cursor, take(cursor, URI));
  if (prefix === '') throw yamlErrorAt('did not find expected tag URI', cursor.line);
  return { kind: 'tag-directive', value, prefix };
}
