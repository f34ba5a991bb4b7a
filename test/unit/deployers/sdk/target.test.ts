import { expect } from 'chai';
import { labels } from '../../../../src/api/labels.ts';
import { createTokens } from '../../../../deployers/sdk/tokens.ts';
import { at, endsJob, problemOf, RetryError } from '../../../../deployers/sdk/errors.ts';
import { apiErrorFrom, InvalidObjectName } from '../../../../src/runtime/errors.ts';
import type { Client } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { Bench, configMap, kubeconfigOf, manage, manifestConfig, type BenchOptions } from '../bench.ts';
import { inTime } from '../../../support/waiting.ts';

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

/** The parts of a kubeconfig that one cluster needs, and a user of the test. */
const withUser = (user: object, cluster: object = {}): object => ({
  clusters: [{ name: 'c', cluster: { server: 'https://a.invalid', ...cluster } }],
  users: [{ name: 'u1', user }],
  contexts: [{ name: 'only', context: { cluster: 'c', user: 'u1' } }],
});

/** The target rejects all credentials until they are replaced. */
function refusing(b: Bench): { stop(): void } {
  let isOver = false;
  b.target.fail = (verb, what) => {
    if (!isOver) throw apiErrorFrom(401, { message: 'Unauthorized' }, { verb, kind: what });
  };
  return {
    stop() {
      isOver = true;
    },
  };
}

