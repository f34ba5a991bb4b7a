/** Creates kubeconfigs from others: the same cluster, another user. Strings in, base64 out, as templates expect. */
import { KUBECONFIG } from '../../lib/kubeconfig-strings.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { toYaml } from '../../lib/yaml.ts';
import { parseBoundedYaml } from '../../lib/yaml-texts.ts';

/** The kubeconfig of a target is unusable; the message says why, without its contents. */
export class KubeconfigUnusable extends Error {
  override readonly name = 'KubeconfigUnusable';
}

/** Access with the token of a service account; the user is named after it. @throws KubeconfigUnusable */
export const withToken = (kubeconfig: string, account: string, token: string): string =>
  withUser(kubeconfig, { token }, account);

/**
 * A kubeconfig for users of an OpenID Connect issuer; a kubectl plugin handles the login. @throws KubeconfigUnusable
 */
export const withOidcLogin = (kubeconfig: string, issuerUrl: string, clientId: string): string =>
  withUser(kubeconfig, {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      args: [
        'oidc-login',
        'get-token',
        `--oidc-issuer-url=${issuerUrl}`,
        `--oidc-client-id=${clientId}`,
        ...['email', 'profile', 'offline_access'].map((scope) => `--oidc-extra-scope=${scope}`),
        '--oidc-use-pkce',
        '--grant-type=auto',
      ],
      command: 'kubectl',
      env: null,
      provideClusterInfo: false,
    },
  });

/** Reduced to the current context. @param name of the user; default: the current name */
function withUser(kubeconfig: string, user: object, name?: string): string {
  const document = readKubeconfig(kubeconfig);
  const current = textOf(document['current-context']);
  const context = named(document['contexts'], current, 'context');
  if (!context) throw new KubeconfigUnusable('the kubeconfig of the target has no current context');
  const clusterName = textOf(context['cluster']);
  const cluster = named(document['clusters'], clusterName, 'cluster');
  if (!cluster) {
    throw new KubeconfigUnusable(
      'the current context of the kubeconfig of the target refers to a cluster that the kubeconfig does not contain',
    );
  }
  const userName = name ?? textOf(context['user']);
  const reduced = {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    'current-context': current,
    contexts: [{ name: current, context: { ...context, user: userName } }],
    clusters: [{ name: clusterName, cluster }],
    users: [{ name: userName, user }],
  };
  return Buffer.from(toYaml(reduced)).toString('base64');
}

function readKubeconfig(text: string): Readonly<Record<string, unknown>> {
  let document: unknown;
  try {
    document = parseBoundedYaml(text, { strings: KUBECONFIG });
  } catch {
    // The parser's message may quote the text, which contains credentials.
    throw new KubeconfigUnusable('the kubeconfig of the target is not valid YAML');
  }
  if (isObject(document)) return document;
  throw new KubeconfigUnusable('the kubeconfig of the target is not a map with clusters, contexts and users');
}

function named(list: unknown, name: string, field: string): Readonly<Record<string, unknown>> | undefined {
  if (!Array.isArray(list)) return undefined;
  const found: unknown = list.find((entry) => textOf(ownField(entry, 'name')) === name);
  const body = ownField(found, field);
  return isObject(body) ? body : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
