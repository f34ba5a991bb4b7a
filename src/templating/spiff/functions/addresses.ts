/** URLs and their paths. */
import { posix } from 'node:path';
import { hostname, parseUrl, unescapeUrl, type GoUrl } from '../../go/url.ts';
import { quoteString } from '../../go/quote.ts';
import type { SpiffFunction, SpiffFunctionTable } from '../function.ts';
import type { SpiffMap, SpiffValue } from '../value.ts';
import { count, fail, text } from './arguments.ts';
import { trimmedEnd } from '../../../lib/trim.ts';

/** If the string is not a URL, all of it is the path. */
function pathOf(source: string): string {
  try {
    return parseUrl(source).path;
  } catch {
    return source;
  }
}

/** Go's `path.Base` */
const lastName = (path: string): string => {
  const name = posix.basename(trimmedEnd(path, '/'));
  return name !== '' ? name : path === '' ? '.' : '/';
};

/** Go's `path.Dir` */
const folder = (path: string): string => {
  const cut = posix.normalize(path.slice(0, path.lastIndexOf('/') + 1));
  return cut.length > 1 ? cut.replace(/\/$/, '') : cut;
};

const ofPath =
  (name: string, part: (path: string) => string): SpiffFunction =>
  (args) => {
    count(args, 1, 1, `function ${name} takes exactly one argument`);
    const source = text(args[0], `string argument expected for function ${name}`);
    const path = pathOf(source);
    return path === '' && isUrl(source) ? '/' : part(path);
  };

const isUrl = (source: string): boolean => {
  try {
    parseUrl(source);
    return true;
  } catch {
    return false;
  }
};

/** The query values by name; invalid parts are skipped, as in Go. */
function queryValues(query: string): SpiffMap {
  const values = new Map<string, SpiffValue[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const parts = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    try {
      const [name = '', value = ''] = parts.map((part) => unescapeUrl(part.replaceAll('+', ' ')));
      values.set(name, [...(values.get(name) ?? []), value]);
    } catch {
      continue;
    }
  }
  return values;
}

function userInfo({ user }: GoUrl): [string, SpiffValue][] {
  if (!user) return [];
  const entries: [string, SpiffValue][] = [['username', user.name]];
  if (user.password !== undefined) entries.push(['password', user.password]);
  return [['userinfo', new Map(entries)]];
}

function parseAddress(args: readonly SpiffValue[]): SpiffValue {
  count(args, 1, 1, 'invalid argument count for parseurl');
  const source = text(args[0], 'argument for parseurl must be a string');
  let url: GoUrl;
  try {
    url = parseUrl(source);
  } catch (cause) {
    const reason = (cause as Error).message;
    return fail(`invalid argument for parseurl: parse ${quoteString(source)}: ${reason}`, cause);
  }
  const port = /:(\d+)$/.exec(url.host)?.[1];
  return new Map<string, SpiffValue>([
    ['scheme', url.scheme],
    ['host', hostname(url.host)],
    ['path', url.path],
    ['fragment', url.fragment],
    ...(port === undefined ? [] : [['port', BigInt(port)] as const]),
    ['query', url.query],
    ['values', queryValues(url.query)],
    ...userInfo(url),
  ]);
}

export const addressFunctions: SpiffFunctionTable = {
  basename: ofPath('basename', lastName),
  dirname: ofPath('dirname', folder),
  parseurl: parseAddress,
};
