/** URLs taken apart and put together, by the rules of Go's `net/url`. */
import type { FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { bytesOf, stringOf } from '../go-string.ts';
import { quoteString } from '../quote.ts';
import { fn } from '../signature.ts';
import { GoMap, kindName } from '../values.ts';

/** @throws FunctionError for broken escapes */
function unescape(text: string): string {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  if (bad !== undefined) throw new FunctionError(`invalid URL escape ${quoteString(bad)}`);
  if (!text.includes('%')) return text;
  const bytes: Buffer[] = [];
  for (const part of text.split(/(%[0-9a-fA-F]{2})/)) {
    bytes.push(/^%..$/.test(part) ? Buffer.from(part.slice(1), 'hex') : bytesOf(part));
  }
  return stringOf(Buffer.concat(bytes));
}

function escapeBytes(text: string, safe: RegExp): string {
  return Array.from(bytesOf(text), (b) => {
    const char = String.fromCharCode(b);
    return safe.test(char) ? char : `%${b.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}

const PATH = /[A-Za-z0-9\-_.~$&+,/:;=@]/;
const FRAGMENT = /[A-Za-z0-9\-_.~$&+,/:;=?@!()*]/;
const USER = /[A-Za-z0-9\-_.~$&+,;=]/;

const CONTROL = /\p{Cc}/u;

/** Far beyond what browsers and servers take; the patterns here take more than linear time. */
const MAX_LENGTH = 8192;

/** `//user@host` at the start, and the path after it. */
function cutAuthority(rest: string, hasScheme: boolean): { authority: string; path: string } {
  if (!rest.startsWith('//') || (!hasScheme && rest.startsWith('///'))) return { authority: '', path: rest };
  const slash = rest.indexOf('/', 2);
  if (slash < 0) return { authority: rest.slice(2), path: '' };
  return { authority: rest.slice(2, slash), path: rest.slice(slash) };
}

/** @throws FunctionError with Go's words, without the URL */
function parse(url: string): Record<string, string> {
  if (url.length > MAX_LENGTH) throw new FunctionError('the URL is too long');
  if (CONTROL.test(url)) throw new FunctionError('net/url: invalid control character in URL');
  const [beforeFragment = '', ...fragments] = url.split('#');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(beforeFragment)?.[1] ?? '';
  const afterScheme = scheme === '' ? beforeFragment : beforeFragment.slice(scheme.length + 1);
  if (scheme === '' && afterScheme.startsWith(':')) throw new FunctionError('missing protocol scheme');
  const question = afterScheme.indexOf('?');
  const query = question < 0 ? '' : afterScheme.slice(question + 1);
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const common = { scheme: scheme.toLowerCase(), query, fragment: unescape(fragments.join('#')) };
  if (!rest.startsWith('/') && scheme !== '')
    return { ...common, opaque: rest, host: '', path: '', userinfo: '' };
  if (scheme === '' && /^[^/]*:/.test(rest))
    throw new FunctionError('first path segment in URL cannot contain colon');
  const { authority, path } = cutAuthority(rest, scheme !== '');
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const port = /:([^:\]]*)$/.exec(host)?.[1] ?? '';
  if (/[^0-9]/.test(port)) throw new FunctionError(`invalid port ${quoteString(`:${port}`)} after host`);
  const userinfo = userInfo(authority.slice(0, Math.max(at, 0)));
  return { ...common, opaque: '', host: unescape(host), path: unescape(path), userinfo };
}

/** Name and password, written as Go writes them. */
function userInfo(text: string): string {
  if (text === '') return '';
  const colon = text.indexOf(':');
  const name = escapeBytes(unescape(colon < 0 ? text : text.slice(0, colon)), USER);
  return colon < 0 ? name : `${name}:${escapeBytes(unescape(text.slice(colon + 1)), USER)}`;
}

const hostname = (host: string): string => {
  const bracketed = /^\[(.*)\](?::\d*)?$/.exec(host)?.[1];
  return bracketed ?? host.replace(/:[^:]*$/, '');
};

function urlParse(url: string): GoMap {
  let parts: Record<string, string>;
  try {
    parts = parse(url);
  } catch (cause) {
    const reason = `parse ${quoteString(url)}: ${(cause as Error).message}`;
    throw new FunctionError(`unable to parse url: ${reason}`, { cause });
  }
  return new GoMap(new Map(Object.entries({ ...parts, hostname: hostname(parts['host'] ?? '') })));
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
    const host = part('host');
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
