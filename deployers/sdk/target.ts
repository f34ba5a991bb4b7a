/**
 * From a Target to a connection: its content, the rules for kubeconfigs, tokens, and one client per set of
 * credentials.
 */
import { exactJson, refusedInteger } from '../../src/lib/exact-json.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { IntegerTooLong } from '../../src/lib/yaml-error.ts';
import type { ClientPool } from '../../src/runtime/transport/client-pool.ts';
import { ApiError, NotFound } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { Client, View } from '../../src/runtime/types.ts';
import { ConfigurationError, RetryError, messageOf } from './errors.ts';
import { SECRET, type Target } from './kinds.ts';
import { forbiddenInContent, kubeconfigIn, namesCluster, withCurrentContext } from './kubeconfig.ts';
import type { KubeAccess } from './access.ts';
import type { Tokens } from './tokens.ts';
import { withServerName } from '../../src/runtime/transport/server-name.ts';
import { isDns1123Subdomain } from '../../src/lib/names.ts';

/** The address of the cluster with targets and deploy items, for targets that refer to this cluster. */
export interface SelfCluster {
  readonly server: string;
  /** PEM, in base64. */
  readonly caData?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
}

/** A Target with its content. The content is secret: never log it or put it into a message. */
export interface ResolvedTarget {
  readonly name: string;
  readonly namespace: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** JSON or YAML text; undefined for a target without content. */
  readonly content: string | undefined;
  /** A field of the content as text, if the content is a map and the field a scalar. */
  text(key: string): string | undefined;
  /** A ready client. @throws RetryError when the cluster cannot be reached */
  kube(): Promise<KubeAccess>;
  /** For programs that connect themselves. `kube` rejects files and commands of this machine in it. */
  kubeconfig(): Promise<string>;
}

/** Reads targets and connects to their clusters. */
export interface TargetReader {
  /** @throws RetryError with reason ResolveTarget */
  resolve(target: View<Target>, signal: AbortSignal): Promise<ResolvedTarget>;
  /**
   * Drops cached tokens of a namespace after credentials were rejected.
   * @returns whether new tokens may be accepted
   */
  forget(namespace: string): boolean;
}

export const VALIDATE_TARGET = 'ValidateTarget';
const RESOLVE = 'ResolveTarget';

export function createTargetReader(deps: {
  readonly client: Client;
  readonly pool: ClientPool<KubeAccess>;
  readonly tokens: Tokens;
  readonly self?: SelfCluster | undefined;
}): TargetReader {
  return {
    forget: (namespace) => deps.tokens.forget(namespace),
    async resolve(target, signal) {
      const content = await contentOf(deps.client, target, signal);
      const { name, namespace = '', labels = {}, annotations = {} } = target.metadata;
      const document = (): unknown => (content === undefined ? undefined : parseQuietly(content));
      const kubeconfig = (): Promise<string> => kubeconfigFor(document(), content, namespace, deps, signal);
      return {
        name,
        namespace,
        type: target.spec.type,
        labels,
        annotations,
        content,
        text(key) {
          const value = ownField(document(), key);
          return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
            ? String(value)
            : undefined;
        },
        kube: async () => foreignTo(name, await open(deps.pool, await kubeconfig(), namespace), signal),
        kubeconfig,
      };
    },
  };
}

async function open(
  pool: ClientPool<KubeAccess>,
  kubeconfig: string,
  namespace: string,
): Promise<KubeAccess> {
  try {
    return await pool.open(kubeconfig, namespace);
  } catch (cause) {
    const message = `the target cannot be used: ${messageOf(cause)}`;
    throw new RetryError({ operation: 'TargetAccess', reason: 'ensureTargetAccess', message, cause });
  }
}

/**
 * Several targets may share one connection; errors of the server contain the name of the target.
 * @param run ends waits, whatever the server does
 */
function foreignTo(target: string, access: KubeAccess, run: AbortSignal): KubeAccess {
  const server = `the server of target ${target}`;
  return {
    client: withServerName(access.client, server),
    kindOf: (apiVersion, kind, signal = run) =>
      access.kindOf(apiVersion, kind, signal).catch((error: unknown) => {
        throw error instanceof ApiError ? error.attributedTo(server) : error;
      }),
    close: () => access.close(),
  };
}

/** @throws ConfigurationError with reason ValidateTarget */
export function validateTarget(target: ResolvedTarget, operation: string): void {
  if (target.content === undefined) return;
  let document: unknown;
  try {
    document = parseYaml(target.content);
  } catch (error) {
    const content = `the content of target ${target.name}`;
    const message =
      error instanceof IntegerTooLong
        ? refusedInteger(`${content}: line ${String(error.line ?? 1)}`)
        : `${content} is not valid YAML`;
    throw new ConfigurationError({ operation, reason: VALIDATE_TARGET, message });
  }
  const problem = forbiddenInContent(document);
  if (problem) throw new ConfigurationError({ operation, reason: VALIDATE_TARGET, message: problem });
}

