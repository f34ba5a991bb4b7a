/** sprig's functions for regular expressions. */
import {
  expandTemplate,
  groupNames,
  matchesOf,
  replaceMatches,
  splitText,
  testRegexp,
  type Charge,
} from '../../go/regexp.ts';
import type { Env, FunctionTable } from '../env.ts';
import { envFn, fn } from '../signature.ts';
import { nilList, typedList, type Value } from '../values.ts';

const chargeOf =
  (env: Env): Charge =>
  (cost) => {
    env.charge(cost);
  };

const listOf = (texts: string[] | undefined): Value =>
  texts === undefined || texts.length === 0 ? nilList('string') : typedList('string', texts);

function replaceAll(env: Env, source: string, text: string, template: string): string {
  const names = groupNames(source);
  return replaceMatches(chargeOf(env), source, text, (match) => expandTemplate(template, match, names));
}

const findAll = (env: Env, source: string, text: string, limit: number): Value =>
  listOf(matchesOf(chargeOf(env), source, text, limit).map((m) => text.slice(m.start, m.end)));

const split = (env: Env, source: string, text: string, limit: number): Value => {
  const parts = splitText(chargeOf(env), source, text, limit);
  return parts === undefined ? nilList('string') : typedList('string', parts);
};

const functions = {
  regexMatch: fn('string string', (source: string, text: string) => {
    try {
      return testRegexp(source, text);
    } catch {
      return false;
    }
  }),
  regexFind: envFn('string string', (env: Env, source: string, text: string) => {
    const first = matchesOf(chargeOf(env), source, text, 1)[0];
    return first ? text.slice(first.start, first.end) : '';
  }),
  regexFindAll: envFn('string string int', findAll),
  regexReplaceAll: envFn('string string string', replaceAll),
  regexReplaceAllLiteral: envFn(
    'string string string',
    (env: Env, source: string, text: string, by: string) =>
      replaceMatches(chargeOf(env), source, text, () => by),
  ),
  regexSplit: envFn('string string int', split),
} as const;

export const regexFunctions: FunctionTable = {
  ...functions,
  mustRegexMatch: fn('string string', testRegexp),
  mustRegexFind: functions.regexFind,
  mustRegexFindAll: functions.regexFindAll,
  mustRegexReplaceAll: functions.regexReplaceAll,
  mustRegexReplaceAllLiteral: functions.regexReplaceAllLiteral,
  mustRegexSplit: functions.regexSplit,
  regexQuoteMeta: fn('string', (text: string) => text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};
