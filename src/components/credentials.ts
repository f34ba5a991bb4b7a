/**
 * Credentials for registries: logins, and certificate authorities to trust. They come from secrets of type
 * dockerconfigjson, from OCM's configuration, and from files of the operator.
 */
import { isObject, ownField } from '../lib/objects.ts';
import { parseBoundedYaml } from '../lib/yaml-texts.ts';
import { authorityOf, type Authority, type ReadAuthority } from './authorities.ts';
import { RepositoryUnusable } from './errors.ts';
import { trimmedEnd, trimmedEnds } from '../lib/trim.ts';

export interface Login {
  readonly username: string;
  readonly password: string;
  /** A token that replaces username and password; issued by some registries. */
  readonly identityToken?: string;
}

interface Entry {
  readonly host: string;
  readonly pathPrefix: string;
  readonly login?: Login | undefined;
  /** A certificate authority to trust for this registry, in addition to all others. */
  readonly authority?: Authority | undefined;
}

interface Layer {
  /** Used for what the own entries do not contain. */
  readonly fallback?: Credentials | undefined;
  /** Sources of credentials that cannot be used, for messages. */
  readonly problems?: readonly string[];
}

export class Credentials {
  readonly #entries: readonly Entry[];
  readonly #fallback: Credentials | undefined;
  readonly #problems: readonly string[];

  constructor(entries: readonly Entry[], { fallback, problems = [] }: Layer = {}) {
    this.#entries = [...entries].sort((a, b) => b.pathPrefix.length - a.pathPrefix.length);
    this.#fallback = fallback;
    this.#problems = problems;
  }

  /** The login with the longest matching path; undefined: no credentials. */
  for(host: string, repository: string): Login | undefined {
    const own = this.#matching(host, repository).find(({ login }) => login)?.login;
    return own ?? this.#fallback?.for(host, repository);
  }

