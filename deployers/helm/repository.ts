/** Fetches charts from chart repositories: an index of versions with archives, and credentials from the Context. */
import { isObject, ownField } from '../../src/lib/objects.ts';
import { download, DownloadFailed, shownUrl, type Download } from './download.ts';
import { ChartNotPublished, RepositoryProblem } from './repository-index.ts';
import { locationInProcess } from './repository-process.ts';
import type { HelmContext } from './helm-context.ts';
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

/** @throws RepositoryProblem, DownloadFailed */
export async function chartFromRepository(
  { url, name, version }: RepoChart,
  ctx: HelmContext,
  from: Pick<Download, 'limits' | 'trust'>,
): Promise<Uint8Array> {
  const auth = await authFor(url, ctx);
  const base = trimmedEnd(url, '/');
  const { clock, signal, item } = ctx;
  const { namespace } = item.metadata;
  const index = await indexOf(`${base}/index.yaml`, { ...from, ...auth, clock, signal, namespace });
  const shown = shownUrl(base);
  const location = await locationInProcess(
    index,
    { url: shown, name, version },
    { clock, signal, namespace },
  );
  const archive = URL.canParse(location, `${base}/`) ? new URL(location, `${base}/`) : undefined;
  if (!archive || !/^https?:$/.test(archive.protocol))
    throw new RepositoryProblem(
      `the index of ${shown} has an archive of ${name} at an address that is not valid`,
    );
  // Credentials of a repository are not sent to other servers that its index refers to.
  const isSame = archive.origin === new URL(base).origin;
  return download('unable to fetch helm chart', {
    ...from,
    url: archive.href,
    ...(isSame && auth),
    clock,
    signal,
    namespace,
  });
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
