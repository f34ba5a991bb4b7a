import { expect } from 'chai';
import { manifestDeployer } from '../../../../deployers/manifest/index.ts';
import { passthrough } from '../../../../deployers/sdk/codec.ts';
import { done, wait, type DeployerPlugin, type TargetSelector } from '../../../../deployers/sdk/index.ts';
import { Bench, configMap, kubeconfigOf, LS, manage, manifestConfig, type BenchOptions } from '../bench.ts';
import type { Any } from '../fake-cluster.ts';

const settings = manifestConfig({ manifests: [manage(configMap('settings'))] });

function bench(options: BenchOptions = {}): Bench {
  const b = new Bench(manifestDeployer(), options);
  b.givenTarget();
  return b;
}

describe('the deployer contract', () => {
  it('DEP-01: an item of another type costs no request and is left alone', async () => {
    const b = bench();
    b.giveItem(settings, { type: 'example.org/blob' });
    b.host.takeRequests();
    await b.kick('j1');
    expect(b.host.takeRequests()).to.deep.equal([]);
    expect(b.status().phase).to.equal(undefined);
  });

  const selectorRows: readonly (readonly [string, readonly TargetSelector[], boolean])[] = [
    ['a name', [{ targets: [{ name: 'cluster-a' }] }], true],
    ['a name in another namespace', [{ targets: [{ name: 'cluster-a', namespace: 'other' }] }], false],
    [
      'one of two selectors',
      [{ targets: [{ name: 'x' }] }, { labels: [{ key: 'region', operator: '=', values: ['eu'] }] }],
      true,
    ],
    [
      'only one part of a selector',
      [{ targets: [{ name: 'cluster-a' }], labels: [{ key: 'region', operator: '=', values: ['us'] }] }],
      false,
    ],
    ['an annotation that is absent', [{ annotations: [{ key: 'gone', operator: '!' }] }], true],
    ['an annotation that should exist', [{ annotations: [{ key: 'gone', operator: 'exists' }] }], false],
    [
      'one of several values',
      [{ annotations: [{ key: 'env', operator: 'in', values: ['dev', 'test'] }] }],
      true,
    ],
    ['none of several values', [{ annotations: [{ key: 'env', operator: 'in', values: ['prod'] }] }], false],
    ['no selectors', [], true],
  ];
  for (const [title, targetSelector, isOurs] of selectorRows) {
    it(`DEP-02, DEP-03, DEP-04: a target with ${title} is ${isOurs ? '' : 'not '}ours`, async () => {
      const b = bench({ config: { targetSelector } });
      b.giveItem(settings);
      await b.kick('j1');
      expect(b.status().phase).to.equal(isOurs ? 'Succeeded' : undefined);
      if (!isOurs) expect(b.item().metadata.finalizers).to.equal(undefined);
    });
  }

  it('DEP-04: invalid selectors are rejected when the deployer starts', () => {
    const targetSelector = [{ labels: [{ key: 'a', operator: '=', values: ['1', '2'] }] }];
    expect(() => bench({ config: { targetSelector } })).to.throw('operator "=" does not accept 2 values');
  });

  it('an item without a target is left to other deployers if the configuration says so', async () => {
    for (const claimUntargeted of [true, false]) {
      const b = bench({ config: { claimUntargeted } });
      b.giveItem(settings, { target: null });
      await b.kick('j1');
      expect(b.status().phase).to.equal(claimUntargeted ? 'Progressing' : undefined);
    }
  });

  it('DEP-05: a job begins and ends with all its fields, the end in one write', async () => {
    const b = bench();
    b.giveItem(settings);
    await b.pass(5000);
    await b.kick('j1');
    const { metadata, status } = b.item();
    expect(metadata.finalizers).to.deep.equal(['finalizer.landscaper.gardener.cloud']);
    expect(status).to.deep.equal({
      phase: 'Succeeded',
      jobID: 'j1',
      jobIDFinished: 'j1',
      jobIDGenerationTime: '2026-01-01T00:00:05Z',
      observedGeneration: 1,
      lastReconcileTime: '2026-01-01T00:00:05Z',
      deployer: { identity: 'bench', name: 'manifest.deployer.landscaper.gardener.cloud', version: '0.1.0' },
      transitionTimes: {
        triggerTime: '2026-01-01T00:00:05Z',
        initTime: '2026-01-01T00:00:05Z',
        finishedTime: '2026-01-01T00:00:05Z',
      },
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Succeeded',
          message: 'the last job succeeded',
          observedGeneration: 1,
          lastTransitionTime: '2026-01-01T00:00:05Z',
          lastUpdateTime: '2026-01-01T00:00:05Z',
        },
      ],
      providerStatus: {
        apiVersion: 'manifest.deployer.landscaper.gardener.cloud/v1alpha2',
        kind: 'ProviderStatus',
        managedResources: [
          {
            policy: 'manage',
            resource: {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              name: 'settings',
              namespace: 'app',
              uid: b.target.find('ConfigMap', 'app/settings')?.metadata.uid,
            },
          },
        ],
      },
    });
    expect(b.phases()).to.deep.equal(['Progressing', 'Succeeded']);
    const ends = b.history.filter(({ phase }) => phase === 'Succeeded');
    expect(
      ends.every(
        ({ jobIDFinished, transitionTimes }) => jobIDFinished === 'j1' && transitionTimes?.finishedTime,
      ),
    ).to.equal(true);
    b.host.takeRequests();
    await b.pass(60_000);
    expect(b.host.takeRequests()).to.deep.equal([]);
  });

  it('DEP-05: a job with one object costs two writes of the item, and one request to a target whose cluster is known', async () => {
    const b = bench();
    b.giveItem(settings, { finalizers: ['finalizer.landscaper.gardener.cloud'] });
    b.host.takeRequests();
    await b.kick('j1');
    expect(b.host.takeRequests()).to.deep.equal([
      'get Secret proj/cluster-a-kc',
      'merge/status DeployItem proj/web',
      'merge/status DeployItem proj/web',
    ]);
    expect(b.target.takeRequests()).to.deep.equal([
      'get Namespace kube-system',
      'create ConfigMap app/settings',
    ]);
    await b.kick('j2');
    expect(b.target.takeRequests()).to.deep.equal(['get ConfigMap app/settings']);
  });

  it('DEP-06: a changed spec alone starts nothing', async () => {
    const b = bench();
    b.giveItem(settings);
    await b.kick('j1');
    b.configure(manifestConfig({ manifests: [manage(configMap('settings', { a: 'new' }))] }));
    await b.pass(60_000);
    expect(b.target.find('ConfigMap', 'app/settings')?.['data']).to.deep.equal({ a: 'b' });
    await b.kick('j2');
    expect(b.target.find('ConfigMap', 'app/settings')?.['data']).to.deep.equal({ a: 'new' });
  });

  it('DEP-07: a missing configuration ends the job', async () => {
    const b = bench();
    b.giveItem(undefined);
    await b.kick('j1');
    const { phase, lastError, firstError, lastErrors } = b.status();
    expect(phase).to.equal('Failed');
    expect(lastError).to.deep.include({
      operation: 'reconcile',
      reason: 'ProviderConfigurationMissing',
      message: 'provider configuration missing',
      codes: ['ERR_CONFIGURATION_PROBLEM'],
    });
    expect(firstError).to.deep.equal(lastError);
    expect(lastErrors).to.deep.equal([lastError]);
    expect(b.events).to.deep.equal(['Warning ProviderConfigurationMissing: provider configuration missing']);
  });

  it('DEP-08: a missing target ends the job without a finalizer, or leaves it on an item that has one', async () => {
    const b = bench();
    b.giveItem(settings, { target: 'nowhere' });
    await b.kick('j1');
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError).to.deep.include({
      operation: 'reconcilePrivate',
      reason: 'NoTargetFound',
      message:
        'setting deploy item to failed due to missing target: target proj/nowhere does not exist; create it, or correct the reference to it, and start another job of the root installation',
    });
    expect(b.item().metadata.finalizers).to.equal(undefined);

    b.giveItem(settings, {
      name: 'old',
      target: 'nowhere',
      finalizers: ['finalizer.landscaper.gardener.cloud'],
    });
    await b.delete('old');
    await b.kick('j1', 'old');
    expect(b.status('old').phase).to.equal('DeleteFailed');
    expect(b.item('old').metadata.finalizers).to.have.length(1);
  });

  it('DEP-09: a target whose secret lacks the key is reported and retried until the secret is correct', async () => {
    const b = bench();
    const secret = b.host.find('Secret', 'proj/cluster-a-kc');
    b.host.edit('Secret', 'proj/cluster-a-kc', { data: { kubeconfig: null, other: 'eA==' } });
    b.giveItem(settings);
    await b.kick('j1');
    await b.pass(30_000);
    expect(b.status().phase).to.equal('Init');
    expect(b.status().lastError?.reason).to.equal('ResolveTarget');
    expect(b.status().lastError?.message).to.contain(
      'key kubeconfig in secret proj/cluster-a-kc does not exist',
    );
    expect(b.passes).to.be.at.most(7);
    expect(b.status().lastErrors).to.have.length(1);
    b.host.edit('Secret', 'proj/cluster-a-kc', { data: (secret as Any)['data'] as object });
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.status().lastError).to.equal(undefined);
    expect(b.status().firstError?.reason).to.equal('ResolveTarget');
  });

  const forbidden = [
    [
      'client-certificate',
      { 'client-certificate': '/etc/pki/c.pem' },
      'client certificate files are not supported in a target kubeconfig (user "u1")',
    ],
    ['client-key', { 'client-key': '/etc/pki/k.pem' }, 'client key files are not supported'],
    ['tokenFile', { tokenFile: '/t' }, 'token files are not supported'],
    ['exec', { exec: { command: 'x' } }, 'exec configurations are not supported'],
    [
      'auth-provider',
      { 'auth-provider': { name: 'gcp', config: { a: 'b' } } },
      'auth provider configurations are not supported',
    ],
    ['as', { token: 't', as: 'admin' }, 'impersonation is not supported'],
  ] as const;
  for (const [field, user, message] of forbidden) {
    it(`DEP-10: a kubeconfig with ${field} ends the job before anything is done`, async () => {
      const b = bench();
      b.host.edit('Target', 'proj/cluster-a', {
        spec: { secretRef: null, config: { kubeconfig: kubeconfigOf('a', user) } },
      });
      b.giveItem(settings);
      await b.kick('j1');
      expect(b.status().phase).to.equal('Failed');
      expect(b.status().lastError?.reason).to.equal('ValidateTarget');
      expect(b.status().lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
      expect(b.status().lastError?.message).to.contain(message);
      expect(b.opened).to.deep.equal([]);
    });
  }

  it('DEP-11: updateOnChangeOnly ends a job at once if the item has not changed', async () => {
    const b = bench();
    b.giveItem(settings, { updateOnChangeOnly: true });
    await b.kick('j1');
    b.target.drop('ConfigMap', 'app/settings');
    await b.kick('j2');
    expect(b.status().jobIDFinished).to.equal('j2');
    expect(b.target.find('ConfigMap', 'app/settings')).to.equal(undefined);
    b.configure(manifestConfig({ manifests: [manage(configMap('settings', { a: 'c' }))] }));
    await b.kick('j3');
    expect(b.target.find('ConfigMap', 'app/settings')).to.not.equal(undefined);
  });

  it('DEP-12: test-reconcile gives an item a separate job', async () => {
    const b = bench();
    b.giveItem(settings);
    await b.kick('j1');
    b.host.edit('DeployItem', 'proj/web', {
      metadata: { annotations: { [`${LS}/operation`]: 'test-reconcile' } },
    });
    await b.rest();
    expect(b.item().metadata.annotations).to.not.have.property(`${LS}/operation`);
    expect(b.status().jobID).to.match(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(b.status().jobIDFinished).to.equal(b.status().jobID);
    expect(b.status().phase).to.equal('Succeeded');
  });

  it('DEP-13: a deletion waits for the next job, then objects and item are deleted', async () => {
    const b = bench();
    b.giveItem(settings);
    await b.kick('j1');
    await b.delete();
    await b.pass(60_000);
    expect(b.isGone()).to.equal(false);
    expect(b.target.names('ConfigMap')).to.deep.equal(['app/settings']);
    await b.kick('j2');
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
    expect(b.isGone()).to.equal(true);
  });

  for (const [value, stays] of [
    ['true', true],
    ['yes', false],
  ] as const) {
    it(`DEP-14: delete-without-uninstall: "${value}" ${stays ? 'leaves the objects' : 'is ignored'}`, async () => {
      const b = bench();
      b.giveItem(settings, { annotations: { [`${LS}/delete-without-uninstall`]: value } });
      await b.kick('j1');
      await b.delete();
      await b.kick('j2');
      expect(b.isGone()).to.equal(true);
      expect(b.target.names('ConfigMap')).to.have.length(stays ? 1 : 0);
    });
  }

  const late = manifestConfig({ manifests: [manage(configMap('settings', {}, { namespace: 'late' }))] });

  it('DEP-15: a temporary failure is reported and retried until it has passed', async () => {
    const b = bench();
    b.giveItem(late);
    await b.kick('j1');
    await b.pass(12_000);
    const { phase, lastError, providerStatus } = b.status();
    expect(phase).to.equal('Progressing');
    expect(lastError?.operation).to.equal('ApplyObjects');
    expect(lastError?.codes ?? []).to.deep.equal([]);
    expect(lastError?.message).to.contain('ConfigMap late/settings (manifests[0]) on target cluster-a');
    expect(providerStatus).to.not.have.property('managedResources');
    b.target.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } });
    await b.pass(5000);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.status().lastError).to.equal(undefined);
    expect(b.status().firstError?.operation).to.equal('ApplyObjects');
  });

  it('DEP-15: a repeated failure is written and reported once', async () => {
    const b = bench();
    b.giveItem(late);
    await b.kick('j1');
    b.host.takeRequests();
    await b.pass(60_000);
    expect(b.host.takeRequests().filter((r) => !r.startsWith('get'))).to.deep.equal([]);
    expect(b.events).to.have.length(1);
  });

  const never = {
    custom: [
      {
        name: 'never',
        resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'app' }],
        requirements: [{ jsonPath: '.data.ready', operator: 'exists' }],
      },
    ],
  };
  const waiting = manifestConfig({ manifests: [manage(configMap('settings'))], readinessChecks: never });

  it('DEP-16: an interrupted item stays as the core wrote it, and the next job works', async () => {
    const b = bench();
    b.giveItem(waiting);
    await b.kick('j1');
    expect(b.status().phase).to.equal('Progressing');
    const lastError = {
      operation: 'InterruptOperation',
      reason: 'InterruptOperation',
      message: 'operation was interrupted',
    };
    b.host.edit('DeployItem', 'proj/web', { status: { phase: 'Failed', jobIDFinished: 'j1', lastError } });
    const written = b.item();
    await b.pass(10 * 60_000);
    expect(b.item()).to.deep.equal(written);
    b.configure(settings);
    await b.kick('j2');
    expect(b.status().phase).to.equal('Progressing'); // a merge patch keeps the checks
    b.configure(manifestConfig({ manifests: [manage(configMap('settings'))], readinessChecks: null }));
    await b.rest();
    expect(b.status().phase).to.equal('Succeeded');
  });

  it('a waiting job reports what it waits for, and the error list stays empty', async () => {
    const b = bench();
    b.giveItem(waiting);
    await b.kick('j1');
    const { lastError, firstError, lastErrors } = b.status();
    expect(lastError?.codes).to.deep.equal(['ERR_UNFINISHED', 'ERR_FOR_INFO_ONLY']);
    expect(lastError?.message).to.contain('field with JSON path .data.ready does not exist');
    expect(firstError).to.equal(undefined);
    expect(lastErrors).to.equal(undefined);
    expect(b.events).to.deep.equal([]);
  });

  it('an item that is deleted while its job waits first ends that job, in DeleteFailed', async () => {
    const b = bench();
    b.giveItem(waiting, { timeout: '12s' });
    await b.kick('j1');
    await b.delete();
    await b.pass(11_000);
    expect(b.status().phase).to.equal('Progressing');
    await b.pass(1500);
    expect(b.status().phase).to.equal('DeleteFailed');
    expect(b.status().jobIDFinished).to.equal('j1');
    await b.kick('j2');
    expect(b.isGone()).to.equal(true);
    expect(b.target.names('ConfigMap')).to.deep.equal([]);
  });

  it('an item that is deleted while its job repeats a failure is deleted within that job', async () => {
    const b = bench();
    b.giveItem(late);
    await b.kick('j1');
    await b.delete();
    await b.pass(6000);
    expect(b.isGone()).to.equal(true);
  });

  it('DEP-52: the timeout of a job counts over all attempts, and none means no limit', async () => {
    const b = bench();
    b.giveItem(late, { timeout: '1m' });
    b.giveItem(late, { name: 'patient', timeout: 'none' });
    await b.kick('j1');
    await b.kick('j1', 'patient');
    const begun = b.status().transitionTimes?.initTime;
    await b.pass(59_000);
    expect(b.status().phase).to.equal('Progressing');
    expect(b.status().transitionTimes?.initTime).to.equal(begun);
    await b.pass(1500);
    expect(b.status().phase).to.equal('Failed');
    await b.pass(660_000); // beyond the default, too
    expect(b.status('patient').phase).to.equal('Progressing');
  });

  it('DEP-53: a waiting job times out with what it waits for, also during a slow reconcile', async () => {
    const onTimeout = {
      operation: 'WaitForObjectsReady',
      reason: 'ProgressingTimeout',
      message: 'timeout at: "the thing"',
      codes: ['ERR_TIMEOUT'],
    } as const;
    const slow: DeployerPlugin = {
      type: 'example.org/slow',
      name: 'slow.example.org',
      version: '1',
      config: passthrough,
      apply: ({ scratch, signal }) => {
        if (!scratch.has('begun'))
          return Promise.resolve(wait({ onTimeout, requeueAfterMs: 1000 })).finally(() =>
            scratch.set('begun', true),
          );
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        });
      },
      remove: () => Promise.resolve(done()),
    };
    const b = new Bench(slow);
    b.giveItem({}, { type: slow.type, target: null, timeout: '10s' });
    await b.kick('j1');
    await b.pass(9000);
    expect(b.status().phase).to.equal('Progressing');
    await b.pass(1100);
    const { lastError, phase } = b.status();
    expect(phase).to.equal('Failed');
    expect(lastError).to.deep.include({ operation: 'WaitForObjectsReady', codes: [...onTimeout.codes] });
  });

  it('DEP-53: a timeout keeps the problem that led to it', async () => {
    const b = bench();
    b.giveItem(late);
    await b.kick('j1');
    await b.pass(125_000);
    const [first, second] = b.status().lastError?.message.split('\n') ?? [];
    expect(b.status().lastError?.codes).to.deep.equal(['ERR_TIMEOUT']);
    expect(first).to.equal('timeout at: "manifest deployer: start reconcile"');
    expect(second).to.match(/^the job has reached its timeout of .*; last problem: .*late/);
  });

  it('a missing Context is a temporary problem, which the timeout ends', async () => {
    const b = bench();
    b.giveItem(settings, { context: 'later' });
    await b.kick('j1');
    expect(b.status().phase).to.equal('Init');
    expect(b.status().lastError?.reason).to.equal('GetLandscaperContext');
    await b.pass(125_000);
    expect(b.status().phase).to.equal('Failed');
    expect(b.status().lastError?.message).to.match(
      /^timeout at: "deployer: before start"\nthe job has reached its timeout of .*; last problem: .*later/,
    );
  });

  it('a job that was handed out again while the old one ran starts from the beginning', async () => {
    const b = bench();
    b.giveItem(late);
    await b.kick('j1');
    await b.pass(30_000);
    b.target.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } });
    await b.kick('j2');
    expect(b.status().jobIDFinished).to.equal('j2');
    expect(b.status().transitionTimes?.initTime).to.equal('2026-01-01T00:00:30Z');
    expect(b.status().firstError).to.equal(undefined);
  });

  it('an item that changes during a reconcile is reconciled again; the stale end is not stored', async () => {
    const b = bench();
    b.giveItem(settings, { finalizers: ['finalizer.landscaper.gardener.cloud'] });
    b.target.onChange = (kind) => {
      if (kind === 'ConfigMap')
        b.host.edit('DeployItem', 'proj/web', { metadata: { labels: { seen: 'yes' } } });
      b.target.onChange = () => undefined;
    };
    await b.kick('j1');
    await b.pass(200);
    expect(b.status().phase).to.equal('Succeeded');
    expect(b.item().metadata.labels).to.deep.equal({ seen: 'yes' });
  });

  it('a final write that fails is repeated until it is stored', async () => {
    const b = bench();
    b.giveItem(settings);
    let left = 3;
    b.host.fail = (verb) => {
      if (verb === 'merge/status' && left-- > 0) throw new Error('no answer');
    };
    await b.kick('j1');
    await b.pass(10_000);
    expect(b.status().phase).to.equal('Succeeded');
  });
});
