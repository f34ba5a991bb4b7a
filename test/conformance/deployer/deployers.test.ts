/** The deployers of this repository under the common suite; a new one gets an entry here. */
import { containerDeployer, defaultSettings } from '../../../deployers/container/index.ts';
import { namesOf } from '../../../deployers/container/names.ts';
import { helmDeployer } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';

import { mockDeployer } from '../../../deployers/mock/index.ts';
import { createComponentRepositories } from '../../../src/components/component-repositories.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { c1, chartsHere, raw } from '../../support/helm-charts.ts';
import { podRunning, podSucceeded } from '../../support/containers.ts';
import {
  type Bench,
  configMap,
  containerConfig,
  helmConfig,
  manage,
  manifestConfig,
  mockConfig,
} from '../../unit/deployers/bench.ts';
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
const repositories = createComponentRepositories({ clock, rng: seededRng(1) });

deployerConformance({
  name: 'the helm deployer',
  plugin: () => helmDeployer({ repositories, chartsOf: chartsHere(), clock }),
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

/** A kubelet for images whose result is in their name. */
function playKubelet({ host }: Bench): void {
  const { onChange } = host;
  host.onChange = (kind, key, before, after) => {
    onChange(kind, key, before, after);
    if (kind !== 'Pod' || before || !after) return;
    const spec = after['spec'] as { containers: { image: string }[] };
    const image = spec.containers[0]?.image;
    if (image === 'exports') {
      host.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: namesOf({ namespace: 'proj', name: 'web' }).export, namespace: 'proj' },
        data: { config: Buffer.from('{"k":"v"}').toString('base64') },
      });
    }
    host.edit('Pod', key, { status: image === 'hangs' ? podRunning : podSucceeded });
  };
}

deployerConformance({
  name: 'the container deployer',
  plugin: (client) => containerDeployer({ client, settings: { ...defaultSettings, namespace: 'proj' } }),
  prepare: playKubelet,
  needsTarget: false,
  controlsExports: true,
  // Four to the status; the old export; configuration and target; two accounts with role, binding and token; the pod,
  // our finalizer on it, and its end.
  writes: 20,
  succeeds: containerConfig({ image: 'ends', command: null }),
  exports: containerConfig({ image: 'exports' }),
  waits: containerConfig({ image: 'hangs' }),
  finish: containerConfig({ image: 'ends' }),
  invalid: containerConfig({ command: 'none' }),
});
