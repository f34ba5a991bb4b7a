/** What a run does before its pod starts, and how it ends when one of these steps fails. */
import { expect } from 'chai';
import { annotations, keys } from '../../../../deployers/container/contract.ts';
import { containerDeployer, defaultSettings } from '../../../../deployers/container/index.ts';
import { labelsOf } from '../../../../deployers/container/names.ts';
import { failAt } from '../../../../deployers/sdk/timeout.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { podSucceeded, terminated } from '../../../support/containers.ts';
import { Bench, containerConfig, LS, type ItemOptions } from '../bench.ts';
import type { Any } from '../fake-cluster.ts';

const NAMESPACE = 'proj';
const settings = { ...defaultSettings, namespace: NAMESPACE, isSidecar: true };
const refusal = (status: number, reason?: string): Error =>
  apiErrorFrom(status, { ...(reason && { reason }), message: 'no' }, { verb: 'create', kind: 'Pod' });

describe('the preparation of a run', () => {
  let bench: Bench;
  const give = (config: object = {}, more: ItemOptions = {}): void => {
    bench.giveItem(containerConfig({ image: 'example.org/tool:1', ...config }), {
      type: `${LS}/container`,
      target: null,
      ...more,
    });
  };
  beforeEach(() => {
    bench = new Bench((client) => containerDeployer({ client, settings }));
  });
  const pods = (): string[] => bench.host.names('Pod');
  const secretText = (name: string, key: string): string =>
    Buffer.from(
      ((bench.host.find('Secret', `proj/${name}`)?.['data'] ?? {}) as Record<string, string>)[key] ?? '',
      'base64',
    ).toString();
  const problem = () => bench.status().lastError?.message ?? '';
  const putExport = (text: string): void => {
    const labels = labelsOf({ namespace: NAMESPACE, name: 'web' }, 'd');
    bench.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'proj-web-export', namespace: NAMESPACE, labels },
      data: { [keys.data]: Buffer.from(text).toString('base64') },
    });
  };
  const report = async (status: object): Promise<void> => {
    const [key = ''] = pods();
    bench.host.put({ ...bench.host.find('Pod', key), status } as Any);
    await bench.pass(30_000);
  };

  it('ends the job if the API server refuses the pod as invalid', async () => {
    give();
    bench.host.fail = (verb, what) => {
      if (verb === 'create' && what.startsWith('Pod')) throw refusal(422, 'Invalid');
    };
    await bench.kick('j1');
    expect(bench.status().phase).to.equal('Failed');
    expect(problem()).to.match(/^pod proj\/web-[0-9a-f]{8} was refused: /);
  });

  for (const status of [403, 500]) {
    it(`retries if the API server answers to the creation of the pod with ${String(status)}`, async () => {
      give();
      let isDown = true;
      bench.host.fail = (verb, what) => {
        if (isDown && verb === 'create' && what.startsWith('Pod')) throw refusal(status);
      };
      await bench.kick('j1');
      expect(bench.status().phase).to.equal('Progressing');
      expect(problem().includes('was refused')).to.equal(status === 403);
      isDown = false;
      await bench.pass(60_000);
      expect(pods()).to.have.length(1);
    });
  }

  for (const kind of ['ServiceAccount', 'Role', 'RoleBinding'])
    it(`names the account whose ${kind} the API server refuses`, async () => {
      give();
      bench.host.fail = (verb, what) => {
        if (verb === 'apply' && what === `${kind} proj/proj-web-init`) throw refusal(403);
      };
      await bench.kick('j1');
      expect(problem()).to.match(/^account proj-web-init: /);
    });

  it('gives the init container the credentials for the repository of the blueprint', async () => {
    const auths = { 'example.org': { username: 'u', password: 'p' } };
    bench.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pull', namespace: NAMESPACE },
      data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
    });
    const repositoryContext = { type: 'OCIRegistry', baseUrl: 'example.org/stock' };
    give({
      registryPullSecrets: [{ name: 'pull', namespace: NAMESPACE }],
      componentDescriptor: { ref: { componentName: 'example.org/a', version: '1.0.0', repositoryContext } },
      blueprint: { ref: { resourceName: 'blueprint' } },
    });
    await bench.kick('j1');
    for (const name of ['imgpullsec', 'bppullsec', 'cdpullsec'])
      expect(secretText(`proj-web-${name}`, '.dockerconfigjson'), name).to.contain('"username":"u"');
  });

  it('uses the pod of an attempt whose answer was lost, and not that of a user', async () => {
    give();
    bench.host.lost = (verb, what) => {
      if (verb === 'create' && what.startsWith('Pod')) throw refusal(409, 'AlreadyExists');
    };
    await bench.kick('j1');
    expect(pods()).to.have.length(1);
    await report(podSucceeded);
    expect(bench.status().phase).to.equal('Succeeded');
    bench.host.lost = (verb, what) => {
      if (verb !== 'create' || !what.startsWith('Pod')) return;
      bench.host.edit('Pod', what.slice('Pod '.length), { metadata: { labels: null } });
      throw refusal(409, 'AlreadyExists');
    };
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Failed');
    expect(problem()).to.contain('pod proj/web-');
  });

  it('deletes the export of an earlier run, so that an image that exports nothing has none', async () => {
    give();
    await bench.kick('j1');
    putExport('{"a":1}');
    await report(podSucceeded);
    expect(bench.host.names('Secret')).to.include('proj/web-export');
    await bench.kick('j2');
    expect(bench.host.names('Secret')).to.not.include('proj/proj-web-export');
  });

  it('ends the job if a user has created the secret of the export; a deletion goes on', async () => {
    give();
    await bench.kick('j1');
    await report(podSucceeded);
    bench.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'proj-web-export', namespace: NAMESPACE, labels: { app: 'mine' } },
      data: { mine: '' },
    });
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Failed');
    expect(problem()).to.contain('proj/proj-web-export');
    expect(pods()).to.deep.equal([]);
    await bench.delete();
    await bench.kick('j3');
    expect(pods(), problem()).to.have.length(1);
    expect(bench.host.names('Secret')).to.include('proj/proj-web-export');
  });

  it('gives a deletion its own run, after which no object is left', async () => {
    give();
    await bench.kick('j1');
    await report(podSucceeded);
    await bench.delete();
    await bench.kick('j2');
    expect(pods()).to.have.length(1);
    expect(JSON.stringify(bench.host.find('Pod', pods()[0] ?? ''))).to.contain('"DELETE"');
    await report(podSucceeded);
    expect(bench.isGone()).to.equal(true);
    const left = ['Pod', 'Secret', 'Role', 'RoleBinding', 'ServiceAccount'].flatMap((kind) =>
      bench.host.names(kind),
    );
    expect(left).to.deep.equal([]);
  });

  it('leaves the run of a deletion out if the user says so, or if nothing has run', async () => {
    give();
    await bench.kick('j1');
    await report(podSucceeded);
    bench.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`container.deployer.${LS}/force-cleanup`]: 'true' } },
    });
    await bench.delete();
    await bench.kick('j2');
    expect(bench.isGone()).to.equal(true);
    expect(bench.host.names('Secret')).to.deep.equal([]);
    give();
    bench.host.edit('DeployItem', 'proj/web', { metadata: { finalizers: [`finalizer.${LS}`] } });
    await bench.delete();
    await bench.kick('j3');
    expect(pods()).to.deep.equal([]);
  });

  it('deletes nothing without the run of a deletion when the time is over', async () => {
    const step = 'container deployer: start delete';
    bench = new Bench((client) => containerDeployer({ client, settings }), { timeouts: failAt(step) });
    give();
    await bench.kick('j1');
    await report(podSucceeded);
    bench.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`container.deployer.${LS}/force-cleanup`]: 'true' } },
    });
    await bench.delete();
    await bench.kick('j2');
    expect(bench.status()).to.include({ phase: 'DeleteFailed', jobIDFinished: 'j2' });
    expect(problem()).to.contain(step);
    expect(bench.host.names('Secret')).to.not.deep.equal([]);
  });

  it('ends the job of a configuration that fits into no secret', async () => {
    give({ importValues: { text: 'x'.repeat(2 ** 20) } });
    await bench.kick('j1');
    expect(bench.status().phase).to.equal('Failed');
    expect(problem()).to.contain('a secret, which can contain at most 1048576 bytes');
  });

  it('retries while its target or a pull secret does not exist', async () => {
    bench.givenTarget();
    const config = { registryPullSecrets: [{ name: 'pull', namespace: NAMESPACE }] };
    give(config, { target: 'cluster-a', timeout: '1h' });
    await bench.kick('j1');
    expect(bench.status().phase).to.equal('Progressing');
    expect(problem()).to.contain('the pull secret proj/pull does not exist');
    bench.host.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'pull', namespace: NAMESPACE } });
    bench.host.lost = (verb, what) => {
      if (verb === 'apply' && what === 'Secret proj/proj-web-config')
        bench.host.drop('Target', 'proj/cluster-a');
    };
    await bench.pass(5 * 60_000);
    const messages = bench.history.map(({ lastError }) => lastError?.message ?? '');
    expect(messages.join('\n')).to.contain('target proj/cluster-a no longer exists');
    expect(pods()).to.deep.equal([]);
  });

  it('ends the job of an image reference or pull secret that cannot be read', async () => {
    give({ image: 'Not An Image' });
    await bench.kick('j1');
    expect(bench.status().phase).to.equal('Failed');
    expect(problem()).to.contain('Not An Image');
    bench.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'pull', namespace: NAMESPACE },
      data: { '.dockerconfigjson': Buffer.from('{').toString('base64') },
    });
    bench.configure(
      containerConfig({
        image: 'example.org/tool:1',
        registryPullSecrets: [{ name: 'pull', namespace: NAMESPACE }],
      }),
    );
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Failed');
    expect(problem()).to.contain('secret proj/pull');
  });

  it('adds the repository of the Context to a component that names none', async () => {
    const repositoryContext = { type: 'OCIRegistry', baseUrl: 'example.org/stock' };
    bench.host.edit('Context', 'proj/default', { repositoryContext });
    const ref = { componentName: 'example.org/a', version: '1.0.0' };
    give({ componentDescriptor: { ref } });
    await bench.kick('j1');
    const stored = () => JSON.parse(secretText('proj-web-config', keys.configuration)) as object;
    expect(stored()).to.have.deep.nested.property('componentDescriptor.ref', { ...ref, repositoryContext });
    const own = { ...repositoryContext, baseUrl: 'example.org/own' };
    bench.configure(
      containerConfig({
        image: 'example.org/tool:1',
        componentDescriptor: { ref: { ...ref, repositoryContext: own } },
      }),
    );
    await bench.kick('j2');
    expect(stored()).to.have.deep.nested.property('componentDescriptor.ref.repositoryContext', own);
  });

  it('gives the init container the configuration of OCM that the Context names', async () => {
    bench.host.edit('Context', 'proj/default', { configurations: {}, ocmConfig: { name: 'ocm' } });
    bench.host.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ocm', namespace: NAMESPACE },
      data: { [keys.ocmConfiguration]: 'type: generic' },
    });
    give();
    await bench.kick('j1');
    const copied = bench.host.find('ConfigMap', 'proj/proj-web-ocmconfig');
    expect(copied?.['data']).to.deep.equal({ [keys.ocmConfiguration]: 'type: generic' });
    expect(JSON.stringify(bench.host.find('Pod', pods()[0] ?? ''))).to.contain('proj-web-ocmconfig');
  });

  const snapshot = (name: string, second: number): void => {
    bench.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace: NAMESPACE,
        creationTimestamp: `2026-01-01T00:00:0${String(second)}Z`,
        labels: {
          ...labelsOf({ namespace: NAMESPACE, name: 'web' }, 'd'),
          [`container.deployer.${LS}/type`]: 'state',
        },
        annotations: { [annotations.stateUuid]: name, [annotations.stateNum]: '0' },
      },
    });
  };
  const snapshots = (): string[] => bench.host.names('Secret').filter((name) => name.includes('state-'));

  for (const [title, end] of [
    ['succeeded', podSucceeded],
    ['failed', { phase: 'Failed', containerStatuses: [terminated('main', 1)] }],
  ] as const)
    it(`prunes snapshots of the state that a run has replaced which ${title}`, async () => {
      give();
      await bench.kick('j1');
      snapshot('state-before', 1);
      snapshot('state-of-run', 2);
      await report(end);
      expect(bench.status().jobIDFinished).to.equal('j1');
      expect(snapshots()).to.deep.equal(['proj/state-of-run']);
    });

  it('prunes older snapshots of the state, and lets the init container read only the newest', async () => {
    give();
    snapshot('state-old', 1);
    snapshot('state-new', 2);
    await bench.kick('j1');
    expect(snapshots()).to.deep.equal(['proj/state-new']);
    const role = bench.host.find('Role', 'proj/proj-web-init');
    expect(role?.['rules']).to.deep.equal([
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: ['state-new'] },
    ]);
    expect(JSON.stringify(bench.host.find('Pod', pods()[0] ?? ''))).to.contain('"state-new"');
  });

  it('remembers why an image could not be pulled while the kubelet does not say it', async () => {
    give();
    const waits = (message: string) => ({
      phase: 'Pending',
      containerStatuses: [
        { name: 'main', image: 'x', state: { waiting: { reason: 'ImagePullBackOff', message } } },
      ],
    });
    await bench.kick('j1');
    await report(waits('connection refused'));
    expect(problem()).to.contain('connection refused');
    await report(waits('Back-off pulling image "x"'));
    expect(problem()).to.contain('connection refused');
  });

  it('ends the job whose image exports text that is not YAML, after it has deleted nothing', async () => {
    give();
    await bench.kick('j1');
    putExport('a: [');
    await report(podSucceeded);
    expect(problem()).to.contain('the export in secret proj/proj-web-export is not valid JSON or YAML');
    expect(bench.status().phase).to.not.equal('Succeeded');
  });

  it('of the next job does not take the end of the job before for its own', async () => {
    give();
    await bench.kick('j1');
    await report({ phase: 'Failed', containerStatuses: [terminated('main', 1)] });
    expect(bench.status().phase).to.equal('Failed');
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Progressing');
    await report(podSucceeded);
    expect(bench.status().phase).to.equal('Succeeded');
  });
});