describe('targets', () => {
  it('a reconcile ends in time even if the server of the target never finishes discovery', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(settings, { timeout: '20s' });
    let ask = (): void => undefined;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    b.target.kindOf = (_apiVersion: string, _kind: string, signal?: AbortSignal) => {
      ask();
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    };
    const kicked = b.kick('j1');
    await asked;
    await b.pass(20_001);
    await inTime('the run', kicked);
    expect(b.status().lastError?.message).to.match(/^timeout at: /);
    expect(b.status().phase).to.equal('Failed');
  });

  const A = kubeconfigOf('a');
  const forms: readonly (readonly [string, object])[] = [
    ['a string in a config', { config: { kubeconfig: A } }],
    ['an object in a config', { config: { kubeconfig: JSON.parse(A) as object } }],
    ['the config itself', { config: JSON.parse(A) as object }],
  ];
  for (const [title, spec] of forms) {
    it(`DEP-83: a kubeconfig as ${title} is accepted`, async () => {
      const b = await withTarget(spec);
      expect(b.status().phase).to.equal('Succeeded');
      expect(openedAs(b).server).to.equal('https://a.invalid');
    });
  }

  it('DEP-83: a kubeconfig may be an entry of a secret, wrapped or not, or the secret may be read as a whole', async () => {
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

  it('DEP-83: content that is not a kubeconfig is a temporary problem, and is not shown', async () => {
    const b = await withTarget({ config: { foo: 'secret-bar' } });
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().lastError).to.deep.include({
      operation: 'ReconcileManifests',
      reason: 'ensureTargetAccess',
    });
    expect(b.status().lastError?.message).to.contain('has no cluster').and.not.contain('secret-bar');
  });

  it('DEP-83: content that is not valid YAML ends the job without being shown', async () => {
    const b = await withTarget({ config: { kubeconfig: '{{ secret' } });
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.reason).to.equal('ValidateTarget');
    expect(JSON.stringify(b.status())).to.not.contain('{{ secret');
  });

  it('an integer beyond 2^53 in the content ends the job with a remedy, and is not shown', async () => {
    const b = await withTarget({ config: { n: 9_007_199_254_740_993n } });
    const { lastError } = b.status();
    expect(b.status().phase).to.equal('Failed');
    expect(lastError?.reason).to.equal('ValidateTarget');
    expect(lastError?.message).to.match(
      /^the content of target cluster-a: line 1 is an integer beyond 2\^53/,
    );
    expect(lastError?.message).to.contain('in quotes').and.not.contain('9007199254740993');
  });

  it('a copy of an imported target is named as the import in errors of its server', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.host.edit('Target', 'proj/cluster-a', { metadata: { labels: { [labels.dataKey]: 'prod' } } });
    b.target.fail = (verb, what) => {
      throw apiErrorFrom(503, { message: 'later' }, { verb, kind: what });
    };
    b.giveItem(settings);
    await b.kick('j1');
    expect(b.status().lastError?.message).to.contain('target prod').and.not.contain('target cluster-a');
  });

  it('a target without content is reported with what is missing', async () => {
    const b = await withTarget({});
    expect(b.status().lastError?.message).to.equal(
      'target contains neither kubeconfig, nor oidc config, nor self config',
    );
  });

  it('DEP-84: an OIDC target is accessed with a token of the host cluster', async () => {
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

  it('DEP-85: a self target is the host cluster, accessed as a service account', async () => {
    const b = await withTarget({ config: { selfConfig: { serviceAccount: { name: 'me' } } } }, { self });
    expect(openedAs(b)).to.deep.equal({ server: 'https://host.invalid', token: 'token-of-me' });
  });

  for (const name of ['../../kube-system/serviceaccounts/admin', 'a/b', 'a?x', 'A']) {
    it(`the service account name "${name}" is invalid: the job ends, and no token is requested`, async () => {
      const serviceAccount = { name };
      for (const config of [
        { selfConfig: { serviceAccount } },
        { oidcConfig: { server: 'https://oidc.invalid', serviceAccount } },
      ]) {
        const b = await withTarget({ config }, { self });
        expect(b.status().phase).to.equal('Failed');
        expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
        expect(b.status().lastError?.message).to.contain('cannot be the name of a service account');
        expect(b.host.takeRequests().filter((r) => r.includes('/token'))).to.deep.equal([]);
      }
    });
  }

  it('DEP-86: a kubeconfig takes precedence over OIDC, OIDC over the host cluster', async () => {
    const selfConfig = { serviceAccount: { name: 'me' } };
    const oidcConfig = { server: 'https://oidc.invalid', serviceAccount: { name: 'deploy' } };
    const first = await withTarget({ config: { kubeconfig: A, oidcConfig, selfConfig } }, { self });
    expect(openedAs(first).server).to.equal('https://a.invalid');
    const second = await withTarget({ config: { oidcConfig, selfConfig } }, { self });
    expect(openedAs(second).server).to.equal('https://oidc.invalid');
  });

  it('one client serves all items with the same credentials and is closed when it is no longer used', async () => {
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

  it('a target that is not in the cache is read from the server before the job is given up', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    const find = b.host.find.bind(b.host);
    b.host.find = (kind, key) => (kind === 'Target' ? undefined : find(kind, key)); // the cache is behind
    b.giveItem(settings);
    await b.kick('j1');
    expect(b.status().phase).to.equal('Succeeded');
  });

  it('DEP-83: the only context need not be the current one', async () => {
    const b = await withTarget({ config: { kubeconfig: withUser({ token: 't' }) } });
    expect(b.status().phase).to.equal('Succeeded');
    expect(JSON.parse(b.opened[0] ?? '')).to.include({ 'current-context': 'only' });
  });

  const refused: readonly (readonly [string, object, string])[] = [
    ['a command, which is named', withUser({ exec: { command: 'aws-login' } }), 'aws-login would run'],
    ['an auth provider without settings', withUser({ 'auth-provider': { name: 'gcp' } }), 'gcp would run'],
    ['a token file', withUser({ tokenFile: '/t' }), 'token files are not supported'],
    ['a file with a certificate', withUser({ 'client-certificate': '/c' }), 'client certificate files'],
    [
      "a file with the cluster's certificate",
      withUser({ token: 't' }, { 'certificate-authority': '/ca' }),
      'use certificate-authority-data',
    ],
  ];
  for (const [title, kubeconfig, message] of refused) {
    it(`${title} ends the job before anything is opened`, async () => {
      const b = await withTarget({ config: { kubeconfig } });
      expect(b.status()).to.deep.include({ phase: 'Failed' });
      expect(b.status().lastError).to.include({ reason: 'ValidateTarget' });
      expect(b.status().lastError?.message).to.contain(message);
      expect(b.opened).to.deep.equal([]);
    });
  }

  it('the check and the connection read the same kubeconfig, also next to an empty one', async () => {
    const config = { kubeconfig: null, ...withUser({ exec: { command: 'aws-login' } }) };
    const b = await withTarget({ config });
    expect(b.status().lastError?.message).to.contain('aws-login would run');
    expect(b.opened).to.deep.equal([]);
  });

  it('an inline certificate is accepted', async () => {
    const user = { 'client-certificate-data': 'YQ==', 'client-key-data': 'YQ==' };
    const kubeconfig = withUser(user, { 'certificate-authority-data': 'YQ==' });
    expect((await withTarget({ config: { kubeconfig } })).status().phase).to.equal('Succeeded');
  });

  it('DEP-87: a secondary target has the same rules', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.givenTarget('cluster-b');
    const kubeconfig = withUser({ exec: { command: 'aws-login' } });
    b.host.edit('Target', 'proj/cluster-b', { spec: { secretRef: null, config: { kubeconfig } } });
    const from = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'app' };
    const wanted = { key: 'a', targetName: 'cluster-b', fromResource: from, jsonPath: '.data.a' };
    b.giveItem(
      manifestConfig({ manifests: [manage(configMap('settings'))], exports: { exports: [wanted] } }),
    );
    await b.kick('j1');
    expect(b.status()).to.deep.include({ phase: 'Failed' });
    expect(b.status().lastError?.message).to.contain('aws-login would run');
  });

  /** A job whose config map is applied and not ready yet. */
  const waitingForReady = async (): Promise<Bench> => {
    const check = {
      name: 'ready',
      resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'app' }],
      requirements: [{ jsonPath: '.data.ready', operator: 'exists' }],
    };
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(
      manifestConfig({ manifests: [manage(configMap('settings'))], readinessChecks: { custom: [check] } }),
    );
    await b.kick('j1');
    return b;
  };

  it('credentials that are replaced while a job waits are used by it', async () => {
    const b = await waitingForReady();
    expect(b.status().phase).to.equal('Progressing');
    const data = { kubeconfig: Buffer.from(kubeconfigOf('anew')).toString('base64') };
    b.host.edit('Secret', 'proj/cluster-a-kc', { data });
    const server = refusing(b);
    await b.pass(500);
    expect(b.status().phase, 'the first refusal ends nothing').to.equal('Progressing');
    server.stop();
    b.target.edit('ConfigMap', 'app/settings', { data: { ready: 'yes' } });
    await b.pass(5_000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.opened.map((text) => text.includes('https://anew.invalid'))).to.deep.equal([false, true]);
  });

  it('a target that changes while a job waits is read again, and an unchanged one is not', async () => {
    const b = await waitingForReady();
    const readsOfSecrets = (): string[] => b.host.takeRequests().filter((r) => r.startsWith('get Secret'));
    expect(readsOfSecrets()).to.have.length(1);
    await b.pass(500);
    expect(readsOfSecrets()).to.deep.equal([]);
    b.host.edit('Target', 'proj/cluster-a', {
      spec: { secretRef: null, config: { kubeconfig: kubeconfigOf('moved') } },
    });
    await b.pass(5_000);
    expect(b.status().phase).to.equal('Progressing');
    expect(b.opened.map((text) => text.includes('https://moved.invalid'))).to.deep.equal([false, true]);
  });

  it('credentials that were just read and are rejected end the job', async () => {
    const b = new Bench(manifestDeployer());
    b.givenTarget();
    b.giveItem(settings);
    refusing(b);
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.codes).to.deep.equal(['ERR_UNAUTHORIZED']);
  });

  it('DEP-84: a rejected token from before that is replaced within the job', async () => {
    const oidcConfig = { server: 'https://oidc.invalid', serviceAccount: { name: 'deploy' } };
    const b = await withTarget({ config: { oidcConfig } });
    await b.pass(60_000);
    b.host.takeRequests();
    const server = refusing(b);
    await b.kick('j2');
    expect(b.status().phase).to.equal('Progressing');
    server.stop();
    await b.pass(5_000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.host.takeRequests().filter((r) => r.includes('/token'))).to.have.length(1);
  });
});

