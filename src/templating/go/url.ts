/** Parses URLs with the rules of Go's `net/url`. */
import { bytesOf, stringOf } from './go-string.ts';
import { quoteString } from './quote.ts';
import { GoError } from './errors.ts';

/** @throws GoError for invalid escapes */
export function unescapeUrl(text: string): string {
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  if (bad !== undefined) throw new GoError(`invalid URL escape ${quoteString(bad)}`);
  if (!text.includes('%')) return text;
  const bytes: Buffer[] = [];
  for (const part of text.split(/(%[0-9a-fA-F]{2})/)) {
    bytes.push(/^%..$/.test(part) ? Buffer.from(part.slice(1), 'hex') : bytesOf(part));
  }
  return stringOf(Buffer.concat(bytes));
}

const NOT_IN_HOST = /[\\^`{|}/?#@ ]/;
const CONTROL = /\p{Cc}/u;

/** Far longer than the limits of browsers and servers; the patterns here need more than linear time. */
const MAX_LENGTH = 8192;

/** Splits `//user@host` at the start from the path after it. */
function cutAuthority(rest: string, hasScheme: boolean): { authority: string; path: string } {
  if (!rest.startsWith('//') || (!hasScheme && rest.startsWith('///'))) return { authority: '', path: rest };
  const slash = rest.indexOf('/', 2);
  if (slash < 0) return { authority: rest.slice(2), path: '' };
  return { authority: rest.slice(2, slash), path: rest.slice(slash) };
}

export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  /** With the port. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
  readonly user?: { readonly name: string; readonly password?: string };
}

/** @throws GoError with Go's message, without the URL */
export function parseUrl(url: string): GoUrl {
  if (url.length > MAX_LENGTH) throw new GoError('the URL is too long');
  const [beforeFragment = '', ...fragments] = url.split('#');
  if (CONTROL.test(beforeFragment)) throw new GoError('net/url: invalid control character in URL');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(beforeFragment)?.[1] ?? '';
  const afterScheme = scheme === '' ? beforeFragment : beforeFragment.slice(scheme.length + 1);
  if (scheme === '' && afterScheme.startsWith(':')) throw new GoError('missing protocol scheme');
  const question = afterScheme.indexOf('?');
  const query = question < 0 ? '' : afterScheme.slice(question + 1);
  const rest = question < 0 ? afterScheme : afterScheme.slice(0, question);
  const common = { scheme: scheme.toLowerCase(), query, fragment: unescapeUrl(fragments.join('#')) };
  if (!rest.startsWith('/') && scheme !== '') return { ...common, opaque: rest, host: '', path: '' };
  if (scheme === '' && /^[^/]*:/.test(rest))
    throw new GoError('first path segment in URL cannot contain colon');
  return { ...common, ...placeOf(rest, scheme !== '') };
}

/** User, host and path. */
function placeOf(rest: string, hasScheme: boolean): Pick<GoUrl, 'opaque' | 'host' | 'path' | 'user'> {
  const { authority, path } = cutAuthority(rest, hasScheme);
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const port = /:([^:\]]*)$/.exec(host)?.[1] ?? '';
  if (/[^0-9]/.test(port)) throw new GoError(`invalid port ${quoteString(`:${port}`)} after host`);
  const wrong = NOT_IN_HOST.exec(host)?.[0];
  if (wrong !== undefined) throw new GoError(`invalid character ${quoteString(wrong)} in host name`);
  const parts = { opaque: '', host: unescapeUrl(host), path: unescapeUrl(path) };
  return at < 0 ? parts : { ...parts, user: userOf(authority.slice(0, at)) };
}

function userOf(text: string): { name: string; password?: string } {
  const colon = text.indexOf(':');
  if (colon < 0) return { name: unescapeUrl(text) };
  return { name: unescapeUrl(text.slice(0, colon)), password: unescapeUrl(text.slice(colon + 1)) };
}

/** The host without its port. */
export const hostname = (host: string): string => {
  const bracketed = /^\[(.*)\](?::\d*)?$/.exec(host)?.[1];
  return bracketed ?? host.replace(/:[^:]*$/, '');
};
