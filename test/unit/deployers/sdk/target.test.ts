import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { Bench, configMap, kubeconfigOf, manage, manifestConfig, type BenchOptions } from '../bench.ts';

const settings = manifestConfig({ manifests: [manage(configMap('settings'))] });

async function withTarget(spec: object, options: BenchOptions = {}): Promise<Bench> {
  const b = new Bench(manifestDeployer(), options);
  b.givenTarget();
  b.host.edit('Target', 'proj/cluster-a', { spec: { secretRef: null, ...spec } });
  b.giveItem(settings);
  await b.kick('j1');
  return b;
}

const openedAs = (b: Bench): { server: string; token: string } => {
  const [text = '{}'] = b.opened;
  const kubeconfig = JSON.parse(text) as {
    clusters: [{ cluster: { server: string } }];
    users: [{ user: { token: string } }];
  };
  return { server: kubeconfig.clusters[0].cluster.server, token: kubeconfig.users[0].user.token };
};

describe('targets', () => {
  const A = kubeconfigOf('a');
  const forms: readonly (readonly [string, object])[] = [
    ['text in a config', { config: { kubeconfig: A } }],
    ['an object in a config', { config: { kubeconfig: JSON.parse(A) as object } }],
    ['the config itself', { config: JSON.parse(A) as object }],
  ];
  for (const [title, spec] of forms) {
    it(`S-83: a kubeconfig as ${title} is understood`, async () => {
      const b = await withTarget(spec);
      expect(b.status().phase).to.equal('Succeeded');
      expect(openedAs(b).server).to.equal('https://a.invalid');
    });
  }

  it('S-83: a kubeconfig may be an entry of a secret, wrapped or not, or the secret may be read as a whole', async () => {
    for (const [data, key] of [
      [{ kubeconfig: A }, 'kubeconfig'],
      [{ config: JSON.stringify({ kubeconfig: A }) }, 'config'],
      [{ kubeconfig: A }, undefined],
    ] as const) {
      const b = new Bench(manifestDeployer());
      b.givenTarget();
      const encoded = Object.fromEntries(
        Object.entries(data).map(([k, v]) => [k, Buffer.from(v).toString('base64')]),
      );
      b.host.edit('Secret', 'proj/cluster-a-kc', { data: { kubeconfig: null, ...encoded } });
      b.host.edit('Target', 'proj/cluster-a', { spec: { secretRef: { key: key ?? null } } });
      b.giveItem(settings);
      await b.kick('j1');
      expect(b.status().phase).to.equal('Succeeded');
      expect(openedAs(b).server).to.equal('https://a.invalid');
    }
  });

  it('S-83: content that is no kubeconfig is a problem that may heal, and is not shown', async () => {
    const b = await withTarget({ config: { foo: 'secret-bar' } });
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().lastError).to.deep.include({
      operation: 'ReconcileManifests',
      reason: 'ensureTargetAccess',
    });
    expect(b.status().lastError?.message).to.contain('names no cluster').and.not.contain('secret-bar');
  });

  it('S-83: text that is no YAML ends the job without showing it', async () => {
    const b = await withTarget({ config: { kubeconfig: '{{ secret' } });
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.reason).to.equal('ValidateTarget');
    expect(JSON.stringify(b.status())).to.not.contain('{{ secret');
  });

  it('a target without content says what is missing', async () => {
    const b = await withTarget({});
    expect(b.status().lastError?.message).to.equal(
      'target contains neither kubeconfig, nor oidc config, nor self config',
    );
  });

  it('S-84: an OIDC target is reached with a token of the host cluster', async () => {
    const oidcConfig = {
      server: 'https://oidc.invalid',
      serviceAccount: { name: 'deploy' },
      audience: ['target'],
      expirationSeconds: 3600,
    };
    const b = await withTarget({ config: { oidcConfig } });
    expect(openedAs(b)).to.deep.equal({ server: 'https://oidc.invalid', token: 'token-of-deploy' });
    await b.kick('j2');
    const asked = b.host.takeRequests().filter((r) => r.includes('/token'));
    expect(asked).to.deep.equal(['POST /api/v1/namespaces/proj/serviceaccounts/deploy/token']);
    await b.pass(3_000_000);
    await b.kick('j3');
    expect(b.host.takeRequests().filter((r) => r.includes('/token'))).to.have.length(1);
  });

  const self = { server: 'https://host.invalid' };

  it('S-85: a self target is the host cluster, reached as a service account', async () => {
    const b = await withTarget({ config: { selfConfig: { serviceAccount: { name: 'me' } } } }, { self });
    expect(openedAs(b)).to.deep.equal({ server: 'https://host.invalid', token: 'token-of-me' });
  });

  it('S-86: a kubeconfig comes before OIDC, OIDC before the host cluster', async () => {
    const selfConfig = { serviceAccount: { name: 'me' } };
    const oidcConfig = { server: 'https://oidc.invalid', serviceAccount: { name: 'deploy' } };
    const first = await withTarget({ config: { kubeconfig: A, oidcConfig, selfConfig } }, { self });
    expect(openedAs(first).server).to.equal('https://a.invalid');
    const second = await withTarget({ config: { oidcConfig, selfConfig } }, { self });
    expect(openedAs(second).server).to.equal('https://oidc.invalid');
  });

  it('one client serves all items with the same credentials and is closed when nobody needs it', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(settings);
    b.giveItem(manifestConfig({ manifests: [] }), { name: 'other' });
    await b.kick('j1');
    await b.kick('j1', 'other');
    expect(b.opened).to.have.length(1);
    await b.pass(5 * 60_000);
    expect(b.target.isClosed).to.equal(true);
    await b.kick('j2');
    expect(b.opened).to.have.length(2);
  });

  it('the target is read when it is not yet known here, before the job is given up', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    const find = b.host.find.bind(b.host);
    b.host.find = (kind, key) => (kind === 'Target' ? undefined : find(kind, key)); // the cache lags behind
    b.giveItem(settings);
    await b.kick('j1');
    expect(b.status().phase).to.equal('Succeeded');
  });
});
