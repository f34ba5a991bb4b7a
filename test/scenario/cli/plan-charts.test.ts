/** Plans for installed charts: changes by new values, objects removed from a chart, deletion. */
import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP, operations } from '../../../src/api/labels.ts';
import { configMapKind, secretKind } from '../../../src/landscape/world.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { useCluster } from '../../support/cluster.ts';
import { useCommandLine } from '../../support/command-line.ts';
import { c1, configMapOf, packChart, raw } from '../../support/helm-charts.ts';
import type { Scene } from '../../support/scene.ts';
import { helmConfig } from '../../unit/deployers/bench.ts';

/** The objects that an upgrade adds and removes; one of them stays because of its policy. */
const many = (...names: readonly string[]): Buffer =>
  c1(Object.fromEntries(names.map((name) => [`templates/${name}.yaml`, template(name)])));
const KEEP = 'data: {a: b}\n';
const template = (name: string): string =>
  name === 'kept'
    ? `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n  annotations: {helm.sh/resource-policy: keep}\n${KEEP}`
    : configMapOf(name);
const password = packChart({
  'templates/s.yaml':
    'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  password: {{ .Values.password }}\n',
});

describe('espalier plan for installed charts', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['helm'] });
  const espalier = useCommandLine(() => scenes.cluster.kubeconfig);

  const client = () => scenes.cluster.client;
  const chart = (scene: Scene, fields: object): object => helmConfig({ namespace: scene.ns, ...fields });

  async function plan(scene: Scene, ...args: string[]): Promise<{ code: number; lines: readonly string[] }> {
    const { code, errors, output } = await espalier.run('plan', 'chart', '-n', scene.ns, ...args);
    expect(errors).to.equal('');
    return { code, lines: output.split('\n') };
  }

  /** Gives the item a job, and waits for its end. */
  async function job(scene: Scene): Promise<void> {
    const key = `${scene.ns}/chart`;
    const before = (await client().get(deployItemKind, key)).status?.jobID;
    await scene.annotate(deployItemKind, 'chart', { [annotations.operation]: operations.testReconcile });
    const ended = await scene.until('the job of the item has ended', () => {
      const { status } = scenes.cluster.world.deployItems.get(key) ?? {};
      return status?.jobID !== before && status?.jobIDFinished === status?.jobID && status;
    });
    expect(ended.phase, ended.lastError?.message).to.equal('Succeeded');
  }

  async function installed(fields: object): Promise<Scene> {
    const scene = await scenes.scene();
    const create = (kind: Kind, name: string, spec: object): Promise<Obj> => {
      const metadata = { name, namespace: scene.ns };
      const object = { apiVersion: API_VERSION, kind: kind.kind, metadata, spec };
      return client().send({ verb: 'create', kind, object });
    };
    const config = { kubeconfig: scenes.cluster.kubeconfig };
    await create(targetKind, 'cluster', { type: `${GROUP}/kubernetes-cluster`, config });
    const type = `${GROUP}/helm`;
    const target = { name: 'cluster', namespace: scene.ns };
    await create(deployItemKind, 'chart', { type, target, config: chart(scene, fields) });
    await job(scene);
    return scene;
  }

  const configure = (scene: Scene, fields: object): Promise<unknown> =>
    client().send({
      verb: 'json',
      kind: deployItemKind,
      key: `${scene.ns}/chart`,
      ops: [{ op: 'add', path: '/spec/config', value: chart(scene, fields) }],
    } as never);
  const configMap = (scene: Scene, name: string): Promise<unknown> =>
    getIfThere(client(), configMapKind, `${scene.ns}/${name}`);

  const modes = [
    { title: 'applied by the deployer', helmDeployment: false },
    { title: 'installed as a release', helmDeployment: true },
  ];
  for (const { title, helmDeployment } of modes) {
    describe(`the chart is ${title}`, () => {
      const of = (chartOf: Buffer, values: object): object => ({ helmDeployment, ...raw(chartOf), values });

      it('reports no changes after a job, and exits with 0', async () => {
        const scene = await installed(of(c1(), { msg: 'a' }));
        const { code, lines } = await plan(scene, '--exit-code');
        expect(lines).to.include.members([
          `  = ConfigMap ${scene.ns}/demo-cm`,
          'Plan: 0 to create, 0 to change, 0 to delete, 1 unchanged',
        ]);
        expect(code).to.equal(0);
      });

      it('predicts exactly what new values change', async () => {
        const scene = await installed(of(many('old', 'both'), { msg: 'a' }));
        await configure(scene, of(many('both', 'new'), { msg: 'b' }));
        const { code, lines } = await plan(scene, '--exit-code');
        expect(lines).to.include.members([
          `  ~ ConfigMap ${scene.ns}/demo-cm`,
          '      ~ data.msg: "a" → "b"',
          `  = ConfigMap ${scene.ns}/both`,
          `  + ConfigMap ${scene.ns}/new`,
          `  - ConfigMap ${scene.ns}/old`,
          'Plan: 1 to create, 1 to change, 1 to delete, 1 unchanged',
        ]);
        expect(code).to.equal(2);
        expect(await configMap(scene, 'old')).to.have.property('kind');
        await job(scene);
        expect(await configMap(scene, 'demo-cm')).to.have.deep.property('data', { msg: 'b' });
        expect(await configMap(scene, 'new')).to.have.property('kind');
        expect(await configMap(scene, 'old')).to.equal(undefined);
        const after = await plan(scene, '--exit-code');
        expect(after.code, after.lines.join('\n')).to.equal(0);
      });

      it('shows objects that a user has changed or deleted', async () => {
        const scene = await installed(of(many('lost'), { msg: 'a' }));
        const body = { data: { msg: 'by hand' } };
        await client().send({ verb: 'merge', kind: configMapKind, key: `${scene.ns}/demo-cm`, body });
        await client().send({ verb: 'delete', kind: configMapKind, key: `${scene.ns}/lost` });
        const { lines } = await plan(scene);
        expect(lines).to.include('      ~ data.msg: "by hand" → "a"');
        expect(lines.join('\n')).to.contain(`+ ConfigMap ${scene.ns}/lost`);
        await job(scene);
        expect(await configMap(scene, 'demo-cm')).to.have.deep.property('data', { msg: 'a' });
        expect(await configMap(scene, 'lost')).to.have.property('kind');
      });

      it('shows what a deletion removes, and changes nothing', async () => {
        const scene = await installed(of(many('other'), { msg: 'a' }));
        const { code, lines } = await plan(scene, '--delete', '--exit-code');
        expect(lines).to.include.members([
          `  - ConfigMap ${scene.ns}/demo-cm`,
          `  - ConfigMap ${scene.ns}/other`,
          'Plan: 0 to create, 0 to change, 2 to delete, 0 unchanged',
        ]);
        expect(code).to.equal(2);
        expect(await configMap(scene, 'other')).to.have.property('kind');
        if (helmDeployment) expect(lines).to.include(`  ! helm would uninstall the release ${scene.ns}/demo`);
      });

      it(`${helmDeployment ? 'keeps' : 'deletes'} an object with helm's policy "keep"${helmDeployment ? '' : ': the policy of the item counts'}`, async () => {
        const scene = await installed(of(many('kept'), { msg: 'a' }));
        const text = (await plan(scene, '--delete')).lines.join('\n');
        expect(text).to.contain(`${helmDeployment ? '=' : '-'} ConfigMap ${scene.ns}/kept`);
        await client().send({ verb: 'delete', kind: deployItemKind, key: `${scene.ns}/chart` });
        await scene.annotate(deployItemKind, 'chart', { [annotations.operation]: operations.testReconcile });
        await scene.until(
          'the item is gone',
          () => !scenes.cluster.world.deployItems.get(`${scene.ns}/chart`),
        );
        expect((await configMap(scene, 'kept')) !== undefined).to.equal(helmDeployment);
      });

      it('shows that a secret changes, without its content', async () => {
        const scene = await installed(of(password, { password: 'first-one' }));
        await configure(scene, of(password, { password: 'second-one' }));
        for (const args of [[], ['-d'], ['-o', 'json'], ['--delete', '-d']]) {
          const text = (await plan(scene, ...args)).lines.join('\n');
          expect(text)
            .to.contain('Secret')
            .and.not.match(/first-one|second-one/);
          for (const word of ['first-one', 'second-one'])
            expect(text).not.to.contain(Buffer.from(word).toString('base64'));
        }
        expect((await plan(scene)).lines.join('\n')).to.match(
          /~ (string)?[dD]ata\.password: \*\*\* → \*\*\*/,
        );
      });

      it('fails where the job would fail, with the same message', async () => {
        const scene = await installed(of(c1(), { msg: 'a' }));
        const broken = packChart({ 'templates/x.yaml': '{{ fail "no good" }}' });
        await configure(scene, of(broken, {}));
        const { code, lines } = await plan(scene);
        expect(code).to.equal(1);
        expect(lines.join('\n')).to.contain('✖').and.contain('no good');
      });

      it('shows which objects of the other mode are deleted', async () => {
        const scene = await installed(of(many('old'), { msg: 'a' }));
        await configure(scene, { ...of(c1(), { msg: 'b' }), helmDeployment: !helmDeployment });
        const { code, lines } = await plan(scene);
        expect(code, lines.join('\n')).to.equal(0);
        expect(lines).to.include(`  - ConfigMap ${scene.ns}/old`);
        expect(lines.join('\n')).to.match(/[~+] ConfigMap \S+\/demo-cm/);
        await job(scene);
        expect(await configMap(scene, 'old')).to.equal(undefined);
        expect(await configMap(scene, 'demo-cm')).to.have.deep.property('data', { msg: 'b' });
      });
    });
  }

  describe("and helm's own rules apply", () => {
    const of = (chartOf: Buffer, more: object = {}): object => ({
      helmDeployment: true,
      values: { msg: 'a' },
      ...raw(chartOf),
      ...more,
    });

    it('takes lists apart', async () => {
      const two =
        'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: l1}}\n';
      const scene = await installed(
        of(c1({ 'templates/l.yaml': `${two}- {apiVersion: v1, kind: ConfigMap, metadata: {name: l2}}\n` })),
      );
      await configure(scene, of(c1({ 'templates/l.yaml': two })));
      expect((await plan(scene)).lines).to.include.members([
        `  = ConfigMap ${scene.ns}/l1`,
        `  - ConfigMap ${scene.ns}/l2`,
      ]);
    });

    it('names the revision, and the hooks that would run', async () => {
      const scene = await installed(of(c1()));
      const hook = configMapOf('hooked').replace(
        'metadata:\n',
        'metadata:\n  annotations: {helm.sh/hook: "pre-upgrade,post-install"}\n',
      );
      await configure(scene, of(c1({ 'templates/hook.yaml': hook })));
      const { lines } = await plan(scene);
      expect(lines).to.include.members([
        `  ! helm would create revision 2 of the release ${scene.ns}/demo`,
        '  ! helm would run hooks: ConfigMap hooked (pre-upgrade, post-install)',
      ]);
      expect(lines.join('\n')).not.to.contain(`+ ConfigMap ${scene.ns}/hooked`);
    });

    it('keeps an object with the policy keep that is removed from the chart', async () => {
      const scene = await installed(of(many('kept', 'gone')));
      const kept = `  = ConfigMap ${scene.ns}/kept (helm.sh/resource-policy keeps it)`;
      await configure(scene, of(c1()));
      expect((await plan(scene)).lines).to.include.members([kept, `  - ConfigMap ${scene.ns}/gone`]);
      await job(scene);
      expect(await configMap(scene, 'kept')).to.have.property('kind');
      expect(await configMap(scene, 'gone')).to.equal(undefined);
    });

    it('refuses objects of another owner, as helm does', async () => {
      const scene = await installed(of(c1()));
      const metadata = { name: 'new', namespace: scene.ns };
      const object = { apiVersion: 'v1', kind: 'ConfigMap' as const, metadata };
      await client().send({ verb: 'create', kind: configMapKind, object });
      await configure(scene, of(many('new')));
      const { code, lines } = await plan(scene);
      expect(code).to.equal(1);
      expect(lines.join('\n')).to.contain('belongs to no release; helm would refuse to change it');
      const upgrade = { takeOwnership: true };
      await configure(scene, of(many('new'), { helmDeploymentConfig: { upgrade } }));
      expect((await plan(scene)).code).to.equal(0);
      await job(scene);
    });

    it('deletes a release whose name changes, and creates another one', async () => {
      const scene = await installed(of(c1()));
      await configure(scene, of(c1(), { name: 'other' }));
      expect((await plan(scene)).lines).to.include.members([
        `  - ConfigMap ${scene.ns}/demo-cm`,
        `  + ConfigMap ${scene.ns}/other-cm`,
        `  ! helm would uninstall the release ${scene.ns}/demo`,
        `  ! helm would create revision 1 of the release ${scene.ns}/other`,
      ]);
      await job(scene);
      expect(await configMap(scene, 'demo-cm')).to.equal(undefined);
    });

    it('creates a namespace and CRDs with the first revision only', async () => {
      const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: seeds.plan.example.org}
spec:
  group: plan.example.org
  scope: Namespaced
  names: {kind: Seed, plural: seeds, singular: seed, listKind: SeedList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;
      const chartOf = c1({ 'crds/seeds.yaml': definition });
      const scene = await installed(of(c1()));
      const elsewhere = `${scene.ns}-x`;
      await configure(scene, of(chartOf, { name: 'first', namespace: elsewhere, createNamespace: true }));
      expect((await plan(scene)).lines).to.include.members([
        `  + Namespace ${elsewhere}`,
        '  + CustomResourceDefinition seeds.plan.example.org',
        `  + ConfigMap ${elsewhere}/first-cm`,
      ]);
      await configure(scene, of(chartOf));
      expect((await plan(scene)).lines.join('\n')).not.to.contain('CustomResourceDefinition');
    });

    it('finds a release even if the status of its item is lost', async () => {
      const scene = await installed(of(c1()));
      const ops = [{ op: 'remove', path: '/status/providerStatus' }];
      const key = `${scene.ns}/chart`;
      await client().send({ verb: 'json', kind: deployItemKind, key, sub: 'status', ops } as never);
      const { lines } = await plan(scene, '--delete');
      expect(lines).to.include(`  - ConfigMap ${scene.ns}/demo-cm`);
    });

    it('ignores an action that was interrupted', async () => {
      const scene = await installed(of(c1()));
      const key = `${scene.ns}/sh.helm.release.v1.demo.v1`;
      const body = { metadata: { labels: { status: 'pending-install' } } };
      await client().send({ verb: 'merge', kind: secretKind, key, body });
      const { lines } = await plan(scene);
      expect(lines).to.include(`  ! helm would create revision 1 of the release ${scene.ns}/demo`);
    });
  });
});
