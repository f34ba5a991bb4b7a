import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { WRITES } from '../../../src/apiserver/http/audit.ts';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { installationContext, objectName } from '../../../src/dataflow/scope.ts';
import { configMapKind, secretKind } from '../../../src/landscape/world.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import { c1, raw } from '../../support/helm-charts.ts';
import { helmConfig } from '../../unit/deployers/bench.ts';
import { child, rendersItself, root } from '../../support/landscape.ts';
import { useCluster } from '../../support/cluster.ts';
import { useCommandLine } from '../../support/command-line.ts';
import { skip } from '../../support/skip.ts';
import type { Scene } from '../../support/scene.ts';
import type { FakeTerminal } from '../../unit/cli/terminal.ts';

/** Deploys a ConfigMap and a Secret; a sub-installation deploys another ConfigMap. */
const blueprint = {
  apiVersion: API_VERSION,
  kind: 'Blueprint',
  imports: [
    { name: 'settings', type: 'data', schema: { type: 'object' } },
    { name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` },
  ],
  subinstallations: [
    {
      apiVersion: API_VERSION,
      kind: 'InstallationTemplate',
      name: 'inner',
      blueprint: {
        filesystem: {
          'blueprint.yaml': `
apiVersion: ${API_VERSION}
kind: Blueprint
imports:
  - {name: settings, type: data, schema: {type: object}}
  - {name: cluster, type: target, targetType: ${GROUP}/kubernetes-cluster}
deployExecutions:
  - name: default
    type: GoTemplate
    template: |
      deployItems:
        - name: deep
          type: ${GROUP}/kubernetes-manifest
          target: {import: cluster}
          config:
            apiVersion: manifest.deployer.${GROUP}/v1alpha2
            kind: ProviderConfiguration
            updateStrategy: update
            manifests:
              - policy: manage
                manifest:
                  apiVersion: v1
                  kind: ConfigMap
                  metadata: {name: deep, namespace: {{ .imports.settings.namespace }}}
                  data: {color: {{ .imports.settings.color }}}
`,
        },
      },
      imports: {
        data: [{ name: 'settings', dataRef: 'settings' }],
        targets: [{ name: 'cluster', target: 'cluster' }],
      },
    },
  ],
  deployExecutions: [
    {
      name: 'default',
      type: 'GoTemplate',
      template: `
deployItems:
  - name: web
    type: ${GROUP}/kubernetes-manifest
    target: {import: cluster}
    config:
      apiVersion: manifest.deployer.${GROUP}/v1alpha2
      kind: ProviderConfiguration
      updateStrategy: update
      manifests:
        - policy: manage
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: web, namespace: {{ .imports.settings.namespace }}}
            data: {color: {{ .imports.settings.color }}, same: "yes"}
        - policy: manage
          manifest:
            apiVersion: v1
            kind: Secret
            metadata: {name: web, namespace: {{ .imports.settings.namespace }}}
            stringData: {password: pass-of-{{ .imports.settings.color }}}
{{- range .imports.settings.more }}
        - policy: manage
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: {{ . }}, namespace: {{ $.imports.settings.namespace }}}
{{- end }}
`,
    },
  ],
};

describe('espalier plan', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['manifest', 'mock'] });
  const commandLine = useCommandLine(() => scenes.cluster.kubeconfig);

  async function espalier(
    scene: Scene,
    ...args: string[]
  ): Promise<{ code: number; terminal: FakeTerminal }> {
    const terminal = await commandLine.run('plan', 'app', '-n', scene.ns, ...args);
    return { code: terminal.code, terminal };
  }

  const create = (kind: Kind, scene: Scene, name: string, more: object): Promise<Obj> => {
    const apiVersion = kind.group === '' ? 'v1' : API_VERSION;
    const object = { apiVersion, kind: kind.kind, metadata: { name, namespace: scene.ns }, ...more };
    return scenes.cluster.client.send({ verb: 'create', kind, object });
  };

  async function given(settings: object): Promise<Scene> {
    const scene = await scenes.scene();
    await create(dataObjectKind, scene, 'settings', { data: { namespace: scene.ns, ...settings } });
    const config = { kubeconfig: scenes.cluster.kubeconfig };
    await create(targetKind, scene, 'cluster', { spec: { type: `${GROUP}/kubernetes-cluster`, config } });
    await create(installationKind, scene, 'app', {
      spec: {
        blueprint: { inline: { filesystem: { 'blueprint.yaml': JSON.stringify(blueprint) } } },
        imports: {
          data: [{ name: 'settings', dataRef: 'settings' }],
          targets: [{ name: 'cluster', target: 'cluster' }],
        },
      },
    });
    return scene;
  }

  async function installed(settings: object): Promise<Scene> {
    const scene = await given(settings);
    await scene.operation('app', 'reconcile');
    await scene.finished('app', 'Succeeded');
    return scene;
  }

  const set = (scene: Scene, data: object): Promise<unknown> =>
    scenes.cluster.client.send({
      verb: 'merge',
      kind: dataObjectKind,
      key: `${scene.ns}/settings`,
      body: { data },
    });

  it('shows before the first job what it would create, also in sub-installations', async () => {
    const scene = await given({ color: 'red' });
    const { code, terminal } = await espalier(scene, '--exit-code');
    expect(terminal.errors).to.equal('');
    expect(terminal.output).to.equal(
      [
        'DeployItem app/web on target cluster, new',
        `  + ConfigMap ${scene.ns}/web`,
        `  + Secret ${scene.ns}/web`,
        '',
        'DeployItem app/inner/deep on target cluster, new',
        `  + ConfigMap ${scene.ns}/deep`,
        '',
        'Plan: 3 to create, 0 to change, 0 to delete, 0 unchanged',
        '',
      ].join('\n'),
    );
    expect(code).to.equal(2);
  });

  it('ends where a blueprint renders itself too often', async () => {
    const scene = await scenes.scene();
    await scene.create(root('app', { annotations: {}, more: rendersItself }));
    const { terminal } = await espalier(scene);
    // The root's blueprint is written in another form than those of its sub-installations.
    const deepest = `app${'/again'.repeat(defaults.limits.treeRecursion + 2)}`;
    const said = terminal.errors + terminal.output;
    expect(said).to.contain(deepest).and.contain('limits.treeRecursion').and.not.contain(`${deepest}/again`);
  });

  it('ends where the tree would have too many objects, and reports it once', async () => {
    const scene = await scenes.scene();
    const children = Array.from({ length: 5 }, (_, i) => child(`part-${i}`));
    await scene.create(root('app', { annotations: {}, children }));
    const config = commandLine.write('config.yaml', 'limits: {treeObjects: 3}');
    const { terminal } = await espalier(scene, '--config', config);
    const said = terminal.errors + terminal.output;
    expect(said)
      .to.contain('app/part-2')
      .and.contain('more than 3 objects')
      .and.contain('limits.treeObjects');
    expect(said).to.not.contain('app/part-3');
  });

  it('reports no changes after the job, and exits with 0', async () => {
    const scene = await installed({ color: 'red' });
    const { code, terminal } = await espalier(scene, '--exit-code');
    expect(terminal.output).to.contain('Plan: 0 to create, 0 to change, 0 to delete, 3 unchanged');
    expect(code).to.equal(0);
  });

  it('counts removed annotations of users, but not those that the cluster sets again', async () => {
    const scene = await installed({ color: 'red' });
    const annotate = (manager: string, key: string): Promise<Obj> =>
      scenes.cluster.client.send({
        verb: 'apply',
        kind: configMapKind,
        manager,
        force: false,
        object: {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'web', namespace: scene.ns, annotations: { [key]: '1' } },
        },
      });
    await annotate('kube-controller-manager', 'deployment.kubernetes.io/revision');
    const restored = await espalier(scene, '--exit-code');
    expect(restored.terminal.output).to.contain(
      `= ConfigMap ${scene.ns}/web (the job removes metadata.annotations[deployment.kubernetes.io/revision], ` +
        'which kube-controller-manager sets again)',
    );
    expect(restored.code).to.equal(0);
    await annotate('kubectl', 'example.org/team');
    const { code, terminal } = await espalier(scene, '--exit-code');
    expect(code).to.equal(2);
    expect(terminal.output)
      .to.contain('- metadata.annotations[example.org/team]: "1"')
      .and.not.contain('- metadata.annotations[deployment.kubernetes.io/revision]');
  });

  it('shows what a changed import would change, create and delete, without secrets', async () => {
    const scene = await installed({ color: 'red', more: ['old', 'both'] });
    await set(scene, { color: 'blue', more: ['both', 'new'] });
    await scene.until('the import is in view', () =>
      JSON.stringify(scene.dataObject('settings')?.data).includes('blue'),
    );
    const { code, terminal } = await espalier(scene);
    expect(code, terminal.errors + terminal.output).to.equal(0);
    const lines = terminal.output.split('\n');
    expect(lines[0]).to.equal('DeployItem app/web on target cluster, its configuration changes');
    expect(lines).to.include.members([
      `  ~ ConfigMap ${scene.ns}/web`,
      '      ~ data.color: "red" → "blue"',
      `  ~ Secret ${scene.ns}/web`,
      '      ~ data.password: *** → ***',
      `  = ConfigMap ${scene.ns}/both`,
      `  + ConfigMap ${scene.ns}/new`,
      `  - ConfigMap ${scene.ns}/old`,
      'Plan: 1 to create, 3 to change, 1 to delete, 1 unchanged',
    ]);
    expect(terminal.output).to.not.contain('pass-of');
    expect(terminal.output).to.not.contain(Buffer.from('pass-of-blue').toString('base64'));
  });

  it('shows objects that a user has changed or deleted', async () => {
    const scene = await installed({ color: 'red' });
    const { client } = scenes.cluster;
    const body = { data: { color: 'green', added: 'x' } };
    await client.send({ verb: 'merge', kind: configMapKind, key: `${scene.ns}/web`, body });
    await client.send({ verb: 'delete', kind: secretKind, key: `${scene.ns}/web` });
    const { terminal } = await espalier(scene);
    expect(terminal.output.split('\n')).to.include.members([
      `  ~ ConfigMap ${scene.ns}/web`,
      '      - data.added: "x"',
      '      ~ data.color: "green" → "red"',
      `  + Secret ${scene.ns}/web`,
    ]);
  });

  it('shows what a deletion would delete', async () => {
    const scene = await installed({ color: 'red' });
    const { code, terminal } = await espalier(scene, '--delete');
    expect(terminal.output.split('\n')).to.include.members([
      `  - ConfigMap ${scene.ns}/web`,
      `  - Secret ${scene.ns}/web`,
      `  - ConfigMap ${scene.ns}/deep`,
    ]);
    expect(code).to.equal(0);
  });

  it('names objects that items of other namespaces manage as well, and does not delete them', async () => {
    const scene = await installed({ color: 'red' });
    const { client } = scenes.cluster;
    const { metadata } = await client.get(configMapKind, `${scene.ns}/web`);
    const elsewhere = await scenes.scene();
    const other = await create(deployItemKind, elsewhere, 'other', {
      spec: { type: 'test.example/fake', config: { apiVersion: 'test.example/v1', kind: 'Cfg' } },
    });
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 'web', uid: metadata.uid };
    await client.send<Obj>({
      verb: 'replace',
      kind: deployItemKind,
      sub: 'status',
      object: {
        ...other,
        status: { observedGeneration: 1, providerStatus: { managedResources: [{ resource }] } },
      } as Obj,
    });
    const next = await espalier(scene);
    const web = `ConfigMap ${scene.ns}/web`;
    expect(next.terminal.output).to.contain(
      `${web} is also managed by other deploy items: ${elsewhere.ns}/other`,
    );
    const { terminal } = await espalier(scene, '--delete', '--show-details');
    expect(terminal.output).to.contain(`other deploy items also manage it: ${elsewhere.ns}/other`);
    expect(terminal.output).to.not.contain(`- ${web}`);
  });

  it('deletes nothing, not even in sub-installations, if everything is to be left in place', async () => {
    const scene = await installed({ color: 'red' });
    await scenes.cluster.client.send({
      verb: 'merge',
      kind: installationKind,
      key: `${scene.ns}/app`,
      body: { metadata: { annotations: { [annotations.deleteWithoutUninstall]: 'true' } } },
    });
    const { terminal } = await espalier(scene, '--delete');
    expect(terminal.output).to.contain('DeployItem app/inner/deep on target cluster, goes');
    expect(terminal.output).to.contain('Plan: 0 to create, 0 to change, 0 to delete');
  });

  it('prints the same as JSON, with fields, and without secrets', async () => {
    const scene = await installed({ color: 'red' });
    await set(scene, { color: 'blue' });
    await scene.until('the import is in view', () =>
      JSON.stringify(scene.dataObject('settings')?.data).includes('blue'),
    );
    const { terminal } = await espalier(scene, '-o', 'json');
    const { items, summary } = JSON.parse(terminal.output) as {
      items: { path: string; objects: { kind: string; change: string; fields: unknown }[] }[];
      summary: object;
    };
    expect(summary).to.include({ change: 3, create: 0, problems: 0 });
    const web = items.find(({ path }) => path === 'app/web');
    expect(web?.objects.map(({ kind, change, fields }) => [kind, change, fields])).to.deep.equal([
      ['ConfigMap', 'change', [{ path: 'data.color', before: 'red', after: 'blue' }]],
      ['Secret', 'change', [{ path: 'data.password', before: '***', after: '***' }]],
    ]);
  });

  it('plans a single deploy item', async () => {
    const scene = await installed({ color: 'red' });
    const name = scene.item('app', 'web')?.metadata.name ?? '';
    await scenes.cluster.client.send({ verb: 'delete', kind: configMapKind, key: `${scene.ns}/web` });
    const { code, errors, output } = await commandLine.run('plan', name, '-n', scene.ns);
    expect([code, errors]).to.deep.equal([0, '']);
    expect(output).to.contain(`+ ConfigMap ${scene.ns}/web`).and.contain('Plan: 1 to create');
  });

  it('renders charts without creating their objects', async () => {
    const scene = await given({ color: 'red' });
    const type = `${GROUP}/helm`;
    const config = helmConfig({ ...raw(c1()), namespace: scene.ns, values: { msg: 'yo' } });
    await create(deployItemKind, scene, 'chart', { spec: { type, target: { name: 'cluster' }, config } });
    const { code, errors, output } = await commandLine.run('plan', 'chart', '-n', scene.ns, '-d');
    expect(code, errors + output).to.equal(0);
    expect(output).to.contain(`+ ConfigMap ${scene.ns}/demo-cm`).and.contain('msg: yo');
    const made = await getIfThere(scenes.cluster.client, configMapKind, `${scene.ns}/demo-cm`);
    expect(made).to.equal(undefined);
  });

  it('fails where the job would fail, and names the object', async () => {
    const scene = await installed({ color: 'red' });
    await set(scene, { color: 'blue', more: ['Not_A_Name'] });
    await scene.until('the import is in view', () =>
      JSON.stringify(scene.dataObject('settings')?.data).includes('blue'),
    );
    const { code, terminal } = await espalier(scene);
    expect(code).to.equal(1);
    expect(terminal.output).to.contain('Not_A_Name').and.contain('1 would fail');
  });

  describe('plans nothing below the place where the job would end', () => {
    const change = async (scene: Scene, spec: object): Promise<unknown> => {
      const key = `${scene.ns}/app`;
      const changed = await scenes.cluster.client.send({
        verb: 'merge',
        kind: installationKind,
        key,
        body: { spec },
      });
      return scene.until(
        'the change is in view',
        () => scene.installation('app')?.metadata.generation === changed.metadata.generation,
      );
    };
    const withTemplate = (template: string): object => {
      const [execution] = blueprint.deployExecutions;
      const changed = { ...blueprint, deployExecutions: [{ ...execution, template }] };
      return { blueprint: { inline: { filesystem: { 'blueprint.yaml': JSON.stringify(changed) } } } };
    };
    const cases: readonly (readonly [string, RegExp, (scene: Scene) => Promise<unknown>])[] = [
      [
        'deploy items that cannot be rendered',
        /no deploy items today/,
        (scene) => change(scene, withTemplate('{{ fail "no deploy items today" }}')),
      ],
      [
        'a Context that does not exist',
        /context "elsewhere" does not exist in namespace/,
        (scene) => change(scene, { context: 'elsewhere' }),
      ],
      [
        'an execution of another owner',
        /execution \S+ belongs to another owner/,
        (scene) => create(executionKind, scene, 'app', { spec: {} }),
      ],
      [
        'an import whose object was not written by an installation',
        /unable to create or update data object \S+ for import settings/,
        (scene) =>
          create(dataObjectKind, scene, objectName(installationContext('app'), 'settings'), { data: 1 }),
      ],
    ];
    for (const [what, line, make] of cases) {
      it(`at ${what}`, async () => {
        const scene = await given({ color: 'red' });
        await make(scene);
        const { code, terminal } = await espalier(scene);
        expect(terminal.output)
          .to.match(line)
          .and.not.match(/\+ ConfigMap/);
        expect(code).to.equal(1);
      });
    }
  });

  it('names imports that do not exist yet', async () => {
    const scene = await given({ color: 'red' });
    await scenes.cluster.client.send({ verb: 'delete', kind: dataObjectKind, key: `${scene.ns}/settings` });
    await scene.until('it is gone', () => scene.dataObject('settings') === undefined);
    const { code, terminal } = await espalier(scene);
    expect(terminal.output).to.contain(
      '? Installation app: not known: imports that do not exist yet: settings',
    );
    expect(code).to.equal(0);
  });

  it('says what to do if there is no such object', async () => {
    const scene = await scenes.scene();
    const { code, terminal } = await espalier(scene);
    expect(code).to.equal(1);
    expect(terminal.errors).to.match(/^error: there is no installation or deploy item app in namespace/);
  });

  it('writes nothing: the servers see only reads and dry runs', async function () {
    const { server } = scenes.cluster;
    if (!server) return skip(this, 'the kube-apiserver of the tests keeps no audit log');
    const scene = await installed({ color: 'red', more: ['old'] });
    await set(scene, { color: 'blue', more: ['new'] });
    await scene.calm();
    const mark = server.audit.mark();
    await espalier(scene);
    await espalier(scene, '--delete');
    const { events } = server.audit.since(mark).by({ userAgent: /espalier-(cli|deployer)/ });
    const writes = events.filter(({ verb }) => WRITES.includes(verb));
    expect(writes).to.not.deep.equal([]);
    expect(writes.filter(({ requestURI }) => !requestURI.includes('dryRun=All'))).to.deep.equal([]);
    const item = await scenes.cluster.client.get(
      deployItemKind,
      `${scene.ns}/${scene.item('app', 'web')?.metadata.name ?? ''}`,
    );
    expect(item.status?.phase).to.equal('Succeeded');
  });
});
