/** From a Target to a connection: its content, the rules for kubeconfigs, tokens, one client per set of credentials. */
import { textOfYaml } from '../../src/lib/yaml-bytes.ts';
import { shownTargetName } from '../../src/api/target-name.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { exactJson, inexactIn, refusedInteger } from '../../src/lib/exact-json.ts';
import { sizeText } from '../../src/lib/sizes.ts';
import { isObject, ownField } from '../../src/lib/objects.ts';
import { IntegerTooLong } from '../../src/lib/yaml-error.ts';
import {
  readTexts,
  textsHere,
  TextsTooLarge,
  TextUnreadable,
  type TextReader,
} from '../../src/lib/yaml-texts.ts';
import type { ClientPool } from '../../src/runtime/transport/client-pool.ts';
import { ApiError, NotFound } from '../../src/runtime/errors.ts';
import { joinKey } from '../../src/runtime/keys.ts';
import type { Client, View } from '../../src/runtime/types.ts';
import { clusterOf, type SeenCluster } from './cluster-identity.ts';
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
  /** The content as JSON, if it has been read. */
  readonly parsed?: { readonly value: unknown } | { readonly problem: string };
  /** A field of the content as text, if the content is a map and the field a scalar. */
  text(key: string): string | undefined;
  /** A ready client. @throws RetryError when the cluster cannot be reached */
  kube(): Promise<KubeAccess>;
  /** The cluster to which the target leads now. @throws DeployerError when it cannot be asked */
  cluster(signal: AbortSignal): Promise<SeenCluster>;
  /** For programs that connect themselves. `kube` rejects files and commands of this machine in it. */
  kubeconfig(): Promise<string>;
}

/** The value, or why there is none, as a sentence about the content. */
type ParsedContent = NonNullable<ResolvedTarget['parsed']>;

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
  readonly clock: Pick<Clock, 'now'>;
  readonly self?: SelfCluster | undefined;
  /** Reads what the secrets of a namespace contain; default: in this thread, up to a few MiB. */
  readonly textsOf?: ((namespace: string) => TextReader) | undefined;
}): TargetReader {
  return {
    forget: (namespace) => deps.tokens.forget(namespace),
    async resolve(target, signal) {
      const { name, namespace = '', labels = {}, annotations = {} } = target.metadata;
      const shown = shownTargetName({ name, labels });
      const texts = deps.textsOf?.(namespace) ?? textsHere;
      const { content, parsed } = await contentOf({ client: deps.client, texts }, target, signal);
      const document = (): unknown => ('value' in parsed ? parsed.value : content);
      const kubeconfig = (): Promise<string> => kubeconfigFor(document(), content, namespace, deps, signal);
      const connected = async () => open(deps.pool, await kubeconfig(), namespace);
      return {
        name,
        namespace,
        type: target.spec.type,
        labels,
        annotations,
        content,
        parsed,
        text(key) {
          const value = ownField(document(), key);
          return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
            ? String(value)
            : undefined;
        },
        kube: async () => foreignTo(shown, await connected(), signal),
        cluster: async (run) =>
          clusterOf(await connected(), { target: shown, now: deps.clock.now(), signal: run }),
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
  const parsed = target.parsed ?? parsedHere(target.content);
  const problem =
    'problem' in parsed
      ? `the content of target ${shownTargetName(target)}${parsed.problem}`
      : forbiddenInContent(parsed.value);
  if (problem) throw new ConfigurationError({ operation, reason: VALIDATE_TARGET, message: problem });
}

interface Content {
  readonly content: string | undefined;
  readonly parsed: ParsedContent;
}

async function contentOf(
  { client, texts }: { readonly client: Client; readonly texts: TextReader },
  target: View<Target>,
  signal: AbortSignal,
): Promise<Content> {
  const { config, secretRef } = target.spec;
  if (config !== undefined && config !== null)
    return { content: exactJson(config), parsed: inTarget(config) };
  if (!secretRef) return { content: undefined, parsed: { value: undefined } };
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
  if (!secretRef.key) return wholeSecret(data, texts).catch(tooLargeFor(target));
  const entry = data[secretRef.key];
  if (entry === undefined) throw refused(`key ${secretRef.key} in secret ${where} does not exist`);
  const content = decode(entry);
  return { content, parsed: await parsedBy(texts, content) };
}

const decode = (base64: string): string => textOfYaml(Buffer.from(base64, 'base64'));

/** The content of a target is copied and searched several times. */
const MAX_WHOLE_BYTES = 4 << 20;

/** The values by key; those that are not YAML are strings. @throws TextsTooLarge */
async function wholeSecret(data: Readonly<Record<string, string>>, texts: TextReader): Promise<Content> {
  const keys = Object.keys(data);
  const read = await texts.readTexts({
    texts: keys.map((key) => [key, decode(data[key] ?? '')]),
    keepsText: true,
  });
  const bytes = read.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > MAX_WHOLE_BYTES)
    throw new TextsTooLarge(`the values have more than ${sizeText(MAX_WHOLE_BYTES)} together`);
  const value = Object.fromEntries(keys.map((key, index) => [key, read[index]?.value]));
  return { content: JSON.stringify(value), parsed: { value } };
}

/** A limit is not retried. @throws ConfigurationError; other errors unchanged */
const tooLargeFor =
  (target: View<Target>) =>
  (error: unknown): never => {
    if (!(error instanceof TextsTooLarge)) throw error;
    const message = `the secret of target ${target.metadata.name} is too large: ${error.message}; name one of its keys in spec.secretRef.key`;
    throw new ConfigurationError({ operation: RESOLVE, reason: VALIDATE_TARGET, message, cause: error });
  };

function inTarget(config: unknown): ParsedContent {
  const inexact = inexactIn(config);
  return inexact ? { problem: refusedInteger(': line 1') } : { value: config };
}

const parsedBy = (texts: TextReader, text: string): Promise<ParsedContent> =>
  texts.readTexts({ texts: [['', text]] }).then(([read]) => ({ value: read?.value }), problemOf);

/** For a content that was not read with the target. */
function parsedHere(text: string): ParsedContent {
  try {
    return { value: readTexts({ texts: [['', text]] }, MAX_WHOLE_BYTES)[0]?.value };
  } catch (error) {
    return problemOf(error);
  }
}

/** @throws any other error */
function problemOf(error: unknown): { readonly problem: string } {
  if (error instanceof TextsTooLarge) return { problem: ` is too large: ${error.message}` };
  if (!(error instanceof TextUnreadable)) throw error;
  const { cause } = error;
  return {
    problem:
      cause instanceof IntegerTooLong
        ? refusedInteger(`: line ${String(cause.line ?? 1)}`)
        : ' is not valid YAML',
  };
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
