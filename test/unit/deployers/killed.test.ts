/** A deployer that is killed at any write of a job continues, and the result is the same as without the kill. */
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { helmDeployer } from '../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { mockDeployer } from '../../../deployers/mock/index.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/index.ts';
import { createComponentRepositories } from '../../../src/components/component-repositories.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { c1, chartsHere, configMapOf, raw } from '../../support/helm-charts.ts';
import { Bench, configMap, helmConfig, LS, manage, manifestConfig, mockConfig } from './bench.ts';
import type { Any, FakeCluster } from './fake-cluster.ts';

/** Whether the server received the write before the process was killed. */
type Moment = 'before' | 'after';

/** A process that is killed at one of its writes, counted over both clusters: from then on it sends nothing. */
class Killer {
  #writes = 0;
  #isDead = false;
  readonly #clusters: readonly FakeCluster[];
  readonly #at: number;

  constructor(clusters: readonly FakeCluster[], at = Infinity, moment: Moment = 'before') {
    this.#clusters = clusters;
    this.#at = at;
    const die = (): never => {
      this.#isDead = true;
      throw new Error('killed');
    };
    for (const cluster of clusters) {
      cluster.fail = (verb) => {
        if (this.#isDead) die();
        if (!isWrite(verb)) return;
        this.#writes++;
        if (this.#writes === at && moment === 'before') die();
      };
      cluster.lost = () => {
        if (this.#writes === at && moment === 'after') die();
      };
    }
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Whether the write after which it was to be killed had no effect: the server had rejected it. */
  get isRefused(): boolean {
    return !this.#isDead && this.#writes >= this.#at;
  }

  /** Starts the next process; returns the writes of the old one. */
  end(): number {
    for (const cluster of this.#clusters) {
      cluster.fail = () => undefined;
      cluster.lost = () => undefined;
    }
    return this.#writes;
  }
}

const isWrite = (verb: string): boolean => !['get', 'list', 'discover'].includes(verb);

interface Story {
  readonly title: string;
  plugin(): DeployerPlugin;
  readonly type: string;
  readonly needsTarget: boolean;
  /** Objects that are on the target from the start. */
  readonly given?: readonly Any[];
  readonly install: object;
  readonly change: object;
}

const account = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace: 'app' },
});
const role = (name: string): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
});
const settings = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'app' };
const exports = { exports: [{ key: 'k', jsonPath: '.data.a', fromResource: settings }] };
const repositories = createComponentRepositories({ clock: systemClock, rng: seededRng(1) });

/** A hook that is complete when it is created. */
const hookOf = (name: string, events: string, policy: string): string =>
  configMapOf(
    name,
    `  annotations: {helm.sh/hook: "${events}", helm.sh/hook-delete-policy: ${policy}}\ndata: {a: b}\n`,
  );

const stories: readonly Story[] = [
  ...['update', 'patch', 'merge', 'mergeOverwrite', 'apply'].map((updateStrategy) => ({
    title: `manifests, by ${updateStrategy}`,
    plugin: manifestDeployer,
    type: `${LS}/kubernetes-manifest`,
    needsTarget: true,
    given: [configMap('found'), configMap('foreign')],
    install: manifestConfig({
      updateStrategy,
      exports,
      manifests: [
        manage(configMap('settings'), { annotateBeforeCreate: { born: 'now' } }),
        manage(configMap('patched'), { patchAfterDeployment: { data: { late: '1' } } }),
        manage(account('noted'), { annotateBeforeDelete: { bye: '1' } }),
        manage(role('gone-later')),
        { policy: 'keep', manifest: configMap('kept') },
        { policy: 'fallback', manifest: configMap('foreign', { mine: '1' }) },
        { policy: 'immutable', manifest: configMap('found', { mine: '1' }) },
      ],
    }),
    change: manifestConfig({
      updateStrategy,
      exports,
      manifests: [
        manage(configMap('settings', { a: 'c' }), { annotateBeforeCreate: { born: 'now' } }),
        manage(configMap('fresh'), { annotateBeforeCreate: { born: 'now' } }),
        { policy: 'keep', manifest: configMap('kept', { a: 'c' }) },
        { policy: 'ignore', manifest: configMap('patched') },
      ],
    }),
  })),
  {
    title: 'a chart without a release',
    plugin: () => helmDeployer({ repositories, chartsOf: chartsHere(), clock: systemClock }),
    type: `${LS}/helm`,
    needsTarget: true,
    install: helmConfig({
      ...raw(c1({ 'templates/two.yaml': configMapOf('two') })),
      namespace: 'shop',
      createNamespace: true,
      exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] },
    }),
    change: helmConfig({
      ...raw(c1({ 'templates/three.yaml': configMapOf('three') })),
      namespace: 'shop',
      createNamespace: true,
      values: { msg: 'yo' },
      exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] },
    }),
  },
  {
    title: 'a release',
    plugin: () => helmDeployer({ repositories, chartsOf: chartsHere(), clock: systemClock }),
    type: `${LS}/helm`,
    needsTarget: true,
    install: helmConfig({
      ...raw(
        c1({
          'templates/gone.yaml': configMapOf('gone-later'),
          'templates/hook.yaml': hookOf('first', 'pre-install,pre-upgrade,pre-delete', 'hook-succeeded'),
          'templates/late.yaml': hookOf(
            'late',
            'post-install,post-upgrade,post-delete',
            'before-hook-creation',
          ),
        }),
      ),
      namespace: 'shop',
      createNamespace: true,
      helmDeployment: true,
      exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] },
    }),
    change: helmConfig({
      ...raw(
        c1({
          'templates/three.yaml': configMapOf('three'),
          'templates/hook.yaml': hookOf('first', 'pre-install,pre-upgrade,pre-delete', 'hook-succeeded'),
        }),
      ),
      namespace: 'shop',
      createNamespace: true,
      helmDeployment: true,
      values: { msg: 'yo' },
      exports: { exports: [{ key: 'k', jsonPath: '.Values.msg' }] },
    }),
  },
  {
    title: 'a mock',
    plugin: () => mockDeployer(),
    type: `${LS}/mock`,
    needsTarget: false,
    install: mockConfig({ export: { k: 'v' }, providerStatus: { apiVersion: 't/v1', kind: 'S', ok: true } }),
    change: mockConfig({ export: { k: 'w' } }),
  },
];

