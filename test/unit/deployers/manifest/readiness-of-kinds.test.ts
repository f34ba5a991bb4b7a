/** Jobs that wait for objects of other kinds than Landscaper’s six, or fail with them. */
import { expect } from 'chai';
import { helmDeployer } from '../../../../deployers/helm/index.ts';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { chartsHere, packChart, raw } from '../../../support/helm-charts.ts';
import {
  Bench,
  configMap,
  helmConfig,
  LS,
  manage,
  manifestConfig,
  type BenchOptions,
  type ItemOptions,
} from '../bench.ts';
import type { Any } from '../fake-cluster.ts';

const job = (spec: object = {}): Any => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'migrate', namespace: 'app' },
  spec: { selector: { matchLabels: { job: 'migrate' } }, ...spec },
});
const chart = (): object =>
  raw(
    packChart({
      'templates/job.yaml': JSON.stringify(job()),
      'templates/settings.yaml': JSON.stringify(configMap('settings')),
    }),
  );

const repositories = createComponentRepositories({ clock: systemClock, rng: seededRng(1) });

/** Each way to deploy the job. */
const ways: readonly (readonly [string, (options?: BenchOptions) => Bench])[] = [
  ['manifests', (options) => given(manifestConfig({ manifests: [manage(job())] }), {}, options)],
  ['a chart', (options) => given(helmConfig(chart()), { type: `${LS}/helm` }, options)],
  [
    'a release',
    (options) => given(helmConfig({ ...chart(), helmDeployment: true }), { type: `${LS}/helm` }, options),
  ],
];

function given(config: object, item: ItemOptions = {}, options: BenchOptions = {}): Bench {
  const isChart = item.type !== undefined;
  const charts = { repositories, chartsOf: chartsHere(), clock: systemClock };
  const b = new Bench(isChart ? helmDeployer(charts) : manifestDeployer(), options);
  b.givenTarget();
  b.giveItem(config, item);
  return b;
}

const condition = (type: string, message = ''): object => ({
  status: { conditions: [{ type, status: 'True', reason: 'Because', message }] },
});

/** Of the job `migrate`. */
const failedPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'migrate-x', namespace: 'app', labels: { job: 'migrate' } },
  status: { containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 3 } } }] },
};

