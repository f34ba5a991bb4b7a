/** Loads the chart of a configuration: fetches its archive and unpacks it. */
import { createHash } from 'node:crypto';
import { ComponentProblem } from '../../src/components/errors.ts';
import { ChartStopped, HelmError } from '../../src/templating/helm/errors.ts';
import type { PackedChart } from '../../src/templating/helm/work.ts';
import { outlookOf } from '../../src/lib/outlook.ts';
import { messageOf } from '../sdk/errors.ts';
import { CACHE_ANNOTATION, type ChartCache } from './cache.ts';
import type { ChartSource } from './config.ts';
import { download, DownloadFailed } from './download.ts';
import { TARGET_KEYWORDS } from './target-facts.ts';
import { configurationError, retryError } from './errors.ts';
import { chartFromComponent, chartFromRegistry } from './registry.ts';
import { chartFromRepository, RepositoryProblem } from './repository.ts';
import { chartsFor, type HelmOptions, type HelmContext } from './helm-context.ts';
import type { JobResults } from './job-results.ts';

/** The archive as it was downloaded. */
export interface LoadedChart extends PackedChart {
  /** Which of the keywords for target facts (`Capabilities`, `APIVersions`) the chart contains. */
  readonly keywords: readonly string[];
}

/**
 * Fetches the chart once per job. @throws ConfigurationError for errors in the configuration itself; RetryError for
 * all others
 */
export function loadChart(
  ctx: HelmContext,
  options: HelmOptions,
  { cache, results }: { readonly cache: ChartCache; readonly results: JobResults },
): Promise<LoadedChart> {
  const load = async (): Promise<LoadedChart> => {
    const { chart: source } = ctx.config;
    const bytes = await bytesOf(source, ctx, options, cache);
    const chart = { bytes, digest: createHash('sha256').update(bytes).digest('hex') };
    try {
      const keywords = await chartsFor(ctx, options).mentions({ chart, words: TARGET_KEYWORDS });
      return { ...chart, keywords };
    } catch (error) {
      if (!(error instanceof HelmError)) throw error;
      const isInline = source.kind === 'raw' && !(error instanceof ChartStopped);
      const message = isInline ? `chart.archive.raw: ${error.message}` : error.message;
      throw configurationError('GetHelmChart', message, error);
    }
  };
  return results.once(ctx, 'chart', load, ({ bytes }) => bytes.length);
}

async function bytesOf(
  source: ChartSource,
  ctx: HelmContext,
  options: HelmOptions,
  cache: ChartCache,
): Promise<Uint8Array> {
  if (source.kind === 'raw') return Buffer.from(source.base64, 'base64');
  const fetch = (): Promise<Uint8Array> => fetched(source, ctx, options);
  const isCached = ctx.item.metadata.annotations?.[CACHE_ANNOTATION] === 'true' && source.kind !== 'remote';
  try {
    return await (isCached ? cache.get(cacheKey(source, ctx), fetch) : fetch());
  } catch (error) {
    if (ctx.signal.aborted) throw error;
    const isKnown =
      error instanceof ComponentProblem ||
      error instanceof DownloadFailed ||
      error instanceof RepositoryProblem;
    if (!isKnown) throw error;
    const asError = outlookOf(error) === 'final' ? configurationError : retryError;
    throw asError('GetHelmChart', messageOf(error), error);
  }
}

/**
 * The key contains namespace and Context, because they determine the credentials: a tenant must not read charts
 * that another tenant fetched.
 */
const cacheKey = (source: ChartSource, { item, context }: HelmContext): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        source,
        item.metadata.namespace,
        context.metadata.name,
        context.metadata.resourceVersion,
      ]),
    )
    .digest('hex');

async function fetched(
  source: Exclude<ChartSource, { kind: 'raw' }>,
  ctx: HelmContext,
  options: HelmOptions,
): Promise<Uint8Array> {
  const { repositories, downloads: limits } = options;
  switch (source.kind) {
    case 'remote':
      return download('unable to fetch helm chart', {
        url: source.url,
        clock: ctx.clock,
        signal: ctx.signal,
        namespace: ctx.item.metadata.namespace,
        limits,
        trust: repositories.trust,
      });
    case 'ref':
      return chartFromRegistry(source.ref, ctx, repositories);
    case 'repo':
      return chartFromRepository(source, ctx, {
        limits,
        trust: repositories.trust,
        fromRegistry: (ref) => chartFromRegistry(ref, ctx, repositories),
      });
    case 'resource':
      return chartFromComponent(source.key, ctx, options);
  }
}
