/** Search and replace, with strings, regular expressions and lambdas. */
import { byteLength } from '../../go/go-string.ts';
import {
  compileRegexp,
  expandTemplate,
  groupNames,
  matchesOf,
  splitText,
  type Match,
} from '../../go/regexp.ts';
import type { FunctionWorld, SpiffFunction, SpiffFunctionTable } from '../function.ts';
import type { SpiffCallable, SpiffValue } from '../value.ts';
import { count, fail, integer, isCallable, limited, MAX_ELEMENTS, simpleText, text } from './arguments.ts';

/** Stops searches with too many matches. */
function charger(name: string): () => void {
  let found = 0;
  return () => {
    if (++found > MAX_ELEMENTS) fail(`${name}: more than ${String(MAX_ELEMENTS)} matches`);
  };
}

/** @throws Unresolvable with the error in the pattern */
function checkPattern(name: string, pattern: string): void {
  try {
    compileRegexp(pattern);
  } catch (cause) {
    fail(`${name}: ${(cause as Error).message}`, cause);
  }
}

const groupsOf = ({ groups }: Match): SpiffValue => groups.map((group) => group ?? '');

/** Number of requested matches; 0 for only the first one, not in a list. */
function repetition(value: SpiffValue | undefined): number {
  if (value === undefined) return 0;
  if (typeof value === 'boolean') return value ? -1 : 1;
  const times = integer(value, 'simple value for argument two of function match required');
  return times === 0n ? fail('repetition count may not be zero') : Number(times);
}

function match(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 3, 'match takes two or three arguments');
  const pattern = text(args[0], 'pattern string for argument one of function match required');
  if (args[1] === null) return false;
  const times = repetition(args[2]);
  const source = simpleText(args[1]) ?? fail('simple value for argument two of function match required');
  checkPattern('match', pattern);
  const found = matchesOf(charger('match'), pattern, source, times === 0 ? 1 : times);
  if (times !== 0) return found.map(groupsOf);
  return found[0] ? groupsOf(found[0]) : [];
}

function splitMatch(args: readonly SpiffValue[]): SpiffValue {
  count(args, 2, 3, 'split_match takes 2 or 3 arguments');
  const pattern = text(args[0], 'first argument for split_match must be a string');
  const source = text(args[1], 'second argument for split_match must be a string');
  const limit = args.length > 2 ? integer(args[2], 'third argument for split must be an integer') : -1n;
  checkPattern('split_match', pattern);
  return splitText(charger('split_match'), pattern, source, Number(limit)) ?? [];
}

/** Finds the first match in a string. */
type Finder = (source: string) => Match | undefined;

const findText =
  (wanted: string): Finder =>
  (source) => {
    const start = source.indexOf(wanted);
    return start < 0 ? undefined : { start, end: start + wanted.length, groups: [wanted] };
  };

const findPattern =
  (pattern: string): Finder =>
  (source) =>
    matchesOf(() => undefined, pattern, source, 1)[0];

/**
 * Replaces one match after the other. After each, the search restarts on the rest, so that `^` matches again, as in
 * the original.
 */
function replaceEach(
  name: string,
  source: string,
  find: Finder,
  by: (found: Match) => string,
  times: bigint,
): string {
  const charge = charger(name);
  let out = '';
  let rest = source;
  let isAfterEmpty = true;
  for (let left = times; left !== 0n; left--) {
    const found = find(rest);
    if (!found) break;
    charge();
    out += rest.slice(0, found.start);
    if (isAfterEmpty || found.end > 0) out += by(found);
    rest = rest.slice(found.end);
    isAfterEmpty = found.start === found.end;
    if (isAfterEmpty) {
      if (rest === '') break;
      const step = (rest.codePointAt(0) as number) > 0xffff ? 2 : 1;
      out += rest.slice(0, step);
      rest = rest.slice(step);
    }
    limited(name, out);
  }
  return out + rest;
}

function callFor(name: string, lambda: SpiffCallable, world: FunctionWorld): (found: Match) => string {
  return (found) => {
    let result: SpiffValue;
    try {
      result = world.call(lambda, [groupsOf(found)]);
    } catch (cause) {
      return fail(`${name}: replace: ${(cause as Error).message}`, cause);
    }
    return text(result, `${name}: replace: lambda must return a string`);
  };
}

interface Replacing {
  readonly source: string;
  readonly wanted: string;
  readonly by: SpiffValue | undefined;
  readonly times: bigint;
}

function replaceArguments(name: string, args: readonly SpiffValue[]): Replacing {
  if (args.length < 3) fail(`${name} requires at least 3 arguments`);
  if (args.length > 4) fail(`${name} does not take more than 4 arguments`);
  return {
    source: text(args[0], `first argument for ${name} must be a string`),
    wanted: text(args[1], `second argument for ${name} must be a string`),
    by: args[2],
    times: args.length > 3 ? integer(args[3], `fourth argument for ${name} must be an integer`) : -1n,
  };
}

/** Go's `strings.Replace`; an empty string matches between all characters. */
function replaceText(source: string, wanted: string, by: string, times: bigint): string {
  const parts = wanted === '' ? ['', ...Array.from(source), ''] : source.split(wanted);
  const most = times < 0n || times > BigInt(parts.length) ? parts.length - 1 : Number(times);
  const places = Math.min(most, parts.length - 1);
  if (parts.length > MAX_ELEMENTS * 10 || byteLength(source) + places * byteLength(by) > 2 ** 25) {
    return limited('replace', ' '.repeat(2 ** 25));
  }
  return (
    parts.slice(0, places + 1).join(by) +
    parts
      .slice(places + 1)
      .map((part) => wanted + part)
      .join('')
  );
}

const replace: SpiffFunction = (args, world) => {
  const { source, wanted, by, times } = replaceArguments('replace', args);
  if (typeof by === 'string') return limited('replace', replaceText(source, wanted, by, times));
  if (!isCallable(by)) return fail('replace: replace substitution must be string or lambda');
  return replaceEach('replace', source, findText(wanted), callFor('replace', by, world), times);
};

const replaceMatch: SpiffFunction = (args, world) => {
  const { source, wanted, by, times } = replaceArguments('replace_match', args);
  checkPattern('replace_match', wanted);
  if (typeof by !== 'string' && !isCallable(by)) {
    return fail('replace_match: replace substitution must be string or lambda');
  }
  const names = groupNames(wanted);
  const write =
    typeof by === 'string'
      ? (found: Match) => expandTemplate(by, found, names)
      : callFor('replace_match', by, world);
  return replaceEach('replace_match', source, findPattern(wanted), write, times);
};

export const patternFunctions: SpiffFunctionTable = {
  match,
  split_match: splitMatch,
  replace,
  replace_match: replaceMatch,
};
