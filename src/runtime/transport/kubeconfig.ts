/**
 * Reads the server's address and the credentials from a kubeconfig or from the pod.
 *
 * Tokens, certificates and passwords are read here. Commands and auth providers are handled by
 * @kubernetes/client-node, which is passed as `external`, because importing all of it would more than double the time
 * to start.
 *
 * A kubeconfig given as text is from a Target, so from a tenant. It must not refer to files of this machine or run
 * commands: it is refused if it does, and what could do so is removed before anything else reads it.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { KUBECONFIG } from '../../lib/kubeconfig-strings.ts';
import { isObject, type Fields } from '../../lib/objects.ts';
import { YamlTooLarge } from '../../lib/yaml-error.ts';
import { textOfYaml } from '../../lib/yaml-bytes.ts';
import { parseBoundedYaml } from '../../lib/yaml-texts.ts';
import { parseYaml } from '../../lib/yaml.ts';
import { KubeconfigError } from '../errors.ts';
import { serverOf } from './server-address.ts';
import { confined, FILE_FIELDS } from './confined.ts';
import { isMissing, readText, unreadable } from './kubeconfig-files.ts';
import { withAbsoluteCommand } from './exec-plugin.ts';

/** The source of credentials: a file, a string, or the service account of the pod. Default context: the current one. */
export type KubeconfigSource =
  | { readonly file: string; readonly context?: string }
  | { readonly text: string; readonly context?: string }
  | 'in-cluster';

export interface Credentials {
  readonly headers: Headers;
  readonly tls: TlsMaterial;
}

/** Names in lower case; the header is sent once for each element of a list. */
type Headers = Readonly<Record<string, string | string[]>>;

