/**
 * Converts two kinds of path patterns to regular expressions: shell patterns of Go's `filepath.Match`, and globs
 * with `**`.
 */
import { RE2JS } from 're2js';

const quote = (c: string): string => c.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Position after the `]` that closes the class at `at`; undefined if there is none. */
function classEnd(pattern: string, at: number): number | undefined {
  for (let i = at + 1; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++;
    else if (pattern[i] === ']' && i > at + 1) return i + 1;
  }
  return undefined;
}

/** `[a-z]`, negated if its first character is `not`. */
function classOf(text: string, not: string): string {
  const isNegated = text[1] === not;
  const inner = text.slice(isNegated ? 2 : 1, -1).replace(/[[\]^]/g, '\\$&');
  return isNegated ? `[^/${inner}]` : `[${inner}]`;
}

interface Dialect {
  /** The expression for a run of this many stars. */
  star(count: number): string;
  readonly not: string;
  readonly hasBraces: boolean;
}

/** @returns the expression without anchors; undefined if the pattern is invalid */
function translate(pattern: string, dialect: Dialect): string | undefined {
  let out = '';
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern.charAt(i);
    if (c === '*') {
      const run = /^\*+/.exec(pattern.slice(i))?.[0].length ?? 1;
      out += dialect.star(run);
      i += run - 1;
    } else if (c === '?') out += '[^/]';
    else if (c === '[') {
      const end = classEnd(pattern, i);
      if (end === undefined) return undefined;
      out += classOf(pattern.slice(i, end), dialect.not);
      i = end - 1;
    } else if (c === '\\') {
      if (i + 1 >= pattern.length) return undefined;
      out += quote(pattern.charAt(++i));
    } else if (dialect.hasBraces && c === '{') {
      depth++;
      out += '(?:';
    } else if (depth > 0 && c === '}') {
      depth--;
      out += ')';
    } else out += depth > 0 && c === ',' ? '|' : quote(c);
  }
  return depth === 0 ? out : undefined;
}

function compile(expression: string | undefined): ((text: string) => boolean) | undefined {
  if (expression === undefined) return undefined;
  try {
    const compiled = RE2JS.compile(`^(?:${expression})$`, RE2JS.DOTALL);
    return (text) => compiled.matcher(text).find();
  } catch {
    return undefined;
  }
}

/** A shell pattern: stars do not match `/`. undefined if it is invalid. */
export const shellPattern = (pattern: string): ((path: string) => boolean) | undefined =>
  compile(translate(pattern, { star: () => '[^/]*', not: '^', hasBraces: false }));

/**
 * A glob of templates: `*` stays within a folder, `**` does not, `{a,b}` are alternatives. An invalid one matches
 * all paths.
 */
export const glob = (pattern: string): ((path: string) => boolean) =>
  compile(translate(pattern, { star: (n) => (n > 1 ? '.*' : '[^/]*'), not: '!', hasBraces: true })) ??
  (() => true);