  /**
   * Certificates to trust, in PEM. A login is only sent to a server that its own author trusts: with the login of the
   * fallback, only authorities of the fallback count. @throws RepositoryUnusable if they cannot be used
   */
  authorities(host: string, repository: string): string | undefined {
    const matching = this.#matching(host, repository);
    const hasLogin = matching.some(({ login }) => login);
    if (!hasLogin && this.#fallback?.for(host, repository))
      return this.#fallback.authorities(host, repository);
    const own = matching.find(({ authority }) => authority)?.authority?.();
    return own ?? this.#fallback?.authorities(host, repository);
  }

  get problems(): readonly string[] {
    return [...this.#problems, ...(this.#fallback?.problems ?? [])];
  }

  /** These credentials, and for other registries those of `fallback`. */
  before(fallback: Credentials): Credentials {
    return new Credentials(this.#entries, { fallback, problems: this.#problems });
  }

  #matching(host: string, repository: string): readonly Entry[] {
    return this.#entries.filter(
      (entry) =>
        entry.host === canonical(host) &&
        (entry.pathPrefix === '' || `${repository}/`.startsWith(`${entry.pathPrefix}/`)),
    );
  }

  static readonly none = new Credentials([]);
  static all(parts: readonly Credentials[], problems: readonly string[] = []): Credentials {
    return new Credentials(
      parts.flatMap((part) => part.#entries),
      { problems },
    );
  }
}

/** The Docker registry has several names. */
const canonical = (host: string): string =>
  ['docker.io', 'index.docker.io', 'registry-1.docker.io'].includes(host) ? 'docker.io' : host.toLowerCase();

/** How a file differs from a secret. */
interface DockerOptions {
  /** Reads the `caFile` of an entry; default: files are not available, as for secrets, which tenants write. */
  readonly caFile?: ReadAuthority;
  /** Receives entries without a use; default: they are ignored. */
  readonly report?: (problem: string) => void;
}

/** @param where place for the message, which never contains the text. @throws RepositoryUnusable */
export function dockerCredentials(
  text: string,
  where: string,
  { caFile, report }: DockerOptions = {},
): Credentials {
  const document = parseOrRefuse(text, where, JSON.parse);
  const auths = ownField(document, 'auths');
  for (const problem of helperProblems(document)) report?.(`${where} ${problem}`);
  if (!isObject(auths)) {
    if (auths !== undefined || !isObject(document)) report?.(`${where} has no object "auths"`);
    return Credentials.none;
  }
  return new Credentials(
    Object.entries(auths).flatMap(([address, entry]) => {
      const login = loginOf(entry);
      const authority = authorityOf(entry, `auths["${address}"] of ${where}`, caFile);
      if (!login && !authority)
        report?.(
          `${where} has neither user name nor token for "${address}" (auth is user:password in base64)`,
        );
      return login || authority ? [{ ...placeOf(address), login, authority }] : [];
    }),
  );
}

/** Credential helpers are programs of the machine on which the user logged in. */
function helperProblems(document: unknown): readonly string[] {
  const helpers = ownField(document, 'credHelpers');
  const hosts = isObject(helpers) ? Object.keys(helpers).map((host) => `"${host}"`) : [];
  const store = ownField(document, 'credsStore');
  const where = [...hosts, ...(typeof store === 'string' && store !== '' ? ['all registries'] : [])];
  return where.map(
    (host) => `names a credential helper for ${host}, which Espalier does not call; add the login to "auths"`,
  );
}

function loginOf(entry: unknown): Login | undefined {
  const field = (name: string): string => {
    const value = ownField(entry, name);
    return typeof value === 'string' ? value : '';
  };
  const decoded = Buffer.from(field('auth'), 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  const username = field('username') || (colon < 0 ? '' : decoded.slice(0, colon));
  const password = field('password') || (colon < 0 ? '' : trimmedEnd(decoded.slice(colon + 1), '\0'));
  const identityToken = field('identitytoken');
  if (username === '' && identityToken === '') return undefined;
  return { username, password, ...(identityToken !== '' && { identityToken }) };
}

/** `https://host/v1/`, `host:port`, `host/path` */
function placeOf(address: string): { readonly host: string; readonly pathPrefix: string } {
  const [host = '', ...path] = address.replace(/^https?:\/\//, '').split('/');
  const pathPrefix = path.filter((part) => part !== '').join('/');
  return { host: canonical(host), pathPrefix: /^v[12]$/.test(pathPrefix) ? '' : pathPrefix };
}

/** OCM's format: `consumers`, each with an identity and properties. @throws RepositoryUnusable */
export function ocmCredentials(text: string, where: string): Credentials {
  const document = parseOrRefuse(text, where, parseBoundedYaml);
  const nested = ownField(document, 'configurations');
  const all = Array.isArray(nested) ? nested : [document];
  const consumers = all.flatMap((one) => {
    const found = ownField(one, 'consumers');
    return Array.isArray(found) ? (found as unknown[]) : [];
  });
  return new Credentials(consumers.flatMap((consumer) => entriesOf(consumer, where)));
}

function entriesOf(consumer: unknown, where: string): readonly Entry[] {
  const identity = ownField(consumer, 'identity');
  const text = (value: unknown): string =>
    typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const type = text(ownField(identity, 'type'));
  const hostname = text(ownField(identity, 'hostname'));
  if (hostname === '' || (type !== '' && !/^OCIRegistry|^ociRegistry/.test(type))) return [];
  const port = text(ownField(identity, 'port'));
  const credentials = ownField(consumer, 'credentials');
  return (Array.isArray(credentials) ? (credentials as unknown[]) : []).flatMap((one) => {
    const properties = ownField(one, 'properties');
    const identityToken = text(ownField(properties, 'identityToken'));
    const login = {
      username: text(ownField(properties, 'username')),
      password: text(ownField(properties, 'password')),
      ...(identityToken !== '' && { identityToken }),
    };
    const host = canonical(port === '' ? hostname : `${hostname}:${port}`);
    const authority = authorityOf(properties, `the consumer ${host} in ${where}`);
    const hasLogin = login.username !== '' || identityToken !== '';
    if (!hasLogin && !authority) return [];
    const pathPrefix = trimmedEnds(text(ownField(identity, 'pathprefix')), '/');
    return [{ host, pathPrefix, login: hasLogin ? login : undefined, authority }];
  });
}

/** Parsers quote invalid input, so their messages are not passed on. */
function parseOrRefuse(text: string, where: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    throw new RepositoryUnusable(`${where} cannot be read: its content does not have the format of its key`);
  }
}

/**
 * Limits of one Context or deploy item: pull secrets, and bytes of all credentials in them. They are read again for each
 * job.
 */
const MAX_SECRETS = 100;
const MAX_BYTES = 256 * 2 ** 10;

/** Reads the pull secrets of one Context or deploy item. */
export class CredentialReader {
  readonly #parts: Credentials[] = [];
  #left = MAX_BYTES;

  /**
   * @param count number of pull secrets
   * @param where the object that references them, for messages
   * @throws RepositoryUnusable
   */
  constructor(count: number, where: string) {
    if (count > MAX_SECRETS)
      throw new RepositoryUnusable(
        `${where} references ${String(count)} pull secrets; the limit of ${String(MAX_SECRETS)} is fixed: combine some of them`,
      );
  }

  /** @param data decoded. @throws RepositoryUnusable */
  add(data: Readonly<Record<string, string>>, where: string): void {
    const texts = [data['.dockerconfigjson'], data['.ocmcredentialconfig']];
    for (const text of texts) this.#left -= text?.length ?? 0;
    if (this.#left < 0)
      throw new RepositoryUnusable(
        `with ${where} the pull secrets have more than ${String(MAX_BYTES)} bytes of credentials together; this limit is fixed`,
      );
    this.#parts.push(secretCredentials(data, where));
  }

  get credentials(): Credentials {
    return Credentials.all(this.#parts);
  }
}

/** Credentials of a registry secret, from its decoded data. @throws RepositoryUnusable */
export function secretCredentials(data: Readonly<Record<string, string>>, where: string): Credentials {
  const docker = data['.dockerconfigjson'];
  const ocm = data['.ocmcredentialconfig'];
  return Credentials.all([
    ...(docker === undefined ? [] : [dockerCredentials(docker, `.dockerconfigjson in ${where}`)]),
    ...(ocm === undefined ? [] : [ocmCredentials(ocm, `.ocmcredentialconfig in ${where}`)]),
  ]);
}