describe('an item whose deployer moves to another namespace', () => {
  const ITEM = { namespace: NAMESPACE, name: 'web' };
  let bench: Bench;
  const moved = () => ({ client: bench.host, settings: { ...settings, namespace: 'elsewhere' } });
  beforeEach(async () => {
    bench = new Bench((client) => containerDeployer({ client, settings }));
    bench.host.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } });
    bench.giveItem(containerConfig({ image: 'example.org/tool:1' }), {
      type: `${LS}/container`,
      target: null,
    });
    await bench.kick('j1');
    bench.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: 'state-a',
        namespace: NAMESPACE,
        labels: { ...labelsOf(ITEM, 'd'), [`container.deployer.${LS}/type`]: 'state' },
        annotations: { [annotations.stateUuid]: 'a', [annotations.stateNum]: '0' },
      },
      data: { state: 'x' },
    });
  });
  const end = async (): Promise<void> => {
    const [key = ''] = bench.host.names('Pod');
    bench.host.put({ ...bench.host.find('Pod', key), status: podSucceeded } as Any);
    await bench.pass(30_000);
  };

  it('takes its state along before anything of it is deleted', async () => {
    await end();
    bench.host.takeRequests();
    await bench.restart(containerDeployer(moved()));
    await bench.kick('j2');
    const requests = bench.host.takeRequests();
    expect(requests.indexOf('apply Secret elsewhere/state-a'))
      .to.be.greaterThan(-1)
      .and.lessThan(requests.indexOf('delete Secret proj/state-a'));
    expect(bench.host.find('Secret', 'elsewhere/state-a')?.['data']).to.deep.equal({ state: 'x' });
    expect(bench.host.names('ServiceAccount').filter((key) => key.startsWith('proj/'))).to.deep.equal([]);
    expect(bench.host.names('Pod')).to.have.length(1);
    expect(bench.host.names('Pod')[0]).to.match(/^elsewhere\//);
  });

  it('waits for a pod that still runs in the old namespace', async () => {
    const [key = ''] = bench.host.names('Pod');
    bench.host.edit('Pod', key, {
      metadata: { finalizers: ['example.com/slow'] },
      status: { phase: 'Running' },
    });
    await bench.restart(containerDeployer(moved()));
    await bench.kick('j2');
    expect(bench.status().lastError?.message).to.contain('of an earlier run has not ended yet');
    expect(bench.host.names('Pod')).to.deep.equal([key]);
    expect(bench.host.find('Secret', 'proj/state-a')).to.not.equal(undefined);
  });

  it('has no objects left in either namespace after its forced deletion', async () => {
    await end();
    await bench.restart(containerDeployer(moved()));
    bench.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`container.deployer.${LS}/force-cleanup`]: '' } },
    });
    await bench.delete();
    await bench.kick('j2');
    expect(bench.isGone()).to.equal(true);
    expect(bench.host.names('Secret')).to.deep.equal([]);
  });
});