describe('readiness of more kinds', () => {
  for (const [way, bench] of ways) {
    it(`a job in ${way} is waited for until it has completed`, async () => {
      const b = bench();
      await b.kick('j1');
      expect(b.status().phase).to.equal('Progressing');
      expect(b.status().lastError?.message).to.contain('Job app/migrate: the job has not completed');
      b.target.edit('Job', 'app/migrate', condition('Complete'));
      await b.pass(5000);
      expect(b.status().phase).to.equal('Succeeded');
    });

    it(`a job in ${way} that fails ends the job of the item at once, with the last lines of its pod`, async () => {
      const b = bench();
      await b.kick('j1');
      b.target.put(failedPod);
      b.target.logs.set('app/migrate-x', 'no such table');
      b.target.edit('Job', 'app/migrate', condition('Failed', 'too often'));
      await b.pass(5000);
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError).to.deep.include({
        operation: 'WaitForObjectsReady',
        reason: 'ObjectFailed',
      });
      expect(b.status().lastError?.message)
        .to.contain('Job app/migrate: the job has failed: Because: too often; to run it again')
        .and.contain(
          'pod migrate-x: container main: ended, last exit code 3; its last lines:\nno such table',
        );
    });

    it(`a job in ${way} is not waited for with Landscaper’s rules`, async () => {
      const b = bench({ config: { readiness: 'landscaper' } });
      await b.kick('j1');
      expect(b.status().phase).to.equal('Succeeded');
    });
  }

  it('the status of a release lists only Landscaper’s six kinds', async () => {
    const b = ways[2]?.[1]() as Bench;
    await b.kick('j1');
    expect(b.status().providerStatus).to.not.have.property('managedResources');
  });

  it('the job fails for an object that has failed, even if another one is not ready', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'app' },
    };
    const b = given(manifestConfig({ manifests: [manage(claim), manage(job())] }));
    await b.kick('j1');
    expect(b.status().lastError?.reason).to.equal('NotReady');
    b.target.edit('Job', 'app/migrate', condition('Failed'));
    await b.pass(5000);
    expect(b.status().lastError?.reason).to.equal('ObjectFailed');
  });

  it('a job that was deleted after its end counts as completed, and that is reported once', async () => {
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'app' },
    };
    const manifests = [manage(claim), manage(job({ ttlSecondsAfterFinished: 2 }))];
    const b = given(manifestConfig({ manifests }));
    await b.kick('j1');
    expect(b.requeues.at(-1), 'checked before it is deleted').to.be.at.most(1000);
    b.target.drop('Job', 'app/migrate');
    await b.pass(5000);
    await b.pass(5000);
    expect(b.status().phase).to.equal('Progressing');
    b.target.edit('PersistentVolumeClaim', 'app/data', { status: { phase: 'Bound' } });
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.events.filter((event) => event.includes('JobResultUnknown'))).to.have.length(1);
  });

  it('a job that another user deletes is waited for', async () => {
    const b = given(manifestConfig({ manifests: [manage(job())] }));
    await b.kick('j1');
    b.target.drop('Job', 'app/migrate');
    await b.pass(5000);
    expect(b.status().phase).to.equal('Progressing');
  });

  const claimOf = (storageClassName: string | undefined, annotations: object = {}): Any => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data', namespace: 'app', annotations: { ...annotations } },
    spec: { ...(storageClassName !== undefined && { storageClassName }) },
    status: { phase: 'Pending' },
  });
  const claims: readonly (readonly [string, Any, phase: string])[] = [
    ['a class that waits for the first pod', claimOf('late'), 'Succeeded'],
    [
      'a class that waits for the first pod, which exists',
      claimOf('late', { 'volume.kubernetes.io/selected-node': 'n' }),
      'Progressing',
    ],
    ['a class that does not wait', claimOf('early'), 'Progressing'],
    ['a class that does not exist', claimOf('none'), 'Progressing'],
    ['no class', claimOf(undefined), 'Progressing'],
  ];
  for (const [title, claim, phase] of claims) {
    it(`a claim with ${title} is ${phase === 'Succeeded' ? '' : 'not '}ready before it is bound`, async () => {
      const b = given(manifestConfig({ manifests: [manage(claim)] }));
      const apiVersion = 'storage.k8s.io/v1';
      for (const [name, volumeBindingMode] of [
        ['late', 'WaitForFirstConsumer'],
        ['early', 'Immediate'],
      ])
        b.target.put({ apiVersion, kind: 'StorageClass', metadata: { name }, volumeBindingMode } as Any);
      await b.kick('j1');
      expect(b.status().phase, b.status().lastError?.message).to.equal(phase);
    });
  }

  describe('custom objects', () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'databases.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { kind: 'Database', plural: 'databases' },
        versions: [{ name: 'v1' }],
      },
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    };
    const database = {
      apiVersion: 'example.org/v1',
      kind: 'Database',
      metadata: { name: 'db', namespace: 'app' },
    };
    const start = async (metadata: object = {}): Promise<Bench> => {
      const own = { ...database, metadata: { ...database.metadata, ...metadata } };
      const b = given(manifestConfig({ manifests: [manage(database)] }));
      b.target.put(definition);
      b.target.put(own);
      await b.kick('j1');
      return b;
    };
    const young = { creationTimestamp: '2026-01-01T00:00:00Z' };

    it('that were just created get time for their first status, which is not shown as an error', async () => {
      const b = await start(young);
      expect(b.status().phase).to.equal('Progressing');
      expect(b.status().lastError).to.equal(undefined);
      b.target.edit('Database', 'app/db', condition('Reconciling', 'creating'));
      await b.pass(1000);
      expect(b.status().lastError?.message).to.contain('the object is being reconciled: Because: creating');
      b.target.edit('Database', 'app/db', condition('Ready'));
      await b.pass(60_000);
      expect(b.status().phase).to.equal('Succeeded');
    });

    it('that never get a status are ready after that time', async () => {
      const b = await start(young);
      await b.pass(4000);
      expect(b.status().phase).to.equal('Progressing');
      await b.pass(2000);
      expect(b.status().phase).to.equal('Succeeded');
    });

    it('that have had no status for longer are ready', async () => {
      const b = await start({ creationTimestamp: '2025-12-31T00:00:00Z' });
      expect(b.status().phase).to.equal('Succeeded');
    });

    it('that are stalled get time, too, if their status may be an old one', async () => {
      const b = await start(young);
      b.target.edit('Database', 'app/db', condition('Stalled', 'wrong size'));
      await b.pass(2000);
      expect(b.status().phase).to.equal('Progressing');
      await b.pass(10_000);
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.message).to.contain(
        'Database app/db: the object is stalled: Because: wrong size',
      );
    });
  });
});

describe('a hook of a release', () => {
  it('that fails has the last lines of its pod in the error of the item', async () => {
    const hook = job();
    const annotations = { 'helm.sh/hook': 'pre-install' };
    const files = {
      'templates/job.yaml': JSON.stringify({ ...hook, metadata: { ...hook.metadata, annotations } }),
    };
    const config = helmConfig({ ...raw(packChart(files)), helmDeployment: true });
    const b = given(config, { type: `${LS}/helm` });
    b.target.put(failedPod);
    b.target.logs.set('app/migrate-x', 'no such table');
    b.target.lost = (verb, what) => {
      if (`${verb} ${what}` === 'create Job app/migrate')
        b.target.edit('Job', 'app/migrate', condition('Failed'));
    };
    await b.kick('j1');
    expect(b.status().lastError?.message)
      .to.contain('job migrate failed: Because')
      .and.contain('pod migrate-x: container main: ended, last exit code 3; its last lines:\nno such table');
  });
});
