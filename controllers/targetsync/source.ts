/** Requests to the source cluster: lists of secrets and shoots, tokens, and shoot kubeconfigs. */
import { append } from '../../src/lib/lists.ts';
import { ownField } from '../../src/lib/objects.ts';
import { shootKind, type Shoot } from '../../src/landscape/source-cluster.ts';
import { secretKind, type Secret } from '../../src/landscape/world.ts';
import { pathOf, tokenPathOf } from '../../src/runtime/transport/path.ts';
import type { Client, Kind, Obj, Query } from '../../src/runtime/types.ts';

/** All listed objects that match, read page by page. */
export async function listWhere<T extends Obj>(
  client: Client,
  kind: Kind<T>,
  query: Query,
  fits: (object: T) => boolean,
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  for await (const page of client.list(kind, query, signal)) append(found, page.items.filter(fits));
  return found;
}

type NameFilter = (name: string) => boolean;

export const secretsOf = (
  source: Client,
  namespace: string,
  matches: NameFilter,
  signal: AbortSignal,
): Promise<Secret[]> =>
  listWhere(source, secretKind, { namespace }, ({ metadata }) => matches(metadata.name), signal);

export const shootsOf = (
  source: Client,
  namespace: string,
  matches: NameFilter,
  signal: AbortSignal,
): Promise<Shoot[]> =>
  listWhere(source, shootKind, { namespace }, ({ metadata }) => matches(metadata.name), signal);

/** The source cluster's response does not contain the requested value. */
export class IncompleteAnswer extends Error {
  override readonly name = 'IncompleteAnswer';
}

/** 90 days. */
const TOKEN_SECONDS = 7_776_000;
/** A day. */
const SHOOT_ACCESS_SECONDS = 86_400;

/** @returns a token of the service account. @throws IncompleteAnswer; the errors of runtime/errors.ts */
export async function requestToken(
  source: Client,
  namespace: string,
  account: string,
  signal: AbortSignal,
): Promise<string> {
  const path = tokenPathOf(namespace, account);
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const token = ownField(ownField(await source.raw('POST', path, body, signal), 'status'), 'token');
  if (typeof token === 'string' && token !== '') return token;
  throw new IncompleteAnswer(
    `the source cluster issued no token for service account ${namespace}/${account}`,
  );
}

/** @returns a kubeconfig in base64. @throws IncompleteAnswer; the errors of runtime/errors.ts */
export async function requestShootAccess(
  source: Client,
  namespace: string,
  shoot: string,
  signal: AbortSignal,
): Promise<string> {
  const path = pathOf(shootKind, `${namespace}/${shoot}`, 'adminkubeconfig');
  const body = {
    apiVersion: 'authentication.gardener.cloud/v1alpha1',
    kind: 'AdminKubeconfigRequest',
    spec: { expirationSeconds: SHOOT_ACCESS_SECONDS },
  };
  const kubeconfig = ownField(ownField(await source.raw('POST', path, body, signal), 'status'), 'kubeconfig');
  if (typeof kubeconfig === 'string' && kubeconfig !== '') return kubeconfig;
  throw new IncompleteAnswer(`the source cluster issued no kubeconfig for shoot ${namespace}/${shoot}`);
}
