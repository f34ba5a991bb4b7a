/** From the configuration to a chart: where its bytes come from, and what they are. */
import { createHash } from 'node:crypto';
import { ComponentProblem, ContentTooLarge } from '../../src/components/errors.ts';
import { ChartStopped, HelmError } from '../../src/templating/helm/errors.ts';
import type { PackedChart } from '../../src/templating/helm/work.ts';
import { messageOf } from '../sdk/errors.ts';
import { CACHE_ANNOTATION, type ChartCache } from './cache.ts';
import type { ChartSource } from './config.ts';
import { download, DownloadFailed, DownloadTooLarge } from './download.ts';
import { TARGET_WORDS } from './cluster.ts';
import { broken, passing } from './problems.ts';
import { chartFromComponent, chartFromRegistry } from './registry.ts';
import { chartFromRepository, RepositoryProblem } from './repository.ts';
import { IndexTooLarge } from './repository-aside.ts';
import { chartsFor, once, type HelmOptions, type HelmContext } from './helm-context.ts';

/** The archive as it came. */
export interface LoadedChart extends PackedChart {
  /** Which of the words that stand for facts about the target occur in it. */
  readonly mentions: readonly string[];
}

/** Fetched once for a job. @throws ConfigurationError for what is in the configuration itself; RetryError for all else */
export function loadChart(ctx: HelmContext, options: HelmOptions, cache: ChartCache): Promise<LoadedChart> {
  return once(ctx, 'chart', async () => {
    const { chart: source } = ctx.config;
    const bytes = await bytesOf(source, ctx, options, cache);
    const chart = { bytes, digest: createHash('sha256').update(bytes).digest('hex') };
    try {
      const mentions = await chartsFor(ctx, options).mentions({ chart, words: TARGET_WORDS });
      return { ...chart, mentions };
    } catch (error) {
      if (!(error instanceof HelmError)) throw error;
      if (error instanceof ChartStopped) throw broken('GetHelmChart', error.message, error);
      if (source.kind !== 'raw') throw passing('GetHelmChart', error.message, error);
      throw broken('GetHelmChart', `chart.archive.raw: ${error.message}`, error);
    }
  });
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
    const isTooLarge =
      error instanceof DownloadTooLarge || error instanceof ContentTooLarge || error instanceof IndexTooLarge;
    if (isTooLarge) throw broken('GetHelmChart', messageOf(error), error);
    throw passing('GetHelmChart', messageOf(error), error, mayAppear(messageOf(error)));
  }
}

/** Who reads a chart decides with which credentials, so no tenant gets what another has fetched. */
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
  { repositories, downloads: limits }: HelmOptions,
): Promise<Uint8Array> {
  switch (source.kind) {
    case 'remote':
      return download('unable to fetch helm chart', {
        ...{ url: source.url, clock: ctx.clock, signal: ctx.signal, limits },
      });
    case 'ref':
      return chartFromRegistry(source.ref, ctx, repositories);
    case 'repo':
      return chartFromRepository(source, ctx, limits);
    case 'resource':
      return chartFromComponent(source.key, ctx, repositories);
  }
}

/** Charts that somebody may be about to publish: told quietly. */
const mayAppear = (message: string): boolean =>
  message.includes('no chart name found') ||
  (message.startsWith('cannot download repository index') && message.includes('404'));
