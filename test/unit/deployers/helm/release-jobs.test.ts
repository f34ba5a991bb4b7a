/** Jobs of items with releases: when an action is needed, which record it starts from, and what a failure leaves behind. */
import { expect } from 'chai';
import { helmDeployer } from '../../../../deployers/helm/index.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { c1, c4, chartsHere, raw } from '../../../support/helm-charts.ts';
import { Bench, helmConfig, LS } from '../bench.ts';
import type { Any } from '../fake-cluster.ts';

const repositories = createComponentRepositories({ clock: systemClock, rng: seededRng(1) });
const release = (fields: object = {}): object =>
  helmConfig({ ...raw(c1()), helmDeployment: true, ...fields });

describe('a job with a release', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench(helmDeployer({ repositories, chartsOf: chartsHere(), clock: systemClock }));
    bench.givenTarget();
    bench.giveItem(release(), { type: `${LS}/helm`, timeout: '10m' });
  });

  const record = (version: number): Any => {
    const found = bench.target.find('Secret', `app/sh.helm.release.v1.demo.v${String(version)}`);
    if (!found) throw new Error(`there is no revision ${String(version)}`);
    return found;
  };
  const states = (name = 'demo'): string[] =>
    bench.target
      .names('Secret')
      .filter((key) => key.includes(`.${name}.v`))
      .map((key) => bench.target.find('Secret', key)?.metadata.labels?.['status'] ?? '');
  /** Records keep the time of their creation, which a server sets. */
  const createdAt = (version: number, time: string): void => {
    bench.target.edit('Secret', `app/sh.helm.release.v1.demo.v${String(version)}`, {
      metadata: { creationTimestamp: time },
    });
  };
  const labelled = (version: number, status: string): void => {
    bench.target.edit('Secret', `app/sh.helm.release.v1.demo.v${String(version)}`, {
      metadata: { labels: { status } },
    });
  };
  const refuse = (request: string): void => {
    bench.target.fail = (verb, what) => {
      if (`${verb} ${what}` === request)
        throw apiErrorFrom(403, { message: 'no right' }, { verb, kind: 'ConfigMap' });
    };
  };
  const noted = () =>
    bench.status().providerStatus as { release?: Record<string, unknown>; managedResources?: unknown };

  it('records which revision it starts before it starts it, and which it made', async () => {
    let notedAtStart: unknown;
    bench.target.fail = (verb, what) => {
      if (verb === 'create' && what.startsWith('Secret ')) notedAtStart = noted().release;
    };
    await bench.kick('j1');
    const planned = bench.history
      .map(({ providerStatus }) => (providerStatus as { release?: object } | undefined)?.release)
      .filter((each) => each !== undefined);
    expect(planned[0]).to.include({ name: 'demo', namespace: 'app', revision: 1, planned: true });
    expect(planned[0]).to.have.property('digest', noted().release?.['digest']);
    expect(notedAtStart).to.include({ revision: 1, planned: true });
    expect(noted().release).to.include({ revision: 1 }).and.not.have.property('planned');
    expect(bench.status().phase).to.equal('Succeeded');
  });

  it('uninstalls the recorded release with the item, and not another one that has the name of its new spec', async () => {
    await bench.kick('j1');
    const { metadata, ...rest } = record(1);
    const name = 'sh.helm.release.v1.theirs.v1';
    bench.target.put({
      ...rest,
      metadata: { ...metadata, name, labels: { ...metadata.labels, name: 'theirs' } },
    });
    bench.configure(release({ name: 'theirs' }));
    await bench.delete();
    await bench.kick('j2');
    expect(bench.isGone()).to.equal(true);
    expect([states(), states('theirs')]).to.deep.equal([[], ['deployed']]);
  });

  const changes: readonly (readonly [title: string, change: () => void, revisions: number])[] = [
    ['nothing', () => undefined, 1],
    ['the values', () => bench.configure(release({ values: { msg: 'new' } })), 2],
    ['the chart', () => bench.configure(release(raw(c1({}, '0.2.0')))), 2],
    [
      'the options',
      () => bench.configure(release({ helmDeploymentConfig: { upgrade: { force: true } } })),
      2,
    ],
    ['an object', () => bench.target.edit('ConfigMap', 'app/demo-cm', { data: { msg: 'by hand' } }), 2],
    ['a missing object', () => bench.target.drop('ConfigMap', 'app/demo-cm'), 2],
    ['the status of the record', () => labelled(1, 'failed'), 2],
    [
      'another revision of a user',
      () => {
        const name = 'sh.helm.release.v1.demo.v2';
        const labels = { ...record(1).metadata.labels, version: '2' };
        bench.target.put({ ...record(1), metadata: { name, namespace: 'app', labels } });
      },
      3,
    ],
  ];
  for (const [title, change, revisions] of changes)
    it(`creates ${revisions === 1 ? 'no' : 'a'} revision after a change of ${title}`, async () => {
      await bench.kick('j1');
      change();
      await bench.kick('j2');
      expect(bench.status().phase).to.equal('Succeeded');
      expect(states()).to.have.length(revisions);
    });

  describe('that finds a pending record', () => {
    beforeEach(async () => {
      await bench.kick('j1');
      bench.configure(release({ values: { msg: 'new' } }));
    });

    it('replaces one that is older than the job', async () => {
      createdAt(1, '2025-12-31T00:00:00Z');
      labelled(1, 'pending-install');
      await bench.kick('j2');
      expect(bench.status().phase).to.equal('Succeeded');
      expect(states()).to.deep.equal(['deployed']);
    });

    it('replaces one that it planned itself', async () => {
      createdAt(1, '2026-01-02T00:00:00Z');
      labelled(1, 'pending-install');
      const providerStatus = { ...noted(), release: { ...noted().release, planned: true } };
      bench.host.edit('DeployItem', 'proj/web', { status: { providerStatus } });
      await bench.kick('j2');
      expect(bench.status().phase).to.equal('Succeeded');
    });
  });

  it('that fails is repeated after five seconds, with the message of the server', async () => {
    refuse('create ConfigMap app/demo-cm');
    await bench.kick('j1');
    expect(bench.status().lastError).to.include({ reason: 'installRelease' });
    expect(bench.status().lastError?.message)
      .to.contain('unable to install helm chart release')
      .and.contain('no right');
    expect(bench.requeues.at(-1)).to.be.within(5_000, 5_999);
    bench.target.fail = () => undefined;
    await bench.pass(6_000);
    expect(bench.status().phase).to.equal('Succeeded');
    expect(states()).to.deep.equal(['superseded', 'deployed']);
  });

  it('refuses values that the schema does not allow, unless the check is switched off', async () => {
    bench.configure(release({ ...raw(c4()), values: { port: 'secret-port' } }));
    await bench.kick('j1');
    expect(bench.status().lastError?.message)
      .to.contain("'/port': must be integer")
      .and.not.contain('secret-port');
    expect(bench.status().phase).to.equal('Failed');
    expect(states()).to.deep.equal([]);
    const skipped = { helmDeploymentConfig: { install: { skipSchemaValidation: true } } };
    bench.configure(release({ ...raw(c4()), values: { port: 'secret-port' }, ...skipped }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
  });

  it('uninstalls the release of the name before, if the name or the namespace changes', async () => {
    await bench.kick('j1');
    bench.configure(release({ name: 'other' }));
    await bench.kick('j2');
    expect([states('demo'), states('other')]).to.deep.equal([[], ['deployed']]);
    bench.target.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } });
    bench.configure(release({ name: 'other', namespace: 'elsewhere' }));
    await bench.kick('j3');
    expect(bench.target.names('Secret')).to.deep.equal(['elsewhere/sh.helm.release.v1.other.v1']);
  });

  it('of the deletion uninstalls the release in the status as well as the configured one', async () => {
    await bench.kick('j1');
    bench.configure(release({ name: 'other' }));
    await bench.delete();
    await bench.kick('j2');
    expect(bench.isGone()).to.equal(true);
    expect(bench.target.names('Secret')).to.deep.equal([]);
  });

  it('of the deletion that fails says so, and is repeated', async () => {
    await bench.kick('j1');
    refuse('delete ConfigMap app/demo-cm');
    await bench.delete();
    await bench.kick('j2');
    expect(bench.status().lastError).to.include({ reason: 'deleteRelease' });
    bench.target.fail = () => undefined;
    await bench.pass(60_000);
    expect(bench.isGone()).to.equal(true);
  });

  it('finishes an uninstallation that was interrupted, and installs again', async () => {
    await bench.kick('j1');
    labelled(1, 'uninstalling');
    bench.configure(release({ values: { msg: 'again' } }));
    await bench.kick('j2');
    expect(bench.status().phase).to.equal('Succeeded');
    expect(states()).to.deep.equal(['deployed']);
  });
});
