/**
 * The helm deployer. It renders a chart and applies its objects like manifests (`helmDeployment: false`), or installs
 * it as a release of Helm.
 */
import { GROUP } from '../../src/api/labels.ts';
import type { DeployerPlugin } from '../sdk/deployer.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { accessOf } from '../objects/manifests/remove.ts';
import { idOf } from '../objects/manifests/model.ts';
import { withoutWrites } from '../sdk/plan.ts';
import { CACHE_BYTES, createChartCache } from './cache.ts';
import { loadChart } from './chart.ts';
import { capabilitiesOf, staticCapabilities } from './target-facts.ts';
import { helmConfig, type HelmConfig } from './config.ts';
import { HELM_GROUP } from './schema.ts';
import { applyRelease, removeRelease } from './release.ts';
import { planHelmUninstall, planRelease, planUninstall } from './release-plan.ts';
import { chartsFor, PREFIX, type HelmOptions, type HelmContext } from './helm-context.ts';
import { JobResults, jsonBytes } from './job-results.ts';
import { helmStatus, type HelmStatus } from './status.ts';
import { removeOtherMode } from './mode-switch.ts';
import { applyTemplates, planTemplates, removeTemplates } from './template.ts';
import { valueExports } from './values.ts';

export type { HelmOptions } from './helm-context.ts';

export function helmDeployer(options: HelmOptions): DeployerPlugin<HelmConfig, HelmStatus> {
  const cache = createChartCache(options.clock, options.cacheBytes ?? CACHE_BYTES);
  const results = new JobResults();
  const prepare = async (ctx: HelmContext, access: KubeAccess) => {
    const charts = chartsFor(ctx, options);
    const chart = await loadChart(ctx, options, { cache, results });
    const capabilities = await results.once(ctx, 'capabilities', () => {
      // A release reads these facts when it is rendered; before, only exports of values need them.
      const needsCapabilities = !ctx.config.isRelease || ctx.config.exports.some(({ from }) => !from);
      return needsCapabilities && !options.staticCapabilities
        ? capabilitiesOf(access, chart, ctx)
        : Promise.resolve(staticCapabilities);
    });
    const exported = () => valueExports(ctx, chart, capabilities, charts);
    const values = await results.once(ctx, 'values', exported, (map) => jsonBytes([...map.values()]));
    return { chart, charts, capabilities, values, results };
  };
  return {
    type: `${GROUP}/helm`,
    name: HELM_GROUP,
    version: '0.1.0',
    initOperation: 'InitHelmOperation',
    config: helmConfig,
    status: helmStatus,
    hasInventory: true,
    schedule: (config) => config.continuousReconcile,
    apply: (ctx: HelmContext) =>
      results.during(ctx, async () => {
        ctx.assertTimeLeft(`${PREFIX}: start reconcile`);
        ctx.assertTimeLeft(`${PREFIX}: start progressing`);
        const access = await accessOf(ctx.target, 'ApplyFile');
        const prepared = await prepare(ctx, access);
        const left = await removeOtherMode(ctx, options);
        if (left) return left;
        const apply = ctx.config.isRelease ? applyRelease : applyTemplates;
        return apply(ctx, access, prepared, options);
      }),
    async plan(ctx: HelmContext, direction) {
      const access = withoutWrites(await accessOf(ctx.target, 'ApplyFile'));
      const charts = chartsFor(ctx, options);
      if (direction === 'remove') return planUninstall(ctx, access, charts);
      const prepared = await prepare(ctx, access);
      if (!ctx.config.isRelease) {
        const plan = await planTemplates(ctx, access, prepared);
        const first = await planHelmUninstall(ctx.previous?.release, ctx, { access, charts });
        const ids = new Set(plan.objects.map(({ ref }) => idOf(ref)));
        const gone = first.objects.filter(({ ref }) => !ids.has(idOf(ref)));
        return { objects: [...plan.objects, ...gone], notes: [...first.notes, ...plan.notes] };
      }
      const capabilities = await capabilitiesOf(access, prepared.chart, ctx);
      return planRelease(ctx, access, { chart: prepared.chart, charts, capabilities });
    },
    async remove(ctx: HelmContext) {
      ctx.assertTimeLeft(`${PREFIX}: start delete`);
      const left = await removeOtherMode(ctx, options);
      if (left) return left;
      if (!ctx.config.isRelease) return removeTemplates(ctx);
      return removeRelease(ctx, await accessOf(ctx.target, 'DeleteFiles'), options);
    },
  };
}
