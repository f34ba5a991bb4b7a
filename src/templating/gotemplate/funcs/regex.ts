/** Regular expressions: RE2 syntax and RE2's promise of linear time. */
import { RE2JS } from 're2js';
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { envFn, fn } from '../signature.ts';
import { nilList, typedList, type Value } from '../values.ts';

const CACHE_SIZE = 256;
const cache = new Map<string, RE2JS>();

/** @throws FunctionError for what is no expression */
function compile(source: string): RE2JS {
  const known = cache.get(source);
  if (known) return known;
  try {
    const compiled = RE2JS.compile(source);
    cache.set(source, compiled);
    if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value as string);
    return compiled;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FunctionError(reason.startsWith('error parsing') ? reason : `error parsing regexp: ${reason}`, {
      cause,
    });
  }
}

interface Match {
  readonly start: number;
  readonly end: number;
  /** Texts of the groups; undefined for a group that took no part. */
  readonly groups: readonly (string | null | undefined)[];
}

/** Matches that do not overlap; an empty one right after a match does not count, as in Go. */
function matches(env: Env, source: string, text: string, limit: number): Match[] {
  const matcher = compile(source).matcher(text);
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
    env.charge(1);
    at = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
  return found;
}

function replace(env: Env, source: string, text: string, by: (match: Match) => string): string {
  let out = '';
  let at = 0;
  for (const match of matches(env, source, text, -1)) {
    out += text.slice(at, match.start) + by(match);
    at = match.end;
  }
  return out + text.slice(at);
}

/** Go's templates: `$1`, `$name`, `${name}`, `$$`; the longest name counts, unknown ones are empty. */
function expand(template: string, match: Match, names: ReadonlyMap<string, number>): string {
  return template.replace(/\$(?:\$|\{(\w+)\}|(\w+))/g, (_all, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (name === undefined) return '$';
    const index = /^\d+$/.test(name) ? Number(name) : names.get(name);
    return (index === undefined ? undefined : match.groups[index]) ?? '';
  });
}

/** Numbers of the named groups. */
const groupNames = (source: string): ReadonlyMap<string, number> =>
  new Map(Object.entries(compile(source).namedGroups()));

function replaceAll(env: Env, source: string, text: string, template: string): string {
  const names = groupNames(source);
  return replace(env, source, text, (match) => expand(template, match, names));
}

function findAll(env: Env, source: string, text: string, limit: number): Value {
  const found = matches(env, source, text, limit).map((m) => text.slice(m.start, m.end));
  return found.length === 0 ? nilList('string') : typedList('string', found);
}

function split(env: Env, source: string, text: string, limit: number): Value {
  if (limit === 0) return nilList('string');
  if (source !== '' && text === '') return typedList('string', ['']);
  const parts: string[] = [];
  let at = 0;
  for (const match of matches(env, source, text, limit)) {
    if (limit > 0 && parts.length === limit - 1) break;
    if (match.end === 0) continue;
    parts.push(text.slice(at, match.start));
    at = match.end;
  }
  if (at !== text.length || !endsEmpty(env, source, text)) parts.push(text.slice(at));
  return typedList('string', parts);
}

/** Go adds the rest unless the last match was the empty one at the very end. */
const endsEmpty = (env: Env, source: string, text: string): boolean => {
  return matches(env, source, text, -1).at(-1)?.start === text.length;
};

const test = (source: string, text: string): boolean => compile(source).matcher(text).find();

const functions = {
  regexMatch: fn('string string', (source: string, text: string) => {
    try {
      return test(source, text);
    } catch {
      return false;
    }
  }),
  regexFind: envFn('string string', (env: Env, source: string, text: string) => {
    const first = matches(env, source, text, 1)[0];
    return first ? text.slice(first.start, first.end) : '';
  }),
  regexFindAll: envFn('string string int', findAll),
  regexReplaceAll: envFn('string string string', replaceAll),
  regexReplaceAllLiteral: envFn(
    'string string string',
    (env: Env, source: string, text: string, by: string) => replace(env, source, text, () => by),
  ),
  regexSplit: envFn('string string int', split),
} as const;

export const regexFunctions: FunctionTable = {
  ...functions,
  mustRegexMatch: fn('string string', test),
  mustRegexFind: functions.regexFind,
  mustRegexFindAll: functions.regexFindAll,
  mustRegexReplaceAll: functions.regexReplaceAll,
  mustRegexReplaceAllLiteral: functions.regexReplaceAllLiteral,
  mustRegexSplit: functions.regexSplit,
  regexQuoteMeta: fn('string', (text: string) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
