/** Readiness of objects, and exports from them, on API servers. */
import { expect } from 'chai';
import { configMap, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World, type Json } from './world.ts';

const MANIFEST = 'kubernetes-manifest';
const selector = { matchLabels: { a: 'b' } };
const podSpec = { containers: [{ name: 'm', image: 'none' }] };
const template = { metadata: { labels: { a: 'b' } }, spec: podSpec };
const ref = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'app' });

interface Row {
  readonly title: string;
  readonly kind: string;
  readonly apiVersion?: string;
  readonly spec: object;
  /** The status of the object, if it has one. */
  readonly status?: object;
  /** Why it is not ready; absent if it is ready. */
  readonly why?: string;
}

const of = (n: number, more: object = {}): object => ({
  observedGeneration: 1,
  replicas: n,
  updatedReplicas: n,
  readyReplicas: n,
  availableReplicas: n,
  ...more,
});
const daemons = (desiredNumberScheduled: number, currentNumberScheduled: number): object => ({
  desiredNumberScheduled,
  currentNumberScheduled,
  observedGeneration: 1,
  numberMisscheduled: 0,
  numberReady: currentNumberScheduled,
});
const rows: readonly Row[] = [
  { title: 'a Deployment with all replicas', kind: 'Deployment', spec: { replicas: 3 }, status: of(3) },
  {
    title: 'a Deployment with a missing replica',
    kind: 'Deployment',
    spec: { replicas: 3 },
    status: of(3, { availableReplicas: 2 }),
    why: 'not enough ready replicas (2/3)',
  },
  {
    title: 'a Deployment that its controller has not observed',
    kind: 'Deployment',
    spec: { replicas: 3 },
    why: 'observed generation outdated (0/1)',
  },
  {
    title: 'a StatefulSet without replicas in its manifest',
    kind: 'StatefulSet',
    spec: { serviceName: 's' },
    status: of(1),
  },
  {
    title: 'a DaemonSet that may miss a pod',
    kind: 'DaemonSet',
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
    status: daemons(2, 1),
  },
  {
    title: 'a DaemonSet that misses a pod',
    kind: 'DaemonSet',
    spec: { updateStrategy: { type: 'OnDelete' } },
    status: daemons(1, 0),
    why: 'not enough ready replicas (0/1)',
  },
  {
    title: 'a ReplicaSet without replicas in its manifest',
    kind: 'ReplicaSet',
    spec: {},
    status: { observedGeneration: 1, replicas: 1, readyReplicas: 1 },
  },
  {
    title: 'a ReplicaSet that cannot create pods',
    kind: 'ReplicaSet',
    spec: {},
    status: {
      observedGeneration: 1,
      replicas: 1,
      readyReplicas: 1,
      conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }],
    },
    why: 'condition "ReplicaFailure" has invalid status True (expected False) due to FailedCreate: quota',
  },
  {
    title: 'a Pod that has completed',
    apiVersion: 'v1',
    kind: 'Pod',
    spec: podSpec,
    status: { conditions: [{ type: 'Ready', status: 'False', reason: 'PodCompleted' }] },
  },
  {
    title: 'a Pod without conditions',
    apiVersion: 'v1',
    kind: 'Pod',
    spec: podSpec,
    why: 'condition "Ready" is missing',
  },
];

