/** Fetches charts from chart repositories: an index of versions with archives, and credentials from the Context. */
import { isObject, ownField } from '../../src/lib/objects.ts';
import { download, DownloadFailed, shownUrl, type Download } from './download.ts';
import { ChartNotPublished, isInRegistry, referenceIn, RepositoryProblem } from './repository-index.ts';
import { locationInProcess } from './repository-process.ts';
import type { HelmContext } from './helm-context.ts';
import { Trust } from '../../src/components/trust.ts';
import { messageOf } from '../sdk/errors.ts';
import { trimmedEnd } from '../../src/lib/trim.ts';

export { ChartNotPublished, RepositoryProblem } from './repository-index.ts';

interface RepoChart {
  readonly url: string;
  readonly name: string;
  readonly version: string;
}

interface Auth {
  readonly authorization?: string | undefined;
  readonly ca?: string | undefined;
}

interface RepositorySources extends Pick<Download, 'limits' | 'trust'> {
  /** Fetches the chart of a reference in a registry, which an index may have in place of the address of an archive. */
  readonly fromRegistry: (ref: string) => Promise<Uint8Array>;
}

/** @throws RepositoryProblem, DownloadFailed, ComponentProblem */
export async function chartFromRepository(
  { url, name, version }: RepoChart,
  ctx: HelmContext,
  from: RepositorySources,
): Promise<Uint8Array> {
  const auth = await authFor(url, ctx);
  const base = trimmedEnd(url, '/');
  const { clock, signal, item } = ctx;
  const { namespace } = item.metadata;
  const index = await indexOf(`${base}/index.yaml`, {
    limits: from.limits,
    trust: from.trust,
    ...auth,
    clock,
    signal,
    namespace,
  });
  const shown = shownUrl(base);
  const location = await locationInProcess(
    index,
    { url: shown, name, version },
    { clock, signal, namespace },
  );
  if (isInRegistry(location)) return fetchReference(referenceIn(location), new URL(base), from);
  const archive = URL.canParse(location, `${base}/`) ? new URL(location, `${base}/`) : undefined;
  if (!archive || !/^https?:$/.test(archive.protocol))
    throw new RepositoryProblem(
      `the index of ${shown} has an archive of ${name} at an address that is not valid`,
    );
  // Credentials of a repository are not sent to other servers that its index refers to.
  const isSame = archive.origin === new URL(base).origin;
  const { limits, trust } = from;
  return download('unable to fetch helm chart', {
    limits,
    trust,
    url: archive.href,
    namedBy: base,
    ...(isSame && auth),
    clock,
    signal,
    namespace,
  });
}

/** A registry must not have a local address, as after a redirect, unless it is the server of the repository. */
function fetchReference(
  ref: string,
  base: URL,
  { fromRegistry, trust = new Trust() }: RepositorySources,
): Promise<Uint8Array> {
  const address = `https://${ref.split('/', 1)[0] ?? ''}`;
  try {
    if (URL.canParse(address)) trust.chooserOf(new URL(address), new URL(`https://${base.host}`));
  } catch (error) {
    const message = `the index of ${shownUrl(base.href)} has a chart in a registry: ${messageOf(error)}`;
    throw new RepositoryProblem(message, { cause: error });
  }
  return fromRegistry(ref);
}

/** @throws ChartNotPublished if there is no index, DownloadFailed */
async function indexOf(url: string, options: Omit<Download, 'url'>): Promise<Uint8Array> {
  try {
    return await download('cannot download repository index', { url, ...options });
  } catch (error) {
    if (!(error instanceof DownloadFailed) || error.statusCode !== 404) throw error;
    throw new ChartNotPublished(error.message, { cause: error });
  }
}

// ---------------------------------------------------------------- credentials

/** Credentials of the entry with the longest URL that is a prefix of the repository URL; none if no entry matches. */
async function authFor(url: string, ctx: HelmContext): Promise<Auth> {
  const settings = ownField(ctx.context.configurations, 'helmChartRepoCredentials');
  const auths = ownField(settings, 'auths');
  const fitting = (Array.isArray(auths) ? auths : [])
    .filter(isObject)
    .filter((auth) => isBelow(url, urlOf(auth)))
    .sort((a, b) => urlOf(b).length - urlOf(a).length);
  const [auth] = fitting;
  if (!auth) return {};
  const ca = ownField(auth, 'customCAData');
  return { authorization: await headerOf(auth, ctx), ...(typeof ca === 'string' && ca !== '' && { ca }) };
}

function urlOf(auth: Readonly<Record<string, unknown>>): string {
  const url = ownField(auth, 'url');
  return typeof url === 'string' ? url : '';
}

function isBelow(url: string, prefix: string): boolean {
  const base = trimmedEnd(prefix, '/');
  return base !== '' && `${trimmedEnd(url, '/')}/`.startsWith(`${base}/`);
}

const DEFAULT_KEY = 'authHeader';

async function headerOf(
  auth: Readonly<Record<string, unknown>>,
  ctx: HelmContext,
): Promise<string | undefined> {
  const configured = ownField(auth, 'authHeader');
  const header =
    typeof configured === 'string' && configured !== ''
      ? configured
      : await secretHeader(auth['secretRef'], ctx);
  if (header === undefined) return undefined;
  const isBearer = /^Bearer\s+[\w.~+/-]+=*$/.test(header.trim());
  if (isBearer && ownField(auth, 'allowBearer') === true) return header.trim();
  if (!/^Basic\s+[A-Za-z0-9+/=]+$/.test(header.trim())) {
    const hint = isBearer
      ? '; to use a bearer token, set "allowBearer: true" beside the URL of the entry'
      : '';
    throw new RepositoryProblem(`only basic auth supported${hint}`);
  }
  return header.trim();
}

async function secretHeader(reference: unknown, { host, context }: HelmContext): Promise<string | undefined> {
  const name = ownField(reference, 'name');
  if (typeof name !== 'string' || name === '') return undefined;
  const key = ownField(reference, 'key');
  const wanted = typeof key === 'string' && key !== '' ? key : DEFAULT_KEY;
  const value = (await host.secret(name))?.[wanted];
  if (value !== undefined) return value;
  throw new RepositoryProblem(
    `the Context ${context.metadata.name} takes credentials from key ${wanted} of secret ${name}, which does not exist`,
  );
}