export interface TlsMaterial {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

export interface Access {
  /** Base address without a trailing slash. */
  readonly server: string;
  /** The context's namespace. */
  readonly namespace: string;
  readonly proxyUrl?: string;
  /**
   * Reads files and calls plugins.
   * @param refused the server rejected the last credentials, so plugins must not use their cache
   */
  credentials(refused: boolean): Promise<Credentials>;
}

/** Requests credentials from the command or the auth provider of a user. */
export type ExternalCredentials = (request: {
  /** The whole kubeconfig as text. */
  readonly kubeconfig: string;
  readonly context: string;
  /** The user of the context. */
  readonly user: Readonly<Record<string, unknown>>;
  /** The server rejected the last credentials, so plugins must not use their cache. */
  readonly refused: boolean;
}) => Promise<Credentials>;

/** The default kubeconfig: KUBECONFIG, then the pod's service account, then the home folder. */
export function findKubeconfig(
  env: Readonly<Record<string, string | undefined>>,
  home = homedir(),
): KubeconfigSource | undefined {
  if (env['KUBECONFIG']) return { file: env['KUBECONFIG'] };
  if (env['KUBERNETES_SERVICE_HOST']) return 'in-cluster';
  const file = join(home, '.kube', 'config');
  return existsSync(file) ? { file } : undefined;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * @param env for the address of the API server inside a pod
 * @throws KubeconfigError naming the file and how to fix it
 */
export async function loadAccess(
  source: KubeconfigSource,
  external: ExternalCredentials,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Access> {
  if (source === 'in-cluster') return inCluster(env);
  if ('text' in source) return fromDocument(parse(source.text, 'the kubeconfig'), source, external, 'text');
  return fromDocument(await readFiles(source.file), source, external, source.file);
}

/** The names of all contexts; none in a pod. @throws KubeconfigError */
export async function contextNames(source: KubeconfigSource): Promise<readonly string[]> {
  if (source === 'in-cluster') return [];
  const document = 'text' in source ? parse(source.text, 'the kubeconfig') : await readFiles(source.file);
  return [...document.contexts.keys()];
}

// ---------------------------------------------------------------- in the pod

async function inCluster(env: NodeJS.ProcessEnv): Promise<Access> {
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (!host) {
    throw new KubeconfigError({
      message: 'not running inside a cluster (KUBERNETES_SERVICE_HOST is not set); name a kubeconfig instead',
    });
  }
  const at = (name: string): string => join(SERVICE_ACCOUNT, name);
  const namespace = await readFile(at('namespace'), 'utf8').catch(() => 'default');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim() || 'default',
    credentials: async () => ({
      headers: bearer(await readText(at('token'), 'the service account token')),
      tls: { ca: await readText(at('ca.crt'), "the cluster's CA certificate") },
    }),
  };
}

// ---------------------------------------------------------------- kubeconfig

interface Document {
  readonly clusters: Map<string, Fields>;
  readonly users: Map<string, Fields>;
  readonly contexts: Map<string, Fields>;
  readonly current: string | undefined;
}

/** Several files, separated as in KUBECONFIG, are merged: the first definition of a name wins. */
async function readFiles(list: string): Promise<Document> {
  const files = list.split(delimiter).filter(Boolean);
  const documents: Document[] = [];
  for (const file of files) {
    try {
      documents.push(parse(textOfYaml(await readFile(file)), `kubeconfig ${file}`, dirname(file)));
    } catch (error) {
      if (error instanceof KubeconfigError) throw error;
      if (files.length > 1 && isMissing(error)) continue;
      throw unreadable(`kubeconfig ${file}`, error, 'set KUBECONFIG or pass --kubeconfig');
    }
  }
  if (documents.length === 0) {
    throw new KubeconfigError({
      message: `cannot read kubeconfig ${list}: no such file; set KUBECONFIG or pass --kubeconfig`,
    });
  }
  const merged = (pick: (d: Document) => Map<string, Fields>): Map<string, Fields> =>
    new Map(documents.toReversed().flatMap((d) => [...pick(d)]));
  return {
    clusters: merged((d) => d.clusters),
    users: merged((d) => d.users),
    contexts: merged((d) => d.contexts),
    current: documents.find((d) => d.current)?.current,
  };
}

function parse(text: string, title: string, folder?: string): Document {
  let root: unknown;
  try {
    // Texts come from tenants, files from the user.
    const options = { strings: KUBECONFIG };
    root = folder === undefined ? parseBoundedYaml(text, options) : parseYaml(text, options);
  } catch (error) {
    if (error instanceof YamlTooLarge)
      throw new KubeconfigError({ message: `${title} is too large: ${error.message}` });
    // Other messages of the parser quote lines of the file, which may contain tokens.
    throw new KubeconfigError({
      message: `${title} is not valid YAML; write it again, for example with kubectl config view --raw`,
    });
  }
  if (!isObject(root) || !Array.isArray(root['clusters']) || root['clusters'].length === 0) {
    throw new KubeconfigError({ message: `${title} contains no cluster; is it a kubeconfig?` });
  }
  const named = (list: unknown, field: string): Map<string, Fields> =>
    new Map(
      (Array.isArray(list) ? list.filter(isObject) : []).map((entry) => [
        String(entry['name']),
        absolute(isObject(entry[field]) ? entry[field] : {}, folder),
      ]),
    );
  return {
    clusters: named(root['clusters'], 'cluster'),
    users: named(root['users'], 'user'),
    contexts: named(root['contexts'], 'context'),
    current: textOf(root['current-context']),
  };
}

/** Paths in a kubeconfig are relative to the file, also those of commands. */
function absolute(fields: Fields, folder: string | undefined): Fields {
  if (folder === undefined) return fields;
  const result = { ...fields };
  for (const name of FILE_FIELDS) {
    const path = textOf(result[name]);
    if (path && !isAbsolute(path)) result[name] = join(folder, path);
  }
  return withAbsoluteCommand(result, folder);
}

function fromDocument(
  document: Document,
  source: { readonly context?: string },
  external: ExternalCredentials,
  origin: string,
): Access {
  const title = origin === 'text' ? 'the kubeconfig' : `kubeconfig ${origin}`;
  const name = source.context ?? document.current;
  const choices = [...document.contexts.keys()].join(', ') || 'none';
  if (!name) {
    throw new KubeconfigError({
      message: `${title} has no current-context; choose one with --context (it has ${choices})`,
    });
  }
  const context = document.contexts.get(name);
  if (!context) throw new KubeconfigError({ message: `${title} has no context ${name}; it has ${choices}` });
  const namedCluster = document.clusters.get(String(context['cluster']));
  if (!namedCluster)
    throw new KubeconfigError({ message: `${title}: context ${name} refers to a cluster that is not in it` });
  const namedUser = document.users.get(String(context['user']));
  if (!namedUser && textOf(context['user'])) {
    throw new KubeconfigError({ message: `${title}: context ${name} refers to a user that is not in it` });
  }
  const entries = { cluster: namedCluster, user: namedUser ?? {} };
  const { cluster, user } = origin === 'text' ? confined(entries) : entries;

  const proxyUrl = textOf(cluster['proxy-url']);
  return {
    server: serverOf({ server: textOf(cluster['server']), isEncrypted: namesTls(cluster, user) }, title),
    namespace: textOf(context['namespace']) ?? 'default',
    ...(proxyUrl && { proxyUrl }),
    credentials: credentialsOf(document, name, cluster, user, external),
  };
}

/** Whether the connection to an address without a scheme is encrypted, as client-go decides it. */
const namesTls = (cluster: Fields, user: Fields): boolean =>
  cluster['insecure-skip-tls-verify'] === true ||
  ['certificate-authority', 'certificate-authority-data'].some((field) => textOf(cluster[field])) ||
  ['client-certificate', 'client-certificate-data'].some((field) => textOf(user[field]));

function credentialsOf(
  document: Document,
  context: string,
  cluster: Fields,
  user: Fields,
  external: ExternalCredentials,
): (refused: boolean) => Promise<Credentials> {
  return async (refused) => {
    const own = { headers: await headersOf(user), tls: await tlsOf(cluster, user) };
    if (user['exec'] === undefined && user['auth-provider'] === undefined) return own;
    const more = await external({ kubeconfig: exported(document), context, user, refused });
    return { headers: { ...own.headers, ...more.headers }, tls: { ...own.tls, ...more.tls } };
  };
}

async function headersOf(user: Fields): Promise<Headers> {
  const headers: Record<string, string | string[]> = {};
  const tokenFile = textOf(user['tokenFile']);
  const token = tokenFile ? await readText(tokenFile, 'the token') : tokenOf(user);
  const username = textOf(user['username']);
  if (token) Object.assign(headers, bearer(token));
  else if (username) {
    const pair = `${username}:${textOf(user['password']) ?? ''}`;
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  const as = textOf(user['as']);
  if (as) headers['impersonate-user'] = as;
  const uid = textOf(user['as-uid']);
  if (uid) headers['impersonate-uid'] = uid;
  if (Array.isArray(user['as-groups'])) headers['impersonate-group'] = user['as-groups'].map(String);
  const extra = isObject(user['as-user-extra']) ? user['as-user-extra'] : {};
  for (const [key, values] of Object.entries(extra)) {
    const name = `impersonate-extra-${encodeURIComponent(key.toLowerCase())}`;
    headers[name] = Array.isArray(values) ? values.map(String) : [String(values)];
  }
  return headers;
}

/** Line breaks at the end of a token come from the file that it was copied from. */
function tokenOf(user: Fields): string | undefined {
  const token = textOf(user['token'])?.trim();
  if (token === undefined || /^[\x21-\x7e]*$/.test(token)) return token;
  throw new KubeconfigError({
    message: "the user's token has line breaks, blanks or other characters that no token has; copy it again",
  });
}

async function tlsOf(cluster: Fields, user: Fields): Promise<TlsMaterial> {
  const ca = await material(cluster, 'certificate-authority');
  const cert = await material(user, 'client-certificate');
  const key = await material(user, 'client-key');
  const servername = textOf(cluster['tls-server-name']);
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(servername && { servername }),
    ...(cluster['insecure-skip-tls-verify'] === true && { rejectUnauthorized: false }),
  };
}

async function material(fields: Fields, name: string): Promise<string | Buffer | undefined> {
  const data = textOf(fields[`${name}-data`]);
  if (data) return Buffer.from(data, 'base64');
  const file = textOf(fields[name]);
  return file ? readText(file, `the ${name}`) : undefined;
}

/** The merged document as client-node reads it; JSON is valid YAML. */
function exported(document: Document): string {
  const list = (entries: Map<string, Fields>, field: string): object[] =>
    [...entries].map(([name, fields]) => ({ name, [field]: fields }));
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: list(document.clusters, 'cluster'),
    users: list(document.users, 'user'),
    contexts: list(document.contexts, 'context'),
    'current-context': document.current,
  });
}

// ---------------------------------------------------------------- helpers

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
