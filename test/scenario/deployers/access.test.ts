/** Access to targets, and its errors, on API servers. */
import { expect } from 'chai';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { configMap, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { World, type Json } from './world.ts';

const MANIFEST = 'kubernetes-manifest';
const RBAC = 'rbac.authorization.k8s.io';
const one = (name: string, namespace = 'app'): object =>
  manifestConfig({ manifests: [manage(configMap(name, { a: 'b' }, { namespace }))] });

describe('access to targets on API servers', function () {
  this.timeout(60_000);
  let world: World;
  before(async () => {
    world = await World.start();
    const at = { name: 'deploy', namespace: 'proj' };
    await world.create(world.host, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: at });
    await world.create(world.host, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'deploy' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', ...at }],
    });
  });
  after(() => world.stop());

  const caData = (ca: string): string => Buffer.from(ca).toString('base64');
  /** For the target cluster. */
  const kubeconfigOf = (user: object): object => ({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: world.targetServer.url,
          'certificate-authority-data': caData(world.targetServer.ca),
        },
      },
    ],
    users: [{ name: 'u1', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u1' } }],
  });
  const secret = (name: string, stringData: object): Promise<Json> =>
    world.create(world.host, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'proj' },
      stringData,
    });
  const succeeds = async (name: string): Promise<void> => {
    const { status } = await world.run(name, 'j1');
    expect(status?.phase, status?.lastError?.message).to.equal('Succeeded');
  };

  it('DEP-09: a target whose secret lacks the key is reported and retried until the secret is correct', async () => {
    await secret('broken-kc', { other: 'x' });
    await world.giveTarget('broken', { secretRef: { name: 'broken-kc', key: 'kubeconfig' } });
    await world.giveItem('heals', MANIFEST, one('heals'), { target: 'broken' });
    await world.kick('heals', 'j1');
    expect(await world.problem('heals')).to.contain('key kubeconfig in secret proj/broken-kc does not exist');
    const { status } = await world.item('heals');
    expect([status?.phase, status?.jobIDFinished]).to.deep.equal(['Init', undefined]);
    const stringData = { kubeconfig: world.targetServer.kubeconfig };
    await world.edit(world.host, 'v1', 'Secret', 'proj/broken-kc', { stringData });
    const ended = (await world.finished('heals', 'j1')).status;
    expect(ended?.phase).to.equal('Succeeded');
    expect(ended?.lastError).to.equal(undefined);
    expect(ended?.firstError?.reason).to.equal('ResolveTarget');
    expect(await world.configMap('app/heals')).to.not.equal(undefined);
  });

  const forbidden = [
    [
      'client-certificate',
      { 'client-certificate': '/etc/pki/c.pem' },
      'client certificate files are not supported in a target kubeconfig (user "u1")',
    ],
    ['exec', { exec: { command: 'x' } }, 'exec configurations are not supported'],
    [
      'auth-provider',
      { 'auth-provider': { name: 'gcp', config: { a: 'b' } } },
      'auth provider configurations are not supported',
    ],
  ] as const;
  for (const [field, user, message] of forbidden) {
    it(`DEP-10: a kubeconfig with ${field} ends the job`, async () => {
      await world.giveTarget(field, { config: { kubeconfig: kubeconfigOf(user) } });
      await world.giveItem(field, MANIFEST, one(field), { target: field });
      const { status } = await world.run(field, 'j1');
      expect(status?.phase).to.equal('Failed');
      expect(status?.lastError).to.deep.include({
        reason: 'ValidateTarget',
        codes: ['ERR_CONFIGURATION_PROBLEM'],
      });
      expect(status?.lastError?.message).to.contain(message);
    });
  }

  it('DEP-37: rejected credentials end the job at the first request', async () => {
    await world.giveTarget('refused', { config: { kubeconfig: kubeconfigOf({ token: 'not-valid' }) } });
    await world.giveItem('refused', MANIFEST, one('refused'), { target: 'refused' });
    const { status } = await world.run('refused', 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_UNAUTHORIZED']);
    expect(status?.firstError?.codes).to.deep.equal(['ERR_UNAUTHORIZED']);
    expect(JSON.stringify(status)).to.not.contain('not-valid');
  });

  /** The helper deployer that takes this one gets no token. */
  const selfConfig = { serviceAccount: { name: 'nobody' } };

  it('DEP-86: a kubeconfig takes precedence over the host cluster', async () => {
    const kubeconfig = parseYaml(world.targetServer.kubeconfig) as object;
    await world.giveTarget('both', { config: { kubeconfig, selfConfig } });
    await world.giveItem('both', MANIFEST, one('both'), { target: 'both' });
    await succeeds('both');
    expect(await world.configMap('app/both')).to.not.equal(undefined);
  });

  it('DEP-86: OIDC takes precedence over the host cluster', async () => {
    const { url: server, ca } = world.hostServer;
    const oidcConfig = { server, caData: caData(ca), serviceAccount: { name: 'deploy' } };
    await world.giveTarget('oidc', { config: { oidcConfig, selfConfig } });
    await world.giveItem('oidc', MANIFEST, one('oidc', 'proj'), { target: 'oidc' });
    await succeeds('oidc');
    expect(await world.find(world.host, 'v1', 'ConfigMap', 'proj/oidc')).to.not.equal(undefined);
  });

  it('DEP-87: an export may come from another target, and may be late', async () => {
    await world.create(world.host, configMap('there', { host: 'other' }, { namespace: 'proj' }) as Json);
    const entry = {
      key: 'db.host',
      jsonPath: '.data.host',
      fromResource: { apiVersion: 'v1', kind: 'ConfigMap', name: 'there', namespace: 'proj' },
      targetName: 'cluster-b',
    };
    await world.giveItem('far', MANIFEST, manifestConfig({ manifests: [], exports: { exports: [entry] } }));
    await world.kick('far', 'j1');
    expect(await world.problem('far')).to.contain('unable to read secondary target cluster-b');
    await secret('cluster-b-kc', { kubeconfig: world.hostServer.kubeconfig });
    await world.giveTarget('cluster-b', { secretRef: { name: 'cluster-b-kc', key: 'kubeconfig' } });
    expect((await world.finished('far', 'j1')).status?.phase).to.equal('Succeeded');
    expect(await world.exported('far')).to.deep.equal({ db: { host: 'other' } });
  });
});
