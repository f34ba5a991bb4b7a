import { expect } from 'chai';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { API_VERSION, annotations, labels } from '../../../src/api/labels.ts';
import { secretKind } from '../../../src/landscape/world.ts';
import { pathOf } from '../../../src/runtime/transport/path.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { useCluster } from '../../support/cluster.ts';
import { Place, startSource, Syncs, type Source } from './landscape.ts';

const F7 = { secretNameExpression: '^prod-', createTargetToSource: true, targetToSourceName: 'hub' };
const OK = { [labels.targetSync]: 'ok' };
const accountKind = { ...secretKind, kind: 'ServiceAccount', plural: 'serviceaccounts' };

describe('a target sync', () => {
  const use = useCluster({ controllers: ['targetsync'], deployers: [] });
  let cluster: Source;
  before(async () => {
    cluster = await startSource();
  });
  after(() => cluster.close());

  /** A source with two secrets that match and one that does not, and a namespace with the access to it. */
  async function given({ access = true } = {}) {
    const scene = await use.scene();
    const source = await cluster.place();
    await source.secret('prod-1', { kubeconfig: 'one', extra: 'more' });
    await source.secret('prod-2', { kubeconfig: 'two' });
    await source.secret('test-1', { kubeconfig: 'three' });
    const here = new Place(scene.cluster.client, scene.ns);
    if (access) await here.secret('source-access', { kubeconfig: cluster.kubeconfig });
    return { here, source, syncs: new Syncs(scene, source) };
  }

  it('CORE-108: copies matching secrets, creates targets for them, and publishes the source', async () => {
    const { here, syncs, source } = await given();
    await syncs.create('sync', F7);
    const { status, metadata } = await syncs.passed('sync');
    expect(await here.targets()).to.deep.equal(['hub', 'prod-1', 'prod-2']);
    expect(await here.secrets()).to.deep.equal(['prod-1', 'prod-2', 'source-access']);
    const target = await here.target('prod-1');
    expect(target?.spec).to.deep.equal({
      type: 'landscaper.gardener.cloud/kubernetes-cluster',
      secretRef: { name: 'prod-1', key: 'kubeconfig' },
    });
    expect(target?.metadata.labels).to.deep.equal(OK);
    expect(await here.entry('prod-1', 'extra')).to.equal('more');
    expect((await here.target('hub'))?.spec.secretRef).to.deep.equal({
      name: 'source-access',
      key: 'kubeconfig',
    });
    expect(status).to.include({ observedGeneration: metadata.generation });
    expect(status).not.to.have.property('lastErrors');
    expect(await source.secrets()).to.include('prod-1');
  });

  it('CORE-109: follows changes and deletions in the source', async () => {
    const { here, syncs, source } = await given();
    await syncs.create('sync', F7);
    await syncs.passed('sync');
    await source.setEntry('prod-1', 'kubeconfig', 'one, changed');
    await source.remove(secretKind, 'prod-2');
    await source.secret('prod-3', { kubeconfig: 'three' });
    await here.change(targetKind, 'prod-1', { metadata: { labels: { mine: 'yes' } } });
    await syncs.again('sync');
    expect(await here.targets()).to.deep.equal(['hub', 'prod-1', 'prod-3']);
    expect(await here.secrets()).to.deep.equal(['prod-1', 'prod-3', 'source-access']);
    expect(await here.entry('prod-1', 'kubeconfig')).to.equal('one, changed');
    expect((await here.target('prod-1'))?.metadata.labels).to.deep.equal({ ...OK, mine: 'yes' });
  });

  it('CORE-110: follows its name expression, and at deletion deletes all but the access to the source', async () => {
    const { here, syncs } = await given();
    await syncs.create('sync', F7);
    await syncs.passed('sync');
    await here.change(targetSyncKind, 'sync', {
      spec: { secretNameExpression: '^prod-1$', createTargetToSource: false },
      metadata: { annotations: { [annotations.operation]: 'reconcile' } },
    });
    await syncs.again('sync');
    expect(await here.targets()).to.deep.equal(['prod-1']);
    await syncs.delete('sync');
    expect(await here.targets()).to.deep.equal([]);
    expect(await here.secrets()).to.deep.equal(['source-access']);
  });

  it('CORE-110: leaves secrets and targets of others alone, and reports it', async () => {
    const { here, syncs } = await given();
    await here.secret('prod-2', { other: 'mine' });
    await here.client.send({
      verb: 'create',
      kind: targetKind,
      object: {
        apiVersion: API_VERSION,
        kind: 'Target',
        metadata: { name: 'hub', namespace: here.namespace },
        spec: { type: 'mine' },
      },
    });
    await syncs.create('sync', F7);
    const { status } = await syncs.passed('sync');
    expect(status?.lastErrors).to.have.length(2);
    expect(status?.lastErrors?.join('\n'))
      .to.match(/secret \S+\/prod-2 was not created/)
      .and.match(/target \S+\/hub was not/);
    expect(await here.targets()).to.deep.equal(['hub', 'prod-1']);
    await syncs.delete('sync');
    expect(await here.entry('prod-2', 'other')).to.equal('mine');
    expect(await here.targets()).to.deep.equal(['hub']);
  });

  it('CORE-111: does nothing beside another target sync, and continues after that is deleted', async () => {
    const { here, syncs, source } = await given();
    await syncs.create('first', { secretNameExpression: '^prod-' });
    await syncs.passed('first');
    await syncs.create('second', { secretNameExpression: '^prod-' });
    await syncs.complains('second', /more than one TargetSync/);
    await syncs.complains('first', /more than one TargetSync/);
    await source.secret('prod-3', { kubeconfig: 'three' });
    await syncs.again('first');
    expect(await here.targets()).to.deep.equal(['prod-1', 'prod-2']);

    const before = (await here.target('prod-1'))?.metadata.uid;
    await syncs.delete('second');
    await syncs.content('first');
    expect(await here.targets()).to.deep.equal(['prod-1', 'prod-2', 'prod-3']);
    expect((await here.target('prod-1'))?.metadata.uid).to.equal(before);
  });

  it('CORE-113: reports its mistakes, and recovers when they are fixed', async () => {
    const { here, syncs } = await given({ access: false });
    await syncs.create('sync', { secretNameExpression: '^prod-', shootNameExpression: '*' });
    await syncs.complains('sync', /secret \S+\/source-access not found/);
    await here.secret('source-access', { other: 'x' });
    await syncs.again('sync');
    await syncs.complains('sync', /no kubeconfig in secret/);
    await here.setEntry('source-access', 'kubeconfig', 'clusters: []');
    await syncs.again('sync');
    await syncs.complains('sync', /contains no cluster/);
    await here.setEntry('source-access', 'kubeconfig', cluster.kubeconfig);
    await syncs.again('sync');
    await syncs.complains('sync', /with both, secretNameExpression and shootNameExpression, is not allowed/);
    await here.change(targetSyncKind, 'sync', {
      spec: { shootNameExpression: null, secretNameExpression: '^prod-(' },
    });
    await syncs.complains('sync', /invalid regular expression to filter names: \^prod-\(/);
    expect(await here.targets()).to.deep.equal([]);
    await here.change(targetSyncKind, 'sync', { spec: { secretNameExpression: '^prod-' } });
    await syncs.content('sync');
    expect(await here.targets()).to.deep.equal(['prod-1', 'prod-2']);
  });

  it('CORE-113: retries a failed reconcile by itself', async () => {
    const { here, syncs } = await given({ access: false });
    await syncs.create('sync', { secretNameExpression: '^prod-' });
    await syncs.complains('sync', /not found/);
    await here.secret('source-access', { kubeconfig: cluster.kubeconfig });
    await syncs.content('sync');
    expect(await here.targets()).to.deep.equal(['prod-1', 'prod-2']);
  });

  it('refuses a kubeconfig that refers to files of the controller', async () => {
    const { here, syncs } = await given({ access: false });
    const document = parseYaml(cluster.kubeconfig) as { users: { user: object }[] };
    for (const user of document.users) user.user = { tokenFile: '/etc/passwd' };
    await here.secret('source-access', { kubeconfig: JSON.stringify(document) });
    await syncs.create('sync', { secretNameExpression: '*' });
    await syncs.complains('sync', /tokenFile, which would access files/);
  });

  it('reports that the source serves no shoots, and keeps existing copies', async () => {
    const { here, syncs } = await given();
    await syncs.create('sync', { secretNameExpression: '^prod-' });
    await syncs.passed('sync');
    await here.change(targetSyncKind, 'sync', {
      spec: { secretNameExpression: null, shootNameExpression: '*' },
    });
    await syncs.complains('sync', /does not serve the kind Shoot/);
    expect(await here.targets()).to.deep.equal(['prod-1', 'prod-2']);
  });

  it('CORE-112: rotates the token once, and again on request', async () => {
    const { here, syncs, source } = await given({ access: false });
    await source.client.raw('POST', pathOf(accountKind, { namespace: source.namespace }), {
      metadata: { name: 'reader' },
    });
    const document = parseYaml(cluster.kubeconfig) as {
      users: { name: string; user: object }[];
      contexts: { context: { user: string } }[];
    };
    document.users = [{ name: 'reader', user: document.users[0]?.user ?? {} }];
    for (const { context } of document.contexts) context.user = 'reader';
    await here.secret('source-access', { kubeconfig: JSON.stringify(document) });

    const tokens = (): number =>
      cluster.server.audit.all().events.filter(({ objectRef }) => objectRef?.subresource === 'token').length;
    const before = tokens();
    await syncs.create('sync', { createTargetToSource: true, tokenRotation: { enabled: true } });
    expect((await syncs.passed('sync')).status?.lastTokenRotationTime).to.be.a('string');
    expect(tokens()).to.equal(before + 1);
    const kubeconfig = parseYaml((await here.entry('source-access', 'kubeconfig')) ?? '');
    expect(kubeconfig).to.have.nested.property('users[0].user.token').that.matches(/^ey/);

    await syncs.again('sync');
    expect(tokens()).to.equal(before + 1);

    const asked = await syncs.again('sync', { [annotations.rotateToken]: 'please' });
    expect(tokens()).to.equal(before + 2);
    expect(asked.metadata.annotations ?? {}).not.to.have.property(annotations.rotateToken);
    expect(asked.status).not.to.have.property('lastErrors');
    expect(await here.targets()).to.deep.equal([source.namespace]);
  });

  it('CORE-117: ignores a labelled target without a secret', async () => {
    const { here, syncs } = await given();
    const metadata = { name: 'foreign', namespace: here.namespace, labels: OK };
    const object = { apiVersion: API_VERSION, kind: 'Target', metadata, spec: { type: 'x', config: {} } };
    await here.client.send({ verb: 'create', kind: targetKind, object });
    await syncs.create('sync', { secretNameExpression: '^prod-' });
    expect((await syncs.passed('sync')).status).not.to.have.property('lastErrors');
    await syncs.delete('sync');
    expect(await here.targets()).to.deep.equal(['foreign']);
  });
});
