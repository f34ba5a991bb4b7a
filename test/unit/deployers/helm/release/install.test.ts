/** Installing releases: the order of the writes, and what a failure or an interruption leaves behind. */
import { expect } from 'chai';
import { hasExpired } from '../../../../../deployers/helm/release/cluster.ts';
import { findSame, type Resource } from '../../../../../deployers/helm/release/resources.ts';
import type { Any } from '../../fake-cluster.ts';
import { chartOf, claim, config, crd, hook, job, NAMESPACE, ReleaseBench } from './release-bench.ts';

const MINE = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': 'web', 'meta.helm.sh/release-namespace': NAMESPACE },
};

describe('objects of a release', () => {
  it('are the same only in the same group', () => {
    const thing = (group: string) =>
      ({ key: 'app/t', kind: { kind: 'Thing', group } }) as unknown as Resource;
    expect(findSame([thing('a.example')], thing('b.example'))).to.equal(undefined);
    expect(findSame([thing('a.example')], thing('a.example'))).to.deep.equal(thing('a.example'));
  });
});

describe('an action on a release', () => {
  let bench: ReleaseBench;
  beforeEach(() => {
    bench = new ReleaseBench();
  });

  describe('to install', () => {
    it('stores the record, runs hooks around the objects, and records success last', async () => {
      const chart = chartOf([
        job('pre', hook('pre-install')),
        job('post', hook('post-install')),
        config('c'),
      ]);
      expect(await bench.install(chart)).to.equal('');
      const changes = bench.takeChanges();
      expect(changes.filter((change) => change.startsWith('+'))).to.deep.equal([
        '+Job pre',
        '+ConfigMap c',
        '+Job post',
      ]);
      expect([changes[0], changes.at(-1)]).to.deep.equal(['v1 pending-install', 'v1 deployed']);
      expect(changes.filter((change) => change === 'v1 deployed')).to.have.length(1);
    });

    const names = ['', '-a', 'a-', 'A', 'a_b', 'a..b', 'a'.repeat(54)];
    it('refuses names that helm refuses, and accepts the longest', async () => {
      for (const name of names) {
        const other = new ReleaseBench();
        Object.assign(other.target, { name });
        expect(await other.install(chartOf([config('c')])), name).to.contain('invalid release name');
        expect(await other.upgrade(chartOf([config('c')])), name).to.contain('release name is invalid');
        expect(await other.uninstall(), name).to.contain('Release name is invalid');
      }
      Object.assign(bench.target, { name: 'a'.repeat(53) });
      expect(await bench.install(chartOf([config('c')]))).to.equal('');
    });

    const used: readonly (readonly [string, boolean, string])[] = [
      ['deployed', true, 'in use'],
      ['pending-install', true, 'in use'],
      ['superseded', true, 'in use'],
      ['failed', false, 'in use'],
      ['uninstalled', false, 'in use'],
      ['failed', true, ''],
      ['uninstalled', true, ''],
    ];
    for (const [status, replaces, message] of used)
      it(`${message ? 'refuses' : 'replaces'} a release that is ${status} when it ${replaces ? 'may' : 'must not'} replace it`, async () => {
        bench.giveRecord(3, status);
        const result = await bench.install(chartOf([config('c')]), { replaces });
        expect(result).to.contain(message);
        if (message) expect(bench.takeChanges()).to.deep.equal([]);
        else
          expect(bench.statuses()).to.deep.equal([
            `v3 ${status === 'failed' ? 'failed' : 'superseded'}`,
            'v4 deployed',
          ]);
      });

    const odd: readonly (readonly [where: string, more: object])[] = [
      ['an annotation of an object', { v: 1.1 }],
      ['an annotation of a hook', { ...hook('post-install'), v: 1 }],
    ];
    for (const [where, more] of odd)
      it(`changes nothing if ${where} is not a string`, async () => {
        const chart = chartOf([config('ok'), config('odd', more)]);
        const message = await bench.install(chart);
        expect(message).to.contain(
          'unable to build kubernetes objects from release manifest: ConfigMap "odd"',
        );
        expect(message).to.contain('must be a string, but is a number; put it in quotes');
        expect(bench.takeChanges()).to.deep.equal([]);
      });

    it('shows templates the first revision, although its record has a later number', async () => {
      bench.giveRecord(3, 'failed');
      await bench.install(chartOf([config('c', {}, { rev: '{{ .Release.Revision }}' })]), { replaces: true });
      expect(bench.dataOf('c')).to.deep.equal({ rev: '1' });
    });

    it('creates the namespace before the record, only if it shall', async () => {
      const other = new ReleaseBench();
      Object.assign(other.target, { namespace: 'fresh' });
      expect(await other.install(chartOf([config('c')]))).to.contain('namespaces "fresh" not found');
      expect(await other.install(chartOf([config('c')]), { createsNamespace: true })).to.equal('');
      expect(other.takeChanges().slice(0, 2)).to.deep.equal(['+Namespace fresh', 'v1 pending-install']);
      expect(other.cluster.find('Namespace', 'fresh')?.metadata.labels).to.deep.equal({ name: 'fresh' });
    });

    it('creates definitions that are missing, waits for them, and changes no other', async () => {
      const established = { conditions: [{ type: 'Established', status: 'True' }] };
      bench.cluster.put({
        ...(crd('Old') as Any),
        metadata: { name: 'olds.example.com', annotations: { mine: 'yes' } },
      });
      bench.takeChanges();
      bench.cluster.establishes = false;
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } };
      const files = {
        'crds/a.yaml': JSON.stringify(crd('Old')),
        'crds/b.yaml': JSON.stringify(crd('Thing')),
      };
      let early: string[] = [];
      void bench.clock.at(5_000, () => {
        early = bench.takeChanges();
        bench.cluster.edit('CustomResourceDefinition', 'things.example.com', { status: established });
      });
      expect(await bench.install(chartOf([thing], files))).to.equal('');
      expect(early).to.deep.equal(['+CustomResourceDefinition things.example.com']);
      expect(bench.takeChanges()).to.include('+Thing t');
      expect(
        bench.cluster.find('CustomResourceDefinition', 'olds.example.com')?.metadata.annotations,
      ).to.deep.equal({ mine: 'yes' });
    });

    const waiting = () => {
      bench.cluster.establishes = false;
      const files = { 'crds/b.yaml': JSON.stringify(crd('Thing')) };
      return bench.install(chartOf([config('c')], files));
    };
    const condition = (type: string, status: string) => ({
      status: { conditions: [{ type, status, reason: 'R', message: 'm' }] },
    });

    it('fails before the record if a definition is not established within a minute', async () => {
      void bench.clock.at(1_000, () => {
        bench.cluster.edit(
          'CustomResourceDefinition',
          'things.example.com',
          condition('Established', 'False'),
        );
      });
      expect(await waiting()).to.equal(
        'CustomResourceDefinition things.example.com: the kind is not served after 1m0s: its condition Established is False: R: m',
      );
      expect(hasExpired(bench.failure)).to.equal(true);
      expect(bench.clock.now()).to.be.within(60_000, 64_000);
      expect(bench.takeChanges()).to.not.include('v1 pending-install');
    });

    it('goes on if the names of a definition are not accepted, as helm does', async () => {
      void bench.clock.at(1_000, () => {
        bench.cluster.edit(
          'CustomResourceDefinition',
          'things.example.com',
          condition('NamesAccepted', 'False'),
        );
      });
      expect(await waiting()).to.equal('');
      expect(bench.takeChanges()).to.include('+ConfigMap c');
      expect(bench.clock.now()).to.be.lessThan(4_000);
    });

    it('fails if a definition is deleted while it waits', async () => {
      const key = 'things.example.com';
      const kind = await bench.cluster.kindOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
      void bench.clock.at(1_000, () => void bench.cluster.send({ verb: 'delete', kind, key }));
      expect(await waiting()).to.match(/^CustomResourceDefinition things.example.com: .* not found$/);
    });

    it('stops waiting for a definition when it is interrupted', async () => {
      const reason = new Error('interrupted');
      void bench.clock.at(1_000, () => {
        bench.abort.abort(reason);
      });
      await waiting();
      expect(bench.failure).to.equal(reason);
      expect(bench.clock.now()).to.be.lessThan(4_000);
      expect(bench.takeChanges()).to.deep.equal(['+CustomResourceDefinition things.example.com']);
    });

    it('shows templates the kinds of its own definitions, and checks all objects before it creates one', async () => {
      const files = {
        'crds/a.yaml': JSON.stringify(crd('Thing')),
        'templates/t.yaml':
          '{{ if .Capabilities.APIVersions.Has "example.com/v1/Thing" }}apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n{{ end }}',
      };
      const odd = await bench.install(chartOf([config('odd', { x: 1 })], files));
      expect(odd).to.contain('must be a string');
      const unknown = { apiVersion: 'example.com/v1', kind: 'Other', metadata: { name: 'o' } };
      expect(await bench.install(chartOf([unknown], files))).to.contain('no matches for kind "Other"');
      const failing = { ...files, 'templates/f.yaml': '{{ fail "no" }}' };
      expect(await bench.install(chartOf([], failing))).to.contain('no');
      const damaged = { ...files, 'crds/b.yaml': 'a: [' };
      expect(await bench.install(chartOf([], damaged))).to.contain('failed to install CRD crds/b.yaml');
      expect(bench.takeChanges()).to.deep.equal([]);
      expect(await bench.install(chartOf([], files))).to.equal('');
      expect(bench.takeChanges()).to.include('+Thing t');
    });

    it('names the file of a definition that cannot be created', async () => {
      bench.refuse('create CustomResourceDefinition things.example.com');
      const files = { 'crds/b.yaml': JSON.stringify(crd('Thing')) };
      expect(await bench.install(chartOf([config('c')], files))).to.equal(
        'failed to install CRD crds/b.yaml: no create',
      );
      expect(bench.takeChanges()).to.deep.equal([]);
    });

    const ownership: readonly (readonly [string, object, string])[] = [
      ['has no label', { annotations: MINE.annotations }, 'missing key "app.kubernetes.io/managed-by"'],
      [
        'has another label',
        { ...MINE, labels: { 'app.kubernetes.io/managed-by': 'me' } },
        'current value is "me"',
      ],
      [
        'belongs to another release',
        { ...MINE, annotations: { ...MINE.annotations, 'meta.helm.sh/release-name': 'b' } },
        'must equal "web": current value is "b"',
      ],
      [
        'belongs to a release in another namespace',
        { ...MINE, annotations: { ...MINE.annotations, 'meta.helm.sh/release-namespace': 'b' } },
        'must equal "app": current value is "b"',
      ],
    ];
    for (const [title, metadata, message] of ownership)
      it(`refuses an object that ${title}, before it changes anything, and takes it over if it shall`, async () => {
        bench.place('c', metadata, { theirs: '1' });
        const chart = chartOf([config('c')]);
        expect(await bench.install(chart))
          .to.contain('exists and cannot be imported')
          .and.contain(message);
        expect(bench.takeChanges()).to.deep.equal([]);
        expect(await bench.install(chart, { takesOwnership: true })).to.equal('');
        expect(bench.dataOf('c')).to.deep.equal({ a: 'b', theirs: '1' });
      });

    it('names a cluster-scoped object of others without a namespace', async () => {
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
      bench.cluster.put({ ...role, metadata: { name: 'r' } });
      const inChart = { ...role, metadata: { name: 'r', namespace: 'some' } };
      expect(await bench.install(chartOf([inChart]))).to.contain('ClusterRole "r" in namespace "" exists');
    });

    it('names each kind once that the target does not serve', async () => {
      const unknown = (kind: string) => ({ apiVersion: 'none/v1', kind, metadata: { name: 'x' } });
      const message = await bench.install(chartOf([unknown('A'), unknown('A'), unknown('B')]));
      expect(message.match(/no matches for kind "A"/g)).to.have.length(1);
      expect(message.match(/no matches for kind "B"/g)).to.have.length(1);
    });

    it('takes over the objects that are its own already, and creates the others', async () => {
      bench.place('c', MINE, { theirs: '1' });
      expect(await bench.install(chartOf([config('c'), config('d')]))).to.equal('');
      expect(bench.takeChanges()).to.include.members(['~ConfigMap c', '+ConfigMap d']);
    });

    it('repairs a custom resource that it takes over, and leaves alone one that is its own', async () => {
      bench.cluster.put(crd('Thing') as Any);
      const thing = {
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: { name: 't' },
        spec: { size: 1 },
      };
      const sizeAfter = async (metadata: object, settings: object): Promise<unknown> => {
        bench.cluster.put({
          ...thing,
          metadata: { name: 't', namespace: NAMESPACE, ...metadata },
          spec: { size: 9 },
        });
        expect(await bench.install(chartOf([thing]), settings)).to.equal('');
        return bench.cluster.find('Thing', `${NAMESPACE}/t`)?.['spec'];
      };
      expect(await sizeAfter({}, { takesOwnership: true })).to.deep.equal({ size: 1 });
      await bench.uninstall();
      expect(await sizeAfter(MINE, {})).to.deep.equal({ size: 9 });
    });

    it('waits for the objects only if it shall, and no longer than the timeout', async () => {
      const chart = chartOf([claim('data')]);
      expect(await bench.install(chart)).to.equal('');
      expect(bench.clock.now()).to.equal(0);
      const other = new ReleaseBench();
      expect(await other.install(chart, { waits: true, timeoutMs: 7_000 })).to.equal(
        'context deadline exceeded',
      );
      expect(other.clock.now()).to.be.within(7_000, 9_000);
      expect(other.statuses()).to.deep.equal(['v1 failed']);
    });

    it('that fails uninstalls everything if it is atomic', async () => {
      const chart = chartOf([config('c'), claim('data')]);
      const message = await bench.install(chart, { waits: true, isAtomic: true });
      expect(message).to.equal(
        'release web failed, and has been uninstalled due to atomic being set: context deadline exceeded',
      );
      expect([...bench.cluster.names('ConfigMap'), ...bench.statuses()]).to.deep.equal([]);
    });

    it('that fails and cannot be undone names both errors', async () => {
      bench.refuse('delete ConfigMap c');
      const message = await bench.install(chartOf([config('c'), claim('data')]), {
        waits: true,
        isAtomic: true,
      });
      expect(message).to.contain('an error occurred while uninstalling the release');
      expect(message)
        .to.contain('original install error: context deadline exceeded')
        .and.contain('no delete');
    });

    it('that fails and cannot record it keeps its error', async () => {
      bench.refuse('create ConfigMap c', 'replace Secret sh.helm.release.v1.web.v1');
      expect(await bench.install(chartOf([config('c')]))).to.contain('no create');
      expect(bench.warnings).to.deep.equal(['failure of the release cannot be recorded']);
    });

    it('lists all objects that the server refuses', async () => {
      bench.refuse('create ConfigMap a', 'create ConfigMap c');
      const message = await bench.install(chartOf([config('a'), config('b'), config('c')]));
      expect(message).to.contain('2 errors occurred:\n\t* no create\n\t* no create');
      expect(bench.takeChanges()).to.include('+ConfigMap b');
    });
  });

  describe('that is interrupted', () => {
    it('is recorded as failed, not undone', async () => {
      bench.ends['slow'] = 'stays';
      const action = bench.install(chartOf([job('slow', hook('pre-install', 'hook-failed'))]), {
        isAtomic: true,
      });
      await bench.clock.advance(3_000);
      bench.abort.abort(new Error('stop'));
      expect(await action).to.equal('stop');
      expect(bench.statuses()).to.deep.equal(['v1 failed']);
      expect(bench.cluster.names('Job')).to.deep.equal([`${NAMESPACE}/slow`]);
      expect(bench.clock.pending, 'timers that are left').to.equal(0);
    });

    it('and cannot be recorded ends with the interruption', async () => {
      bench.ends['slow'] = 'stays';
      const action = bench.install(chartOf([job('slow', hook('pre-install'))]));
      await bench.clock.advance(3_000);
      bench.refuse('replace Secret sh.helm.release.v1.web.v1');
      bench.abort.abort(new Error('stop'));
      expect(await action).to.equal('stop');
      expect(bench.warnings).to.deep.equal(['interrupted action cannot be recorded']);
    });
  });
});