async function contentOf(
  client: Client,
  target: View<Target>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { config, secretRef } = target.spec;
  if (config !== undefined && config !== null) return exactJson(config);
  if (!secretRef) return undefined;
  const { namespace = '', name } = target.metadata;
  const where = `${namespace}/${secretRef.name}`;
  const refused = (why: string, cause?: unknown): RetryError =>
    new RetryError({
      operation: RESOLVE,
      reason: RESOLVE,
      message: `error resolving secret reference (${where}#${secretRef.key ?? ''}) for Target '${namespace}/${name}': ${why}`,
      cause,
    });
  let data: Readonly<Record<string, string>>;
  try {
    data = (await client.get(SECRET, joinKey(namespace, secretRef.name), signal)).data ?? {};
  } catch (error) {
    throw refused(error instanceof NotFound ? `secret ${where} not found` : messageOf(error), error);
  }
  if (!secretRef.key) return JSON.stringify(wholeSecret(data));
  const entry = data[secretRef.key];
  if (entry === undefined) throw refused(`key ${secretRef.key} in secret ${where} does not exist`);
  return decode(entry);
}

const decode = (base64: string): string => Buffer.from(base64, 'base64').toString();

const wholeSecret = (data: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, parseQuietly(decode(value))]));

function parseQuietly(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return text;
  }
}

// ---------------------------------------------------------------- kubernetes clusters

const ACCESS = { operation: 'TargetAccess', reason: 'ensureTargetAccess' } as const;
const unusable = (message: string, cause?: unknown): RetryError =>
  new RetryError({ ...ACCESS, message, ...(cause === undefined ? {} : { cause }) });

/** The kubeconfig from the content of a target. */
async function kubeconfigFor(
  document: unknown,
  content: string | undefined,
  namespace: string,
  deps: { readonly tokens: Tokens; readonly self?: SelfCluster | undefined },
  signal: AbortSignal,
): Promise<string> {
  const kubeconfig = isObject(document) ? kubeconfigIn(document) : document;
  if (kubeconfig !== document) {
    return withCurrentContext(typeof kubeconfig === 'string' ? kubeconfig : exactJson(kubeconfig));
  }
  const oidcConfig = ownField(document, 'oidcConfig');
  const selfConfig = ownField(document, 'selfConfig');
  if (isObject(oidcConfig)) return oidcKubeconfig(oidcConfig, namespace, deps.tokens, signal);
  if (isObject(selfConfig)) return selfKubeconfig(selfConfig, namespace, deps, signal);
  if (content === undefined) {
    throw unusable('target contains neither kubeconfig, nor oidc config, nor self config');
  }
  if (!namesCluster(document)) {
    throw unusable('the content of the target is not a kubeconfig: it has no cluster');
  }
  return withCurrentContext(content);
}

async function oidcKubeconfig(
  config: Readonly<Record<string, unknown>>,
  namespace: string,
  tokens: Tokens,
  signal: AbortSignal,
): Promise<string> {
  const server = ownField(config, 'server');
  if (typeof server !== 'string') throw unusable('the oidcConfig of the target has no server');
  const audience = ownField(config, 'audience');
  const token = await tokens.of(
    {
      namespace,
      ...accountOf(config),
      ...(Array.isArray(audience) && { audiences: audience.map(String) }),
    },
    signal,
  );
  const caData = ownField(config, 'caData');
  return kubeconfigOf({ server, ...(typeof caData === 'string' && { caData }) }, token);
}

async function selfKubeconfig(
  config: Readonly<Record<string, unknown>>,
  namespace: string,
  deps: { readonly tokens: Tokens; readonly self?: SelfCluster | undefined },
  signal: AbortSignal,
): Promise<string> {
  if (!deps.self)
    throw unusable('self targets are not available: the address of this cluster is not configured');
  return kubeconfigOf(deps.self, await deps.tokens.of({ namespace, ...accountOf(config) }, signal));
}

const DEFAULT_EXPIRATION_SECONDS = 86_400;

function accountOf(config: Readonly<Record<string, unknown>>): {
  account: string;
  expirationSeconds: number;
} {
  const account = ownField(ownField(config, 'serviceAccount'), 'name');
  if (typeof account !== 'string' || account === '') throw unusable('the target has no service account');
  const [why] = isDns1123Subdomain(account);
  if (why !== undefined) {
    const message = `serviceAccount.name of the target cannot be the name of a service account: ${why}`;
    throw new ConfigurationError({ ...ACCESS, message });
  }
  const seconds = ownField(config, 'expirationSeconds');
  return { account, expirationSeconds: typeof seconds === 'number' ? seconds : DEFAULT_EXPIRATION_SECONDS };
}

const kubeconfigOf = (cluster: SelfCluster, token: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'target',
    clusters: [
      {
        name: 'target',
        cluster: {
          server: cluster.server,
          ...(cluster.caData && { 'certificate-authority-data': cluster.caData }),
          ...(cluster.insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
        },
      },
    ],
    users: [{ name: 'target', user: { token } }],
    contexts: [{ name: 'target', context: { cluster: 'target', user: 'target' } }],
  });
