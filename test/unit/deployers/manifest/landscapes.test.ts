/** Properties of manifests of real landscapes, and responses of their targets. */
import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { labels } from '../../../../src/api/labels.ts';
import { mergePatch } from '../../../../src/lib/merge.ts';
import { apiErrorFrom, TransportError } from '../../../../src/runtime/errors.ts';
import { Bench, configMap, manage, manifestConfig, type ItemOptions } from '../bench.ts';
import { FakeCluster, type Any } from '../fake-cluster.ts';

interface Entry {
  resource: { kind: string; name: string; namespace?: string; uid?: string };
}
const entriesOf = (b: Bench): Entry[] => (b.status().providerStatus?.['managedResources'] ?? []) as Entry[];
const namesOf = (b: Bench): string[] => entriesOf(b).map(({ resource }) => resource.name);
const messageOf = (b: Bench): string => b.status().lastError?.message ?? '';

async function applied(config: object, options: ItemOptions = {}, target?: FakeCluster): Promise<Bench> {
  const b = new Bench(manifestDeployer(), target ? { target } : {});
  b.givenTarget();
  b.giveItem(manifestConfig(config), options);
  await b.kick('j1');
  return b;
}

const answer = (status: number, message: string, reason = ''): Error =>
  apiErrorFrom(
    status,
    { reason, message },
    { verb: 'create', kind: 'ConfigMap', namespace: 'app', name: 'x' },
  );

