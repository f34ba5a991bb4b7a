/** Regular expressions: RE2 syntax with linear time, and the results of Go's `regexp`. */
import { messageOf } from '../../lib/message-of.ts';
import { RE2JS } from 're2js';
import { GoError } from './errors.ts';

const CACHE_SIZE = 256;
const cache = new Map<string, RE2JS>();

/** @throws GoError for an invalid expression */
export function compileRegexp(source: string): RE2JS {
  const known = cache.get(source);
  if (known) return known;
  try {
    const compiled = RE2JS.compile(source);
    cache.set(source, compiled);
    if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value as string);
    return compiled;
  } catch (cause) {
    let reason = messageOf(cause);
    if (reason.endsWith('trailing backslash at end of expression')) reason += ': ``';
    throw new GoError(reason.startsWith('error parsing') ? reason : `error parsing regexp: ${reason}`, {
      cause,
    });
  }
}

/** Called for every match, so that a caller can stop a long search. @throws to stop it */
export type Charge = (cost: number) => void;

export interface Match {
  readonly start: number;
  readonly end: number;
  /** Strings of the groups; undefined for a group without a match. */
  readonly groups: readonly (string | null | undefined)[];
}

/** Matches that do not overlap; an empty one directly after a match does not count, as in Go. */
export function matchesOf(charge: Charge, source: string, text: string, limit: number): Match[] {
  const matcher = compileRegexp(source).matcher(text);
  const found: Match[] = [];
  let at = 0;
  let previousEnd = -1;
  while ((limit < 0 || found.length < limit) && at <= text.length && matcher.find(at)) {
    const start = matcher.start();
    const end = matcher.end();
    if (end > start || start !== previousEnd) {
      const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i));
      found.push({ start, end, groups });
    }
    previousEnd = end;
    charge(1);
    at = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
  return found;
}

export function replaceMatches(
  charge: Charge,
  source: string,
  text: string,
  by: (match: Match) => string,
): string {
  let out = '';
  let at = 0;
  for (const match of matchesOf(charge, source, text, -1)) {
    out += text.slice(at, match.start) + by(match);
    at = match.end;
  }
  return out + text.slice(at);
}

/** Go's replacement templates: `$1`, `$name`, `${name}`, `$$`; the longest name counts, unknown ones are empty. */
export function expandTemplate(template: string, match: Match, names: ReadonlyMap<string, number>): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (_all, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return '$';
    const index = /^\d+$/.test(name) ? Number(name) : names.get(name);
    return (index === undefined ? undefined : match.groups[index]) ?? '';
  });
}

/** Numbers of the named groups. */
export const groupNames = (source: string): ReadonlyMap<string, number> =>
  new Map(Object.entries(compileRegexp(source).namedGroups()));

/** Go's `Split`; undefined for a limit of 0, which means no list at all. */
export function splitText(charge: Charge, source: string, text: string, limit: number): string[] | undefined {
  if (limit === 0) return undefined;
  if (source !== '' && text === '') return [''];
  const parts: string[] = [];
  let at = 0;
  for (const match of matchesOf(charge, source, text, limit)) {
    if (limit > 0 && parts.length === limit - 1) break;
    if (match.end === 0) continue;
    parts.push(text.slice(at, match.start));
    at = match.end;
  }
  if (at !== text.length || !endsEmpty(charge, source, text)) parts.push(text.slice(at));
  return parts;
}

/** Go adds the rest, except if the last match is empty and at the very end. */
const endsEmpty = (charge: Charge, source: string, text: string): boolean => {
  return matchesOf(charge, source, text, -1).at(-1)?.start === text.length;
};

export const testRegexp = (source: string, text: string): boolean =>
  compileRegexp(source).matcher(text).find();
