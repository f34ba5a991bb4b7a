/** The deployers of this repository under the common suite; a new one gets an entry here. */
import { helmDeployer } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';

import { mockDeployer } from '../../../deployers/mock/index.ts';
import { createStock } from '../../../src/components/stock.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { c1, raw } from '../../support/helmcharts.ts';
import { configMap, helmConfig, manage, manifestConfig, mockConfig } from '../../unit/deployers/bench.ts';
import { deployerConformance } from './suite.ts';

deployerConformance({
  name: 'the mock deployer',
  plugin: () => mockDeployer(),
  needsTarget: false,
  succeeds: mockConfig({ phase: null, initialPhase: null, export: null }),
  exports: mockConfig({ export: { k: 'v' } }),
  waits: mockConfig({ initialPhase: 'Progressing' }),
  finish: mockConfig({ initialPhase: null }),
  invalid: mockConfig({ phase: 5 }),
});

const settings = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'app' };
const manifests = [manage(configMap('settings', { a: 'v' }))];
const isReady = { jsonPath: '.data.ready', operator: 'exists' };

deployerConformance({
  name: 'the manifest deployer',
  plugin: () => manifestDeployer(),
  needsTarget: true,
  succeeds: manifestConfig({ manifests }),
  exports: manifestConfig({
    manifests,
    exports: { exports: [{ key: 'k', jsonPath: '.data.a', fromResource: settings }] },
  }),
  waits: manifestConfig({
    manifests,
    readinessChecks: { custom: [{ name: 'c', resourceSelector: [settings], requirements: [isReady] }] },
  }),
  finish: manifestConfig({ manifests, readinessChecks: null }),
  invalid: manifestConfig({ manifests: 'none' }),
});

const demo = { apiVersion: 'v1', kind: 'ConfigMap', name: 'demo-cm', namespace: 'app' };
const stock = createStock({ clock, rng: seededRng(1) });

deployerConformance({
  name: 'the helm deployer',
  plugin: () => helmDeployer({ stock, clock }),
  needsTarget: true,
  alwaysExports: true,
  succeeds: helmConfig(raw(c1())),
  exports: helmConfig({
    ...raw(c1()),
    values: { msg: 'v' },
    exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] },
  }),
  waits: helmConfig({
    ...raw(c1()),
    readinessChecks: { custom: [{ name: 'c', resourceSelector: [demo], requirements: [isReady] }] },
  }),
  finish: helmConfig({ ...raw(c1()), readinessChecks: null }),
  invalid: helmConfig({ chart: 'none' }),
});