describe('manifests of real landscapes', () => {
  it('nested lists are taken apart, and an empty list is nothing', async () => {
    const list = (items: unknown): object => ({ apiVersion: 'v1', kind: 'List', items });
    const b = await applied({
      manifests: [manage(list([list([configMap('deep')]), configMap('flat')])), manage(list(null))],
    });
    expect(b.status().phase).to.equal('Succeeded');
    expect(namesOf(b)).to.deep.equal(['deep', 'flat']);
  });

  it('elements of a typed list may omit version and kind', async () => {
    const { metadata, data } = configMap('bare');
    const items = [{ metadata, data }];
    const b = await applied({ manifests: [manage({ apiVersion: 'v1', kind: 'ConfigMapList', items })] });
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/bare']);
  });

  it('an element of a list that is not an object ends the job with its position', async () => {
    const items = [configMap('one'), { kind: 'ConfigMap' }];
    const b = await applied({ manifests: [manage({ apiVersion: 'v1', kind: 'List', items })] });
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
    expect(messageOf(b)).to.contain('manifests[0].items[1]: expected an object with apiVersion, kind');
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  for (const [title, metadata] of [
    ['generateName', { generateName: 'x-', namespace: 'app' }],
    ['no metadata', null],
    ['a name that is not a string', { name: 5, namespace: 'app' }],
  ] as const) {
    it(`an object with ${title} ends the job before anything is created`, async () => {
      const b = await applied({
        manifests: [manage(configMap('one')), manage({ apiVersion: 'v1', kind: 'ConfigMap', metadata })],
      });
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(messageOf(b)).to.contain('manifests[1].manifest: ConfigMap: the manifest has no metadata.name');
      expect(b.target.names('ConfigMap')).to.deep.equal([]);
    });
  }

  it('a name with a slash does not address another object', async () => {
    const role = (name: string): object => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
    });
    const b = await applied({ manifests: [manage(role('a/b'))] });
    expect(messageOf(b)).to.contain('ClusterRole a/b (manifests[0])').and.contain('must not contain a slash');
    expect(b.target.takeRequests()).to.deep.equal(['get Namespace kube-system']);
  });

  it('fields that a server has set in an object are not sent back to it', async () => {
    const copied = {
      ...configMap('settings'),
      metadata: {
        name: 'settings',
        namespace: 'app',
        uid: 'u-1',
        resourceVersion: '12345',
        generation: 7,
        creationTimestamp: '2020-01-01T00:00:00Z',
        managedFields: [{ manager: 'kubectl' }],
        selfLink: '/api/v1/x',
      },
    };
    const target = new FakeCluster('app');
    const bodies: Any[] = [];
    const send = target.send.bind(target);
    target.send = (write) => {
      if ('object' in write) bodies.push(write.object as unknown as Any);
      return send(write);
    };
    const b = await applied({ manifests: [manage(copied)] }, {}, target);
    expect(b.status().phase).to.equal('Succeeded');
    expect(Object.keys(bodies[0]?.metadata ?? {})).to.deep.equal(['name', 'namespace', 'labels']);
  });

  it('of two manifests of the same object the later one counts, and an event reports it', async () => {
    const b = await applied({
      manifests: [manage(configMap('same', { a: '1' })), manage(configMap('same', { a: '2' }))],
    });
    expect(b.target.find('ConfigMap', 'app/same')?.['data']).to.deep.equal({ a: '2' });
    expect(namesOf(b)).to.deep.equal(['same']);
    expect(b.events).to.deep.equal([
      'Warning DuplicateManifest: ConfigMap app/same (manifests[0]) is defined again further down; the later definition is used',
    ]);
  });

  it('objects of the same name in different kinds, groups and namespaces are different objects', async () => {
    const target = new FakeCluster('app', 'late');
    const one = (apiVersion: string, kind: string, namespace?: string): object =>
      manage({ apiVersion, kind, metadata: { name: 'one', ...(namespace && { namespace }) } });
    const manifests = [
      one('v1', 'ConfigMap', 'app'),
      one('v1', 'ConfigMap', 'late'),
      one('v1', 'Secret', 'app'),
      one('v1', 'Namespace'),
      one('rbac.authorization.k8s.io/v1', 'ClusterRole'),
    ];
    const b = await applied({ manifests }, {}, target);
    expect(entriesOf(b).length).to.equal(5);
    expect(new Set(entriesOf(b).map(({ resource }) => resource.uid)).size).to.equal(5);
    b.configure(manifestConfig({ manifests: manifests.slice(1) }));
    await b.kick('j2');
    expect(target.names('ConfigMap')).to.deep.equal(['late/one']);
    expect(target.names('ClusterRole')).to.deep.equal(['one']);
  });

  const kept = [
    [
      'a bound claim keeps its volume',
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        spec: { resources: { requests: { storage: '1Gi' } } },
      },
      { spec: { volumeName: 'pv-7', storageClassName: 'fast', volumeMode: 'Filesystem' } },
    ],
    [
      'a volume keeps its claim',
      { apiVersion: 'v1', kind: 'PersistentVolume', spec: { capacity: { storage: '1Gi' } } },
      { spec: { claimRef: { name: 'claim', namespace: 'app' } } },
    ],
    [
      'the secret of a service account keeps its token',
      { apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token' },
      {
        data: { token: 'dG9rZW4=' },
        metadata: { annotations: { 'kubernetes.io/service-account.uid': 'u-7' } },
      },
    ],
    [
      'an aggregated role keeps its rules',
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
      },
      { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
    ],
  ] as const;
  for (const [title, manifest, given] of kept) {
    it(`${title}, whatever the strategy replaces`, async () => {
      const namespace = /Volume$|Role$/.test(manifest.kind) ? undefined : 'app';
      const object = (label: string): object => ({
        ...manifest,
        metadata: { name: 'x', ...(namespace && { namespace }), labels: { label } },
      });
      const b = await applied({ manifests: [manage(object('one'))] });
      const key = namespace ? 'app/x' : 'x';
      b.target.edit(manifest.kind, key, given);
      b.configure(manifestConfig({ manifests: [manage(object('two'))] }));
      await b.kick('j2');
      const live = b.target.find(manifest.kind, key);
      expect(live?.metadata.labels?.['label']).to.equal('two');
      expect(mergePatch(live, given)).to.deep.equal(live);
    });
  }

  describe('in large numbers', () => {
    const many = (count: number): object[] =>
      Array.from({ length: count }, (_, i) => manage(configMap(`cm-${String(i).padStart(4, '0')}`)));

    it('failures of a thousand objects are one message that fits into a status', async function () {
      this.timeout(60_000);
      const target = new FakeCluster('app');
      target.fail = (verb) => {
        if (verb === 'create') throw answer(500, 'etcdserver: request timed out');
      };
      const b = await applied({ manifests: many(1000) }, {}, target);
      for (let i = 0; i < 200 && b.status().lastError === undefined; i++) await b.rest();
      expect(messageOf(b)).to.contain('ConfigMap app/cm-0000 (manifests[0]) on target cluster-a: ');
      expect(messageOf(b)).to.match(/; and 990 more objects$/);
      expect(messageOf(b).length).to.be.lessThan(3000);
    });
  });

  describe('on a target that', () => {
    const troubles = [
      ['is overloaded', () => answer(429, 'too many requests', 'TooManyRequests')],
      ['fails', () => answer(500, 'etcdserver: leader changed', 'InternalError')],
      [
        'is not available',
        () =>
          new TransportError({
            message: 'cannot create: connect ECONNREFUSED 10.0.0.1:6443',
            safeToRepeat: true,
          }),
      ],
      [
        'interrupts its response',
        () => new TransportError({ message: 'cannot create: socket hang up', safeToRepeat: false }),
      ],
      [
        'has a webhook that does not answer',
        () => answer(500, 'failed calling webhook "w.test": connection refused', 'InternalError'),
      ],
    ] as const;
    for (const [title, error] of troubles) {
      it(`${title} for a while are applied when it has recovered, and the error is reported`, async () => {
        const target = new FakeCluster('app');
        target.fail = () => {
          throw error();
        };
        const b = await applied({ manifests: [manage(configMap('settings'))] }, {}, target);
        await b.pass(20_000);
        expect(b.status().phase).to.equal('Progressing');
        expect(messageOf(b))
          .to.contain(error().message.replace(/^cannot create.*?: /, ''))
          .and.contain('cluster-a');
        target.fail = () => undefined;
        await b.pass(5000);
        expect(b.status().phase).to.equal('Succeeded');
        expect(b.status().lastError).to.equal(undefined);
        expect(b.status().firstError?.message).to.contain('settings');
        expect(entriesOf(b)[0]?.resource.uid).to.equal(
          target.find('ConfigMap', 'app/settings')?.metadata.uid,
        );
      });

      it(`${title} during the deletion of the objects are deleted when it has recovered`, async () => {
        const b = await applied({ manifests: [manage(configMap('settings'))] });
        await b.delete();
        b.target.fail = () => {
          throw error();
        };
        await b.kick('j2');
        await b.pass(20_000);
        expect(b.isGone()).to.equal(false);
        expect(messageOf(b)).to.contain('ConfigMap app/settings').and.contain('target cluster-a');
        b.target.fail = () => undefined;
        await b.pass(15_000);
        expect(b.isGone()).to.equal(true);
        expect(b.target.names('ConfigMap')).to.deep.equal([]);
      });
    }

    it('is a copy of an imported one: messages have the name of the import, not the hash', async () => {
      const target = new FakeCluster('app');
      const b = new Bench(manifestDeployer(), { target });
      const name = 'pqyjmbqrqvxd2d6s2k2fvvjxsbc6ag27';
      b.givenTarget(name, { labels: { [labels.dataKey]: 'cluster' } });
      b.giveItem(manifestConfig({ manifests: [manage(configMap('settings'))] }), { target: name });
      target.fail = () => {
        throw new TransportError({ message: 'connect ECONNREFUSED 10.0.0.1:6443', safeToRepeat: true });
      };
      await b.kick('j1');
      expect(messageOf(b)).to.contain('target cluster').and.not.contain(name);
    });

    it('is not available while readiness is checked is named', async () => {
      const target = new FakeCluster('app');
      const b = new Bench(manifestDeployer(), { target });
      b.givenTarget();
      const manifest = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd', namespace: 'app' },
      };
      b.giveItem(manifestConfig({ manifests: [manage({ ...manifest, spec: { replicas: 1 } })] }));
      await b.kick('j1');
      target.fail = () => {
        throw new TransportError({ message: 'connect ECONNREFUSED 10.0.0.1:6443', safeToRepeat: true });
      };
      await b.pass(20_000);
      expect(messageOf(b)).to.contain('cluster-a').and.contain('ECONNREFUSED');
      target.fail = () => undefined;
      target.edit('Deployment', 'app/d', {
        status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 1 },
      });
      await b.pass(15_000);
      expect(b.status().phase).to.equal('Succeeded');
    });

    it('forbids to create and to read reports first which right is missing', async () => {
      const target = new FakeCluster('app');
      target.fail = (verb, what) => {
        if (verb === 'create') throw answer(403, `user may not create ${what}`, 'Forbidden');
        if (verb === 'get') throw answer(403, `user may not get ${what}`, 'Forbidden');
      };
      const b = await applied({ manifests: [manage(configMap('settings'))] }, {}, target);
      expect(messageOf(b)).to.contain('may not create');
    });

    it('repeats the values of a secret in its response does not make us repeat them', async () => {
      const target = new FakeCluster('app');
      target.fail = (verb) => {
        if (verb === 'create')
          throw answer(
            403,
            'admission webhook "w" denied the request: pw=hunter2-hunter2 of aHVudGVyMy1odW50ZXIz',
            'Forbidden',
          );
      };
      const secret = (fields: object): object =>
        manage({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'app' }, ...fields });
      const b = await applied(
        {
          manifests: [
            secret({ stringData: { pw: 'hunter2-hunter2' }, data: { other: 'aHVudGVyMy1odW50ZXIz' } }),
          ],
        },
        {},
        target,
      );
      await b.pass(125_000);
      const told = JSON.stringify([b.status(), b.history, b.events]);
      expect(told).to.contain('admission webhook').and.contain('[...]');
      expect(told).to.not.contain('hunter').and.not.contain('aHVudGVy');
    });
  });

  it('fails for a patch after the deployment is named, and the patch is retried', async () => {
    const target = new FakeCluster('app');
    const b = new Bench(manifestDeployer(), { target });
    b.givenTarget();
    b.giveItem(
      manifestConfig({
        manifests: [manage(configMap('settings'), { patchAfterDeployment: { data: { b: '1' } } })],
      }),
    );
    target.fail = (verb) => {
      if (verb === 'replace') throw answer(500, 'no leader', 'InternalError');
    };
    await b.kick('j1');
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().lastError).to.deep.include({ reason: 'PatchAfterDeployment' });
    expect(messageOf(b)).to.contain('cluster-a').and.contain('no leader');
    target.fail = () => undefined;
    await b.pass(6000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(target.find('ConfigMap', 'app/settings')?.['data']).to.deep.equal({ a: 'b', b: '1' });
  });
});
