/**
 * The helm deployer: renders a chart and applies its objects itself (`helmDeployment: false`), or has the real helm make
 * a release of it.
 */
import { GROUP } from '../../src/api/labels.ts';
import type { DeployerPlugin } from '../sdk/deployer.ts';
import type { KubeAccess } from '../sdk/access.ts';
import { accessOf } from '../objects/manifests/remove.ts';
import { idOf } from '../objects/manifests/model.ts';
import { withoutWrites } from '../sdk/plan.ts';
import { CACHE_BYTES, createChartCache } from './cache.ts';
import { loadChart } from './chart.ts';
import { capabilitiesOf, staticCapabilities } from './cluster.ts';
import { helmConfig, HELM_GROUP, type HelmConfig } from './config.ts';
import { applyRelease, removeRelease } from './release.ts';
import { planEnd, planRelease, planUninstall } from './release-plan.ts';
import { chartsFor, once, PREFIX, type HelmOptions, type HelmRun } from './run.ts';
import { helmStatus, type HelmStatus } from './status.ts';
import { takeBackOther } from './switch.ts';
import { applyTemplates, planTemplates, removeTemplates } from './template.ts';
import { valueExports } from './values.ts';

export type { HelmOptions } from './run.ts';

export function helmDeployer(options: HelmOptions): DeployerPlugin<HelmConfig, HelmStatus> {
  const cache = createChartCache(options.clock, options.cacheBytes ?? CACHE_BYTES);
  const prepare = async (run: HelmRun, access: KubeAccess) => {
    const charts = chartsFor(run, options);
    const chart = await loadChart(run, options, cache);
    const capabilities = await once(run, 'capabilities', () => {
      // Of a release only helm and exports of values want to know.
      const isAsked = !run.config.isRelease || run.config.exports.some(({ from }) => !from);
      return isAsked && !options.staticCapabilities
        ? capabilitiesOf(access, chart, run)
        : Promise.resolve(staticCapabilities);
    });
    const values = await once(run, 'values', () => valueExports(run, chart, capabilities, charts));
    return { chart, charts, capabilities, values };
  };
  return {
    type: `${GROUP}/helm`,
    name: HELM_GROUP,
    version: '0.1.0',
    initOperation: 'InitHelmOperation',
    config: helmConfig,
    status: helmStatus,
    schedule: (config) => config.continuousReconcile,
    async apply(run: HelmRun) {
      run.checkpoint(`${PREFIX}: start reconcile`);
      run.checkpoint(`${PREFIX}: start progressing`);
      const access = await accessOf(run.target, 'ApplyFile');
      const prepared = await prepare(run, access);
      const left = await takeBackOther(run, options);
      if (left) return left;
      return run.config.isRelease
        ? applyRelease(run, access, prepared, options)
        : applyTemplates(run, access, prepared);
    },
    async plan(run: HelmRun, direction) {
      const access = withoutWrites(await accessOf(run.target, 'ApplyFile'));
      const charts = chartsFor(run, options);
      if (direction === 'remove') return planUninstall(run, access, charts);
      const prepared = await prepare(run, access);
      if (!run.config.isRelease) {
        const plan = await planTemplates(run, access, prepared);
        const first = await planEnd(run.previous?.release, run, { access, charts });
        const ids = new Set(plan.objects.map(({ ref }) => idOf(ref)));
        const gone = first.objects.filter(({ ref }) => !ids.has(idOf(ref)));
        return { objects: [...plan.objects, ...gone], notes: [...first.notes, ...plan.notes] };
      }
      const { chart } = prepared;
      const capabilities = options.staticCapabilities
        ? prepared.capabilities
        : await capabilitiesOf(access, chart, run);
      return planRelease(run, access, { chart, charts, capabilities });
    },
    async remove(run: HelmRun) {
      run.checkpoint(`${PREFIX}: start delete`);
      const left = await takeBackOther(run, options);
      if (left) return left;
      if (!run.config.isRelease) return removeTemplates(run);
      return removeRelease(run, await accessOf(run.target, 'DeleteFiles'), options);
    },
  };
}
