/**
 * Requests the kubeconfigs that templates need, from the cluster of a target and with the credentials of that
 * target.
 */
import { isDefiniteFault } from '../../../src/lib/connection.ts';
import { exactJson } from '../../../src/lib/exact-json.ts';
import { isObject, ownField } from '../../../src/lib/objects.ts';
import { YamlError } from '../../../src/lib/yaml.ts';
import { parseBoundedYaml } from '../../../src/lib/yaml-texts.ts';
import { KubeconfigUnusable, withToken } from '../../../src/blueprint/kubeconfigs/document.ts';
import { IssuerUnavailable } from '../../../src/blueprint/kubeconfigs/errors.ts';
import type { IssueKubeconfig } from '../../../src/blueprint/kubeconfigs/issued.ts';
import { describe, type Issued, type KubeconfigRequest } from '../../../src/blueprint/kubeconfigs/request.ts';
import { shootKind } from '../../../src/landscape/source-cluster.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import type { ClientPool } from '../../../src/runtime/transport/client-pool.ts';
import {
  ApiError,
  KubeconfigError,
  ResponseTooLarge,
  ServerFailure,
  TooManyRequests,
  TransportError,
} from '../../../src/runtime/errors.ts';
import { withServerName } from '../../../src/runtime/transport/server-name.ts';
import { pathOf, tokenPathOf } from '../../../src/runtime/transport/path.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client } from '../../../src/runtime/types.ts';

interface IssuerPorts {
  /** Reads the secrets that targets reference. */
  readonly client: Client;
  /** Clients for other clusters. */
  readonly sources: ClientPool;
}

/**
 * @param namespace of the installation. Templates can create arbitrary targets, so secrets of other namespaces are
 * not read
 */
export const kubeconfigIssuer =
  (ports: IssuerPorts, namespace: string): IssueKubeconfig =>
  async (request) => {
    try {
      const kubeconfig = await kubeconfigOf(request.target, namespace, ports.client);
      if (request.kind === 'own') return { kubeconfig: base64(kubeconfig) };
      const cluster = withServerName(
        await ports.sources.open(kubeconfig, namespace),
        `the server of target ${nameOf(request.target)}`,
      );
      return request.kind === 'shoot'
        ? await shootAccess(cluster, request)
        : await accountAccess(cluster, request, kubeconfig);
    } catch (error) {
      return problemOf(error, request);
    }
  };

/** @throws IssuerUnavailable for temporary failures */
function problemOf(error: unknown, request: KubeconfigRequest): Issued {
  const isTemporary =
    (error instanceof TransportError && !isDefiniteFault(error)) ||
    error instanceof ServerFailure ||
    error instanceof TooManyRequests;
  const isPermanent =
    error instanceof ApiError ||
    error instanceof TransportError ||
    error instanceof KubeconfigError ||
    error instanceof ResponseTooLarge ||
    error instanceof KubeconfigUnusable ||
    error instanceof NotIssued;
  if (!isTemporary && !isPermanent) throw error;
  const message = `no kubeconfig for ${describe(request)}, with the access of target ${nameOf(request.target)}: ${error.message}`;
  if (isTemporary) throw new IssuerUnavailable(message, { cause: error });
  return { problem: message };
}

/** The target is unusable, or the response of its cluster is incomplete. */
class NotIssued extends Error {}

const nameOf = (target: unknown): string => stringAt(target, 'metadata', 'name') || '(without a name)';

// ---------------------------------------------------------------- the kubeconfig of a target

async function kubeconfigOf(target: unknown, namespace: string, client: Client): Promise<string> {
  const config = ownField(ownField(target, 'spec'), 'config') ?? (await contentOf(target, namespace, client));
  const kubeconfig = ownField(config, 'kubeconfig');
  if (typeof kubeconfig === 'string' && kubeconfig !== '') return kubeconfig;
  if (isObject(kubeconfig)) return exactJson(kubeconfig);
  throw new NotIssued('the target contains no kubeconfig');
}

async function contentOf(target: unknown, namespace: string, client: Client): Promise<unknown> {
  const name = stringAt(target, 'spec', 'secretRef', 'name');
  const key = stringAt(target, 'spec', 'secretRef', 'key');
  const stated = stringAt(target, 'metadata', 'namespace');
  if (name === '') throw new NotIssued('the target has neither a config nor a secretRef');
  if (stated !== '' && stated !== namespace) {
    throw new NotIssued(
      `the target is in namespace "${stated}", but only secrets in "${namespace}", the namespace of the installation, can be read`,
    );
  }
  const where = `${namespace}/${name}`;
  const secret = await getIfThere(client, secretKind, where);
  if (!secret) throw new NotIssued(`secret ${where}, which the target references, not found`);
  const entries = secret.data ?? {};
  if (key === '') return Object.fromEntries(Object.entries(entries).map(([k, v]) => [k, text(v)]));
  const entry = entries[key];
  if (entry === undefined) throw new NotIssued(`key ${key} in secret ${where} does not exist`);
  try {
    const document = parseBoundedYaml(text(entry));
    // A secret may hold the content of a target, or the kubeconfig itself.
    return ownField(document, 'kubeconfig') === undefined ? { kubeconfig: text(entry) } : document;
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    throw new NotIssued(`key ${key} in secret ${where} is not valid YAML`);
  }
}

const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString('utf8');
const base64 = (plain: string): string => Buffer.from(plain).toString('base64');

function stringAt(object: unknown, ...path: readonly string[]): string {
  const found = path.reduce(ownField, object);
  return typeof found === 'string' ? found : '';
}

// ---------------------------------------------------------------- requests

async function accountAccess(
  cluster: Client,
  { name, namespace, expirationSeconds }: KubeconfigRequest,
  kubeconfig: string,
): Promise<Issued> {
  const answer = await cluster.raw('POST', tokenPathOf(namespace, name), {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds },
  });
  const token = stringAt(answer, 'status', 'token');
  if (token === '') throw new NotIssued('the response of the cluster contains no token');
  return { kubeconfig: withToken(kubeconfig, name, token), ...expiryIn(answer) };
}

async function shootAccess(
  garden: Client,
  { name, namespace, expirationSeconds }: KubeconfigRequest,
): Promise<Issued> {
  const answer = await garden.raw('POST', pathOf(shootKind, `${namespace}/${name}`, 'adminkubeconfig'), {
    apiVersion: 'authentication.gardener.cloud/v1alpha1',
    kind: 'AdminKubeconfigRequest',
    metadata: { name, namespace },
    spec: { expirationSeconds },
  });
  const kubeconfig = stringAt(answer, 'status', 'kubeconfig');
  if (kubeconfig === '') throw new NotIssued('the response of the cluster contains no kubeconfig');
  return { kubeconfig, ...expiryIn(answer) };
}

function expiryIn(answer: unknown): { readonly expirationTimestamp?: string } {
  const expirationTimestamp = stringAt(answer, 'status', 'expirationTimestamp');
  return expirationTimestamp === '' ? {} : { expirationTimestamp };
}
