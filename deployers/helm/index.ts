/**
 * The helm deployer: renders a chart and applies its objects itself (`helmDeployment: false`), or has the real helm make
 * a release of it.
 */
import { GROUP } from '../../src/api/labels.ts';
import type { DeployerPlugin } from '../sdk/deployer.ts';
import { accessOf } from '../sdk/manifests/remove.ts';
import { CACHE_BYTES, createChartCache } from './cache.ts';
import { loadChart } from './chart.ts';
import { capabilitiesOf, staticCapabilities } from './cluster.ts';
import { helmConfig, HELM_GROUP, type HelmConfig } from './config.ts';
import { applyRelease, removeRelease } from './release.ts';
import { once, PREFIX, type HelmOptions, type HelmRun } from './run.ts';
import { helmStatus, type HelmStatus } from './status.ts';
import { takeBackOther } from './switch.ts';
import { applyTemplates, removeTemplates } from './template.ts';
import { valueExports } from './values.ts';

export type { HelmOptions } from './run.ts';

export function helmDeployer(options: HelmOptions): DeployerPlugin<HelmConfig, HelmStatus> {
  const cache = createChartCache(options.clock, options.cacheBytes ?? CACHE_BYTES);
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
      const loaded = await loadChart(run, options, cache);
      const { chart } = loaded;
      const capabilities = await once(run, 'capabilities', () => {
        // Of a release only helm and exports of values want to know.
        const isAsked = !run.config.isRelease || run.config.exports.some(({ from }) => !from);
        return isAsked && !options.staticCapabilities
          ? capabilitiesOf(access, chart, run)
          : Promise.resolve(staticCapabilities);
      });
      const values = await once(run, 'values', () => Promise.resolve(valueExports(run, chart, capabilities)));
      const left = await takeBackOther(run, options);
      if (left) return left;
      return run.config.isRelease
        ? applyRelease(run, access, loaded, values, options)
        : applyTemplates(run, access, { chart, capabilities, values, limits: options.limits });
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
