/** Charts with and without releases: the change from one to the other, what is applied, and what a plan says before. */
import { expect } from 'chai';
import { helmDeployer } from '../../../../deployers/helm/index.ts';
import { MANIFEST_LABEL } from '../../../../deployers/objects/manifests/label.ts';
import { createComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { c1, chartsHere, configMapOf, packChart, raw } from '../../../support/helm-charts.ts';
import { Bench, helmConfig, LS } from '../bench.ts';
import { planOf, rowOf } from '../planned.ts';
import type { Any } from '../fake-cluster.ts';

const repositories = createComponentRepositories({ clock: systemClock, rng: seededRng(1) });
const HOOK = (event: string, name: string): string =>
  configMapOf(name, `  annotations: {helm.sh/hook: "${event}"}\n`);
const chart = (more: Readonly<Record<string, string>> = {}): object => raw(c1(more));
const release = (fields: object = {}): object => helmConfig({ ...chart(), helmDeployment: true, ...fields });
const templates = (fields: object = {}): object => helmConfig({ ...chart(), ...fields });

describe('a chart', () => {
  let bench: Bench;
  const deployer = (more: object = {}) =>
    helmDeployer({ repositories, chartsOf: chartsHere(), clock: systemClock, ...more });
  const start = async (config: object, more: object = {}): Promise<void> => {
    bench = new Bench(deployer(more));
    bench.givenTarget();
    bench.giveItem(config, { type: `${LS}/helm`, timeout: '10m' });
    await bench.kick('j1');
  };
  const next = async (config: object): Promise<void> => {
    bench.configure(config);
    await bench.kick('j2');
  };
  const names = (kind: string): string[] => bench.target.names(kind);
  const records = (): string[] => names('Secret').filter((name) => name.includes('sh.helm.release'));
  const problem = () => bench.status().lastError?.message ?? '';
  const refuse = (request: string, status = 403): void => {
    bench.target.fail = (verb, what) => {
      if (`${verb} ${what}` === request) throw apiErrorFrom(status, { message: 'no' }, { verb, kind: 'X' });
    };
  };

  describe('that changes to objects without a release', () => {
    it('is uninstalled before its objects are applied', async () => {
      await start(release());
      bench.target.takeRequests();
      await next(templates());
      expect(bench.status().phase, problem()).to.equal('Succeeded');
      expect(records()).to.deep.equal([]);
      const writes = bench.target.takeRequests().filter((request) => !/^(get|list|discover)/.test(request));
      const [deleted, created] = ['delete ConfigMap app/demo-cm', 'create ConfigMap app/demo-cm'].map((one) =>
        writes.indexOf(one),
      );
      expect(deleted)
        .to.be.greaterThan(-1)
        .and.lessThan(created ?? -1);
    });

    it('waits until they are gone, although uninstalling usually does not', async () => {
      await start(release());
      bench.target.edit('ConfigMap', 'app/demo-cm', { metadata: { finalizers: ['example.com/slow'] } });
      await next(templates());
      expect(bench.target.find('ConfigMap', 'app/demo-cm')?.metadata.deletionTimestamp).to.not.equal(
        undefined,
      );
      expect(bench.status().jobIDFinished).to.equal('j1');
      bench.target.edit('ConfigMap', 'app/demo-cm', { metadata: { finalizers: null } });
      await bench.pass(60_000);
      expect([bench.status().phase, bench.status().jobIDFinished], problem()).to.deep.equal([
        'Succeeded',
        'j2',
      ]);
      expect(names('ConfigMap')).to.deep.equal(['app/demo-cm']);
    });
  });

  describe('that changes to a release', () => {
    it('is installed after its objects are gone', async () => {
      await start(templates());
      expect(records()).to.deep.equal([]);
      const { uid } = bench.target.find('ConfigMap', 'app/demo-cm')?.metadata ?? {};
      await next(release());
      expect(bench.status().phase, problem()).to.equal('Succeeded');
      expect(records()).to.have.length(1);
      expect(bench.target.find('ConfigMap', 'app/demo-cm')?.metadata.uid).to.not.equal(uid);
    });

    it('keeps its objects while the helm program is missing; the deletion does not need it', async () => {
      await start(release(), { executable: '/no/helm' });
      expect(bench.status().providerStatus, 'nothing was begun').to.equal(undefined);
      await start(templates(), { executable: '/no/helm' });
      await next(release());
      expect([bench.status().phase, names('ConfigMap')]).to.deep.equal(['Failed', ['app/demo-cm']]);
      expect(problem()).to.contain('/no/helm');
      await bench.delete();
      await bench.kick('j3');
      expect(names('ConfigMap')).to.deep.equal([]);
    });
  });

  describe('without a release', () => {
    it('is applied with its hooks, and without its tests', async () => {
      const files = {
        'templates/h.yaml': HOOK('pre-install', 'hook'),
        'templates/t.yaml': HOOK('test', 'test'),
      };
      await start(templates(chart(files)));
      expect(names('ConfigMap').sort()).to.deep.equal(['app/demo-cm', 'app/hook']);
    });

    it('creates its namespace only if the configuration says so, and keeps what others wrote there', async () => {
      await start(templates({ namespace: 'fresh', createNamespace: false }));
      expect(bench.status().phase).to.not.equal('Succeeded');
      expect(names('Namespace')).to.deep.equal(['app']);
      await start(templates({ namespace: 'fresh', createNamespace: true }));
      expect(names('ConfigMap'), problem()).to.deep.equal(['fresh/demo-cm']);
      bench.target.edit('Namespace', 'fresh', {
        metadata: { labels: { team: 'a' }, annotations: { by: 'b' } },
        spec: { finalizers: ['kubernetes'] },
      });
      await bench.kick('j2');
      const { metadata, spec } = bench.target.find('Namespace', 'fresh') as Any & { spec: object };
      expect([metadata.labels?.['team'], metadata.annotations?.['by'], spec]).to.deep.equal([
        'a',
        'b',
        { finalizers: ['kubernetes'] },
      ]);
    });

    it('gives its namespace only to objects of namespaced kinds that name none', async () => {
      const role = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n';
      const elsewhere = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e, namespace: elsewhere}\n';
      const files = { 'templates/r.yaml': role, 'templates/e.yaml': elsewhere };
      bench = new Bench(deployer());
      bench.target.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'elsewhere' } });
      bench.givenTarget();
      bench.giveItem(templates(chart(files)), { type: `${LS}/helm` });
      await bench.kick('j1');
      expect([names('ClusterRole'), names('ConfigMap').sort()]).to.deep.equal([
        ['r'],
        ['app/demo-cm', 'elsewhere/e'],
      ]);
    });

    for (const [title, text, message] of [
      ['a definition that is not YAML', { 'crds/x.yaml': 'a: [' }, 'crds/x.yaml'],
      [
        'a list that contains something else',
        { 'templates/l.yaml': 'apiVersion: v1\nkind: List\nitems: [7]\n' },
        'List',
      ],
    ] as const)
      it(`ends the job with ${title}`, async () => {
        await start(templates(chart(text)));
        expect(bench.status().phase).to.equal('Failed');
        expect(problem()).to.contain(message);
      });

    it('retries while the values lack the field of an export', async () => {
      await start(templates({ exportsFromManifests: [{ key: 'a', jsonPath: '.Values.none' }] }));
      expect(problem()).to.contain('export a: the values have no field');
      expect(bench.status().phase).to.equal('Progressing');
    });

    it('is applied with the labels of both deployers, and with the strategy of the configuration', async () => {
      await start(templates({ updateStrategy: 'merge' }));
      const labels = bench.target.find('ConfigMap', 'app/demo-cm')?.metadata.labels ?? {};
      expect(Object.keys(labels)).to.include.members([MANIFEST_LABEL, `helm.deployer.${LS}/deployitem`]);
      bench.target.edit('ConfigMap', 'app/demo-cm', { data: { theirs: 'kept' } });
      await next(templates({ updateStrategy: 'merge', values: { msg: 'new' } }));
      expect(bench.target.find('ConfigMap', 'app/demo-cm')?.['data'], problem()).to.include({
        theirs: 'kept',
      });
    });
  });

  describe('with a release', () => {
    it('whose action was refused is retried after five seconds', async () => {
      await start(release());
      refuse('strategic ConfigMap app/demo-cm');
      await next(release({ values: { msg: 'new' } }));
      expect(bench.status().phase).to.equal('Progressing');
      const before = bench.passes;
      bench.target.fail = () => undefined;
      await bench.pass(5_000);
      expect(bench.passes).to.be.greaterThan(before);
      expect(bench.status().phase, problem()).to.equal('Succeeded');
    });

    it('gets no revision because the cluster cannot say whether its objects have changed', async () => {
      await start(release());
      refuse('get ConfigMap app/demo-cm', 500);
      await bench.kick('j2');
      expect(bench.status().phase).to.equal('Progressing');
      expect(records()).to.have.length(1);
      bench.target.fail = () => undefined;
      await bench.pass(60_000);
      expect([bench.status().phase, records().length]).to.deep.equal(['Succeeded', 1]);
    });

    it('whose record is deleted while it is read is read again', async () => {
      await start(release());
      refuse(`get Secret ${records()[0] ?? ''}`, 404);
      await next(release());
      expect(problem()).to.contain('was deleted while it was read');
      bench.target.fail = () => undefined;
      await bench.pass(60_000);
      expect(bench.status().phase, problem()).to.equal('Succeeded');
    });
  });

  describe('has a plan', () => {
    const planned = async (config?: object, direction: 'apply' | 'remove' = 'apply') => {
      const plan = await planOf(bench, config, { direction, plugin: deployer() });
      return { rows: plan?.objects.map(rowOf).map((row) => row.join(': ')), notes: plan?.notes ?? [] };
    };
    const changed = 'it has since been changed on the cluster';

    it('of a new release, with its namespace, definitions and hooks', async () => {
      const crd =
        'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: gadgets.example.org}\n' +
        'spec: {group: example.org, scope: Cluster, names: {kind: Gadget, plural: gadgets}, versions: [{name: v1}]}\n';
      const hooks = {
        'templates/h.yaml': HOOK('pre-install,post-delete', 'hook'),
        'templates/t.yaml': HOOK('test', 't'),
      };
      await start(templates());
      bench.target.drop('ConfigMap', 'app/demo-cm');
      bench.host.edit('DeployItem', 'proj/web', { status: { providerStatus: null } });
      const config = release({
        ...chart({ 'crds/x.yaml': crd, ...hooks }),
        namespace: 'fresh',
        createNamespace: true,
      });
      const { rows, notes } = await planned(config);
      expect(rows).to.deep.equal([
        'create Namespace fresh',
        'create CustomResourceDefinition gadgets.example.org',
        'create ConfigMap demo-cm',
      ]);
      expect(notes).to.deep.equal([
        'helm would create revision 1 of the release fresh/demo',
        'helm would run hooks: ConfigMap hook (pre-install, post-delete)',
      ]);
      bench.target.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } });
      expect((await planned(config)).rows).to.not.include('create Namespace fresh');
    });

    it('of the next revision, which compares chart, record and cluster', async () => {
      await start(release());
      expect(await planned()).to.deep.include({ rows: ['unchanged ConfigMap demo-cm'] });
      const upgraded = release({ values: { msg: 'new' } });
      expect((await planned(upgraded)).rows).to.deep.equal(['change ConfigMap demo-cm']);
      bench.target.edit('ConfigMap', 'app/demo-cm', { data: { msg: 'by hand' } });
      expect((await planned()).rows).to.deep.equal([`change ConfigMap demo-cm: ${changed}`]);
      expect((await planned(upgraded)).rows).to.deep.equal([`change ConfigMap demo-cm: ${changed}`]);
      bench.target.drop('ConfigMap', 'app/demo-cm');
      expect((await planned()).rows).to.deep.equal(['create ConfigMap demo-cm: it no longer exists']);
    });

    it('with the objects that belong to another release', async () => {
      await start(templates({ namespace: 'app' }));
      bench.host.edit('DeployItem', 'proj/web', { status: { providerStatus: null } });
      const refused = [
        'change ConfigMap demo-cm: problem: it already exists and belongs to no release; helm would refuse to change it',
      ];
      expect((await planned(release())).rows).to.deep.equal(refused);
      const mine = { 'meta.helm.sh/release-name': 'demo', 'meta.helm.sh/release-namespace': 'app' };
      const adopt = (annotations: object, manager = 'Helm'): void => {
        bench.target.edit('ConfigMap', 'app/demo-cm', {
          metadata: { labels: { 'app.kubernetes.io/managed-by': manager }, annotations },
        });
      };
      for (const [key, manager] of [
        ['meta.helm.sh/release-name', 'Helm'],
        ['meta.helm.sh/release-namespace', 'Helm'],
        ['', 'other'],
      ] as const) {
        adopt({ ...mine, ...(key !== '' && { [key]: 'other' }) }, manager);
        expect((await planned(release())).rows, key).to.deep.equal(refused);
      }
      adopt(mine);
      expect((await planned(release())).rows).to.deep.equal(['unchanged ConfigMap demo-cm']);
      bench.target.edit('ConfigMap', 'app/demo-cm', { data: { msg: 'by hand' } });
      const { rows } = await planned(release());
      expect(rows, 'nobody knows what it was').to.deep.equal(['change ConfigMap demo-cm']);
    });

    it('of a removal: of the recorded release, of its objects without one, or of nothing', async () => {
      await start(release());
      const remove = () => planned(undefined, 'remove');
      expect(await remove()).to.deep.equal({
        rows: ['delete ConfigMap demo-cm'],
        notes: ['helm would uninstall the release app/demo'],
      });
      await start(templates());
      expect(await remove()).to.deep.equal({ rows: ['delete ConfigMap demo-cm'], notes: [] });
      bench.configure(release());
      expect(await remove(), 'before a job has created the release').to.deep.equal({
        rows: ['delete ConfigMap demo-cm'],
        notes: [],
      });
      bench.host.edit('DeployItem', 'proj/web', { status: { providerStatus: null } });
      expect(await remove()).to.deep.equal({ rows: [], notes: [] });
    });

    it('of a change between the modes: what only the other mode has is deleted first', async () => {
      await start(release(chart({ 'templates/b.yaml': configMapOf('b') })));
      expect(await planned(templates())).to.deep.equal({
        rows: ['change ConfigMap demo-cm', 'delete ConfigMap b'],
        notes: ['helm would uninstall the release app/demo'],
      });
      await start(templates(chart({ 'templates/b.yaml': configMapOf('b') })));
      const { rows, notes } = await planned(release());
      expect(rows).to.include('delete ConfigMap b');
      expect(rows).to.include('create ConfigMap demo-cm: recreated');
      expect(notes).to.deep.equal(['helm would create revision 1 of the release app/demo']);
    });

    it('of a release with another name, whose objects are deleted', async () => {
      await start(release());
      const { rows, notes } = await planned(release({ name: 'other' }));
      expect(rows).to.deep.equal(['delete ConfigMap demo-cm', 'create ConfigMap other-cm']);
      expect(notes).to.include('helm would uninstall the release app/demo');
    });
  });

  it('that contains no object is a release without objects', async () => {
    await start(release(raw(packChart({ 'templates/n.yaml': '# none\n' }))));
    expect(bench.status().phase, problem()).to.equal('Succeeded');
    expect(records()).to.have.length(1);
  });
});