const KINDS = ['Namespace', 'ConfigMap', 'ServiceAccount', 'ClusterRole', 'Secret', 'DeployItem'];

/** All objects, without fields that the server counts or generates, and without times. */
function picture(b: Bench): object {
  const of = (cluster: FakeCluster): object[] =>
    KINDS.flatMap((kind) =>
      cluster
        .names(kind)
        .sort()
        .map((key) => plain(cluster.find(kind, key), b)),
    );
  return { host: of(b.host), target: of(b.target) };
}

const TIMES = /"\d{4}-\d\d-\d\dT[\d:.]+Z"/g;

/** The content of a release record, and its labels without times. */
function record(object: Any | undefined): object {
  const data = object?.['data'] as { release?: string } | undefined;
  if (data?.release === undefined) return {};
  const packed = Buffer.from(Buffer.from(data.release, 'base64').toString(), 'base64');
  return { data: JSON.parse(gunzipSync(packed).toString()) as object };
}

const withoutLabelTimes = (labels: Readonly<Record<string, string>>): object =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !/^(created|modified)At$/.test(key)));

function plain(object: Any | undefined, b: Bench): object {
  const {
    resourceVersion: _version,
    uid: _uid,
    generation: _generation,
    ...metadata
  } = object?.metadata ?? { name: '' };
  const live = [b.target, b.host].flatMap((c) => KINDS.flatMap((k) => c.names(k).map((n) => c.find(k, n))));
  const labels = metadata.labels && { labels: withoutLabelTimes(metadata.labels) };
  const shown = { ...object, metadata: { ...metadata, ...labels }, ...record(object) };
  let text = JSON.stringify(shown).replace(TIMES, '"<time>"');
  // A uid is replaced by the name of its object, so that a wrong one is detected.
  for (const each of live) {
    if (each) text = text.replaceAll(`"${each.metadata.uid ?? ''}"`, `"<uid of ${each.metadata.name}>"`);
  }
  return JSON.parse(text) as object;
}

describe('a killed deployer', () => {
  for (const story of stories) {
    /** Brings the bench to the start of a job, and returns how to start it. */
    const jobs: readonly { name: string; until(b: Bench): Promise<void>; start(b: Bench): Promise<void> }[] =
      [
        { name: 'installs', until: () => Promise.resolve(), start: (b) => b.kick('j1') },
        {
          name: 'changes',
          async until(b) {
            await b.kick('j1');
            b.configure(story.change);
          },
          start: (b) => b.kick('j2'),
        },
        {
          name: 'deletes',
          async until(b) {
            await b.kick('j1');
            b.configure(story.change);
            await b.kick('j2');
            await b.delete();
          },
          start: (b) => b.kick('j3'),
        },
      ];
    const begin = (): Bench => {
      const b = new Bench(story.plugin());
      for (const object of story.given ?? []) b.target.put(object);
      b.givenTarget();
      b.giveItem(story.install, { type: story.type, ...(!story.needsTarget && { target: null }) });
      return b;
    };

    for (const job of jobs) {
      it(`brings the job to the same end if it is killed at any write while it ${job.name} ${story.title}`, async () => {
        const calm = begin();
        await job.until(calm);
        const counter = new Killer([calm.host, calm.target]);
        await job.start(calm);
        await calm.pass(30_000);
        const writes = counter.end();
        expect(writes).to.be.greaterThan(1);
        expect(calm.isGone() || calm.status().phase).to.equal(job.name === 'deletes' ? true : 'Succeeded');
        const wanted = picture(calm);

        for (let at = 1; at <= writes; at++) {
          for (const moment of ['before', 'after'] as const) {
            const b = begin();
            await job.until(b);
            const killer = new Killer([b.host, b.target], at, moment);
            await job.start(b);
            await b.rest();
            if (moment === 'after' && killer.isRefused) continue; // the server did nothing, as before the write
            expect(killer.isDead, `killed ${moment} write ${String(at)} of ${String(writes)}`).to.equal(true);
            killer.end();
            await b.restart(story.plugin());
            await b.pass(30_000);
            expect(picture(b), `killed ${moment} write ${String(at)} of ${String(writes)}`).to.deep.equal(
              wanted,
            );
          }
        }
      });
    }
  }
});
