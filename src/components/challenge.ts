/** Parses the header `WWW-Authenticate` of a registry's 401 response. */

export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer';
      readonly realm: string;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

const SCHEME = /(?:^|,\s*)(Basic|Bearer)(?=\s|$|,)/gi;
const PARAMETER = /(?<![a-z_])([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi;

/** Prefers Bearer; undefined if no supported scheme is offered. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  if (header === undefined) return undefined;
  const starts = [...header.matchAll(SCHEME)];
  const challenges = starts.map((match, i): Challenge | undefined => {
    const end = starts[i + 1]?.index ?? header.length;
    if (match[1]?.toLowerCase() === 'basic') return { scheme: 'basic' };
    const parameters = parametersOf(header.slice(match.index + match[0].length, end));
    const realm = parameters['realm'];
    if (realm === undefined || !URL.canParse(realm)) return undefined;
    return { scheme: 'bearer', realm, service: parameters['service'], scope: parameters['scope'] };
  });
  return challenges.find((one) => one?.scheme === 'bearer') ?? challenges.find((one) => one !== undefined);
}

const parametersOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(PARAMETER)].map(([, key = '', quoted, bare = '']) => [
      key.toLowerCase(),
      quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1'),
    ]),
  );
