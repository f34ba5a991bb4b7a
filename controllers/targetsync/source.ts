/** Requests to the source cluster: lists of secrets and shoots, tokens, and shoot kubeconfigs. */
import { append } from '../../src/lib/lists.ts';
import { sizeText } from '../../src/lib/sizes.ts';
import { ownField } from '../../src/lib/objects.ts';
import { shootKind, type Shoot } from '../../src/landscape/source-cluster.ts';
import { secretKind, type Secret } from '../../src/landscape/world.ts';
import { pathOf, tokenPathOf } from '../../src/runtime/transport/path.ts';
import type { Client, Kind, Obj, Query } from '../../src/runtime/types.ts';

/** The objects are too large together. */
export class TooMuchListed extends Error {
  override readonly name = 'TooMuchListed';
}

/** Of the data of all objects that are in memory for one TargetSync: some 10,000 kubeconfigs. */
const MAX_LISTED_BYTES = 64 << 20;

/**
 * The listed objects of a page that match, page by page.
 * @param choose returns those of one page
 * @throws TooMuchListed; the errors of runtime/errors.ts
 */
export async function listWhere<T extends Obj & { readonly data?: Readonly<Record<string, string>> }>(
  client: Client,
  kind: Kind<T>,
  query: Query,
  choose: (page: readonly T[]) => Promise<readonly T[]> | readonly T[],
  signal: AbortSignal,
): Promise<T[]> {
  const found: T[] = [];
  let left = MAX_LISTED_BYTES;
  for await (const { items } of client.list(kind, query, signal)) {
    const chosen = await choose(items);
    for (const { data = {} } of chosen) for (const text of Object.values(data)) left -= text.length;
    if (left < 0)
      throw new TooMuchListed(
        `the matching ${kind.plural} of namespace ${query.namespace ?? ''} have more than ${sizeText(MAX_LISTED_BYTES)} together, a fixed limit; choose fewer, or divide them among namespaces`,
      );
    append(found, chosen);
  }
  return found;
}

/** Whether each name matches. */
type NameFilter = (names: readonly string[]) => Promise<readonly boolean[]>;

const named =
  (matches: NameFilter) =>
  async <T extends Obj>(page: readonly T[]): Promise<readonly T[]> => {
    const answers = await matches(page.map(({ metadata: { name } }) => name));
    return page.filter((_, index) => answers[index]);
  };

export const secretsOf = (
  source: Client,
  namespace: string,
  matches: NameFilter,
  signal: AbortSignal,
): Promise<Secret[]> => listWhere(source, secretKind, { namespace }, named(matches), signal);

export const shootsOf = (
  source: Client,
  namespace: string,
  matches: NameFilter,
  signal: AbortSignal,
): Promise<Shoot[]> => listWhere(source, shootKind, { namespace }, named(matches), signal);

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