describe('a failure that no retry can fix', () => {
  const cause = new InvalidObjectName({ message: '"a/b" cannot be the name of a Secret' });
  const place = { operation: 'o', reason: 'r' };

  it('ends the job wherever it occurs', () => {
    expect(
      endsJob(new RetryError({ operation: 'o', reason: 'r', message: 'cannot read', cause }).problem),
    ).to.equal(true);
    expect(endsJob(problemOf(cause, place))).to.equal(true);
    expect(endsJob(at(place, cause).problem)).to.equal(true);
  });

  it('is not any other failure', () => {
    const passing = new Error('connection reset');
    expect(
      endsJob(
        new RetryError({ operation: 'o', reason: 'r', message: 'cannot read', cause: passing }).problem,
      ),
    ).to.equal(false);
    expect(endsJob(problemOf(passing, place))).to.equal(false);
  });
});

describe('tokens of service accounts', () => {
  const request = { namespace: 'proj', account: 'deploy', expirationSeconds: 86_400 };
  const never = new AbortController().signal;

  /** A host that issues numbered tokens for half an hour, whatever is requested. */
  function given(answer: (n: number) => Promise<unknown> = () => Promise.resolve()) {
    const clock = new FakeClock('2026-01-01T00:00:00Z');
    let asked = 0;
    const raw = async (): Promise<unknown> => {
      const n = ++asked;
      await answer(n);
      const expirationTimestamp = new Date(clock.wall() + 30 * 60_000).toISOString();
      return { status: { token: `token-${String(n)}`, expirationTimestamp } };
    };
    return { clock, tokens: createTokens({ raw } as unknown as Client, clock), asked: () => asked };
  }

  it('live as long as the server says, not as long as requested', async () => {
    const { clock, tokens } = given();
    expect(await tokens.of(request, never)).to.equal('token-1');
    await clock.advance(23 * 60_000);
    expect(await tokens.of(request, never)).to.equal('token-1');
    await clock.advance(2 * 60_000);
    expect(await tokens.of(request, never)).to.equal('token-2');
  });

  it('are requested once for many concurrent callers', async () => {
    const { tokens, asked } = given();
    const all = await Promise.all([1, 2, 3].map(() => tokens.of(request, never)));
    expect(all).to.deep.equal(['token-1', 'token-1', 'token-1']);
    expect(asked()).to.equal(1);
  });

  it('of a namespace stay when one of another namespace is rejected', async () => {
    const { clock, tokens } = given();
    await tokens.of(request, never);
    await tokens.of({ ...request, namespace: 'other' }, never);
    await clock.advance(60_000);
    expect(tokens.forget('third')).to.equal(false);
    expect(tokens.forget('other')).to.equal(true);
    expect(await tokens.of(request, never)).to.equal('token-1');
    expect(await tokens.of({ ...request, namespace: 'other' }, never)).to.equal('token-3');
  });

  it('are kept up to a size for each namespace, whatever lifetimes and audiences are requested', async () => {
    const { tokens, asked } = given();
    const of = (i: number) => tokens.of({ ...request, audiences: [String(i).padEnd(2 ** 18, 'x')] }, never);
    await tokens.of({ ...request, namespace: 'other' }, never);
    for (let i = 0; i < 10; i++) await of(i);
    await of(9);
    await tokens.of({ ...request, namespace: 'other' }, never);
    expect(asked(), 'kept').to.equal(11);
    await of(0);
    expect(asked(), 'requested again').to.equal(12);
  });

  it('are requested again by a caller that waited for a failed request', async () => {
    const { tokens } = given((n) => (n === 1 ? Promise.reject(new Error('ended')) : Promise.resolve()));
    const [first, second] = await Promise.allSettled([tokens.of(request, never), tokens.of(request, never)]);
    expect(first.status).to.equal('rejected');
    expect(second).to.include({ status: 'fulfilled', value: 'token-2' });
  });
});
