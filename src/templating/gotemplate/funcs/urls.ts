/** sprig's functions that parse and join URLs. */
import { hostname, parseUrl, unescapeUrl, type GoUrl } from '../../go/url.ts';
import type { FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { bytesOf } from '../../go/go-string.ts';
import { quoteString } from '../../go/quote.ts';
import { fn } from '../signature.ts';
import { GoMap, kindName } from '../values.ts';

function escapeBytes(text: string, safe: RegExp): string {
  return Array.from(bytesOf(text), (b) => {
    const char = String.fromCharCode(b);
    return safe.test(char) ? char : `%${b.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

const HOST = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/;
const PATH = /[A-Za-z0-9\-_.~$&+,/:;=@]/;
const FRAGMENT = /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/;
const USER = /[A-Za-z0-9\-_.~$&+,;=]/;

/** User name and password in Go's format. */
function userInfo(text: string): string {
  if (text === '') return '';
  const colon = text.indexOf(':');
  const name = escapeBytes(unescapeUrl(colon < 0 ? text : text.slice(0, colon)), USER);
  return colon < 0 ? name : `${name}:${escapeBytes(unescapeUrl(text.slice(colon + 1)), USER)}`;
}

const userText = ({ name, password }: { name: string; password?: string }): string =>
  escapeBytes(name, USER) + (password === undefined ? '' : `:${escapeBytes(password, USER)}`);

function urlParse(url: string): GoMap {
  let parts: GoUrl;
  try {
    parts = parseUrl(url);
  } catch (cause) {
    const reason = `parse ${quoteString(url)}: ${(cause as Error).message}`;
    throw new FunctionError(`unable to parse url: ${reason}`, { cause });
  }
  const { user, ...texts } = parts;
  const userinfo = user ? userText(user) : '';
  return new GoMap(new Map(Object.entries({ ...texts, userinfo, hostname: hostname(parts.host) })));
}

function urlJoin(map: GoMap): string {
  const part = (key: string): string => {
    const value = map.entries.has(key) ? map.get(key) : '';
    if (typeof value === 'string') return value;
    throw new FunctionError(
      `unable to parse ${key} key, must be of type string, but ${kindName(value)} found`,
    );
  };
  const scheme = part('scheme');
  const query = part('query');
  const fragment = part('fragment');
  const user = userInfo(part('userinfo'));
  const path = escapeBytes(part('path'), PATH);
  let out = scheme === '' ? '' : `${scheme}:`;
  if (part('opaque') !== '') out += part('opaque');
  else {
    const host = escapeBytes(part('host'), HOST);
    if (scheme !== '' || host !== '' || user !== '') {
      if (host !== '' || path !== '' || user !== '') out += '//';
      out += (user === '' ? '' : `${user}@`) + host;
    }
    if (path !== '' && !path.startsWith('/') && host !== '') out += '/';
    out += path;
  }
  if (query !== '') out += `?${query}`;
  return fragment === '' ? out : `${out}#${escapeBytes(fragment, FRAGMENT)}`;
}

export const urlFunctions: FunctionTable = {
  urlParse: fn('string', urlParse),
  urlJoin: fn('map', urlJoin),
};