describe('readiness and exports on API servers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
    await world.create(world.target, configMap('settings', { state: 'up', n: '3', host: 'h1' }) as Json);
  });
  after(() => world.stop());

  const succeeds = async (name: string): Promise<void> => {
    const { status } = await world.run(name, 'j1');
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
  };
  /** The job continues and reports why. */
  const waits = async (name: string, why: string): Promise<void> => {
    await world.kick(name, 'j1');
    expect(await world.problem(name)).to.contain(why);
    expect((await world.item(name)).status?.phase).to.equal('Progressing');
  };

  for (const [i, { title, kind, apiVersion = 'apps/v1', spec, status, why }] of rows.entries()) {
    it(`DEP-39: ${title} is ${why === undefined ? '' : 'not '}ready`, async () => {
      const name = `ready-${String(i)}`;
      const all = kind === 'Pod' ? spec : { selector, template, ...spec };
      const object: Json = { apiVersion, kind, metadata: { name, namespace: 'app' }, spec: all };
      await world.create(world.target, object);
      if (status) await world.edit(world.target, apiVersion, kind, `app/${name}`, { status }, 'status');
      const config = { updateStrategy: 'mergeOverwrite', manifests: [manage(object)] };
      await world.giveItem(name, MANIFEST, manifestConfig(config));
      if (why === undefined) await succeeds(name);
      else await waits(name, `${kind} app/${name}: ${why}`);
    });
  }

  it('DEP-39: a ConfigMap is ready as soon as it exists', async () => {
    await world.giveItem('plain', MANIFEST, manifestConfig({ manifests: [manage(configMap('plain'))] }));
    await succeeds('plain');
  });

  it('DEP-39: a Deployment is waited for until its status reports that it is ready', async () => {
    const metadata = { name: 'rising', namespace: 'app' };
    const spec = { replicas: 2, selector, template };
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec };
    await world.giveItem('rising', MANIFEST, manifestConfig({ manifests: [manage(object)] }));
    await waits('rising', 'observed generation outdated (0/1)');
    const status = of(2);
    await world.edit(world.target, 'apps/v1', 'Deployment', 'app/rising', { status }, 'status');
    const ended = await world.finished('rising', 'j1');
    expect(ended.status?.phase).to.equal('Succeeded');
    expect(ended.status?.lastError).to.equal(undefined);
  });

  const unfulfilled = 'resource requirement is not fulfiled for field';
  const requirements: readonly (readonly [object, string?])[] = [
    [{ jsonPath: '.data.state', operator: '=', values: [{ value: 'up' }] }],
    [{ jsonPath: '.data.n', operator: '==', values: [{ value: 3 }] }, `${unfulfilled} .data.n`],
    [{ jsonPath: '.data.state', operator: '!=', values: [{ value: 'down' }] }],
    [{ jsonPath: '.data.state', operator: 'in', values: [{ value: 'up' }, { value: 'idle' }] }],
    [{ jsonPath: '.data.state', operator: 'notin', values: [{ value: 'up' }] }, `${unfulfilled} .data.state`],
    [{ jsonPath: '.data.gone', operator: '!' }],
    [
      { jsonPath: '.data.gone', operator: '!=', values: [{ value: 'x' }] },
      'field with JSON path .data.gone does not exist',
    ],
    [{ jsonPath: '.data', operator: '=', values: [{ value: { host: 'h1', n: '3', state: 'up' } }] }],
    [
      { jsonPath: '.data.state', operator: '=', values: ['up'] },
      'object at index 0 does not contain the value key',
    ],
  ];
  const checking = (check: object): object =>
    manifestConfig({ manifests: [], readinessChecks: { custom: [{ name: 'c', ...check }] } });
  for (const [i, [requirement, why]] of requirements.entries()) {
    it(`DEP-40: ${JSON.stringify(requirement)} ${why === undefined ? 'holds' : 'does not hold'}`, async () => {
      const name = `check-${String(i)}`;
      const check = { resourceSelector: [ref('settings')], requirements: [requirement] };
      await world.giveItem(name, MANIFEST, checking(check));
      if (why === undefined) await succeeds(name);
      else await waits(name, why);
    });
  }

  it('DEP-40: objects selected by labels are waited for until there are some', async () => {
    const labelSelector = { apiVersion: 'v1', kind: 'ConfigMap', matchLabels: { none: 'here' } };
    const check = { labelSelector, requirements: [{ jsonPath: '.data.done', operator: 'exists' }] };
    await world.giveItem('labelled', MANIFEST, checking(check));
    await waits('labelled', 'object list by label selector is empty');
    await world.create(world.target, configMap('done', { done: '1' }, { labels: { none: 'here' } }) as Json);
    expect((await world.finished('labelled', 'j1')).status?.phase).to.equal('Succeeded');
  });

  const exporting = (...exports: object[]): object => manifestConfig({ manifests: [], exports: { exports } });

  it('DEP-20: an export is in a secret that is deleted with the item', async () => {
    const entry = { key: 'db.host', jsonPath: '.data.host', fromResource: ref('settings') };
    await world.giveItem('gives', MANIFEST, exporting(entry));
    await succeeds('gives');
    const { metadata, status } = await world.item('gives');
    expect(status?.exportRef).to.deep.equal({ name: 'gives-export', namespace: 'proj' });
    expect(await world.exported('gives')).to.deep.equal({ db: { host: 'h1' } });
    const secret = await world.find(world.host, 'v1', 'Secret', 'proj/gives-export');
    const owners = secret?.metadata.ownerReferences ?? [];
    expect(owners).to.have.length(1);
    expect(owners[0])
      .to.deep.include({ kind: 'DeployItem', name: 'gives', uid: metadata.uid })
      .and.not.have.property('controller');
  });

  it('DEP-42: an export may be available later', async () => {
    const entry = { key: 'db.host', jsonPath: '.data.host', fromResource: ref('later') };
    await world.giveItem('patient', MANIFEST, exporting(entry));
    await waits('patient', 'later');
    await world.create(world.target, configMap('later') as Json);
    await world.edit(world.target, 'v1', 'ConfigMap', 'app/later', { data: { host: 'h2' } });
    expect((await world.finished('patient', 'j1')).status?.phase).to.equal('Succeeded');
    expect(await world.exported('patient')).to.deep.equal({ db: { host: 'h2' } });
  });

  it('DEP-43: an export may follow a reference', async () => {
    const at = (name: string): object => ({ name, namespace: 'app' });
    await world.create(world.target, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: at('bot'),
      secrets: [{ name: 'bot-tok' }],
    } as Json);
    await world.create(world.target, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: at('bot-tok'),
      data: { token: 'QQ==' },
    } as Json);
    const entry = {
      key: 'token',
      jsonPath: '.secrets[0]',
      fromResource: { apiVersion: 'v1', kind: 'ServiceAccount', ...at('bot') },
      fromObjectRef: { apiVersion: 'v1', kind: 'Secret', jsonPath: '.data.token' },
    };
    await world.giveItem('follows', MANIFEST, exporting(entry));
    await succeeds('follows');
    expect(await world.exported('follows')).to.deep.equal({ token: 'QQ==' });
  });
});
