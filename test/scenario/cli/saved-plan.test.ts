/** `espalier plan --out` and `espalier installations reconcile --plan`. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { dataObjectKind } from '../../../src/api/kinds/dataobject.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations, API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { configMapKind } from '../../../src/landscape/world.ts';
import { child } from '../../support/landscape.ts';
import { useCluster } from '../../support/cluster.ts';
import { useCommandLine } from '../../support/command-line.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import type { Scene } from '../../support/scene.ts';
import { selfCommand } from '../../../src/cli/self-command.ts';

const PASSWORD = 'a-secret-password';

/** A ConfigMap with the imported color, a Service, and a Secret. */
const blueprint = (children: readonly object[] = [], items = '') => ({
  apiVersion: API_VERSION,
  kind: 'Blueprint',
  imports: [
    { name: 'color', type: 'data', schema: { type: 'string' } },
    { name: 'cluster', type: 'target', targetType: `${GROUP}/kubernetes-cluster` },
  ],
  subinstallations: children,
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
      manifests:
        - policy: manage
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: web, namespace: NS}
            data: {color: {{ .imports.color }}}
        - policy: manage
          manifest:
            apiVersion: v1
            kind: Service
            metadata: {name: web, namespace: NS}
            spec: {ports: [{port: 80}]}
        - policy: manage
          manifest:
            apiVersion: v1
            kind: Secret
            metadata: {name: web, namespace: NS}
            stringData: {password: ${PASSWORD}}
${items}`,
    },
  ],
});

describe('saved plans', function () {
  this.timeout(60_000);
  const scenes = useCluster({ deployers: ['manifest', 'mock'] });
  const commandLine = useCommandLine(() => scenes.cluster.kubeconfig);
  let file: string;
  beforeEach(() => {
    file = commandLine.file('web.plan');
  });

  const espalier = (scene: Scene, ...args: string[]) => commandLine.run(...args, '-n', scene.ns);
  const save = (scene: Scene) => espalier(scene, 'plan', 'app', '--out', file);
  const reconcile = (scene: Scene, ...args: string[]) =>
    espalier(scene, 'inst', 'reconcile', 'app', '--plan', file, ...args);

  async function given(children: readonly object[] = [], items = ''): Promise<Scene> {
    const scene = await scenes.scene();
    const { client, kubeconfig } = scenes.cluster;
    const metadata = (name: string) => ({ name, namespace: scene.ns });
    const text = JSON.stringify(blueprint(children, items)).replaceAll('NS', scene.ns);
    for (const [kind, object] of [
      [dataObjectKind, { kind: 'DataObject', metadata: metadata('color'), data: 'red' }],
      [
        targetKind,
        {
          kind: 'Target',
          metadata: metadata('cluster'),
          spec: { type: `${GROUP}/kubernetes-cluster`, config: { kubeconfig } },
        },
      ],
      [
        installationKind,
        {
          kind: 'Installation',
          metadata: metadata('app'),
          spec: {
            blueprint: { inline: { filesystem: { 'blueprint.yaml': text } } },
            imports: {
              data: [{ name: 'color', dataRef: 'color' }],
              targets: [{ name: 'cluster', target: 'cluster' }],
            },
          },
        },
      ],
    ] as const)
      await client.send<Obj>({
        verb: 'create',
        kind: kind,
        object: { apiVersion: API_VERSION, ...object },
      });
    return scene;
  }
  const setColor = async (scene: Scene, data: string): Promise<void> => {
    const key = `${scene.ns}/color`;
    await scenes.cluster.client.send({ verb: 'merge', kind: dataObjectKind, key, body: { data } });
    await scene.until('the color is in view', () => scene.dataObject('color')?.data === data);
  };
  const annotationsOf = async (scene: Scene) =>
    (await scenes.cluster.client.get(installationKind, `${scene.ns}/app`)).metadata.annotations ?? {};

  const annotate = (scene: Scene, name: string, value: string) =>
    scenes.cluster.client.send({
      verb: 'merge',
      kind: installationKind,
      key: `${scene.ns}/app`,
      body: { metadata: { annotations: { [name]: value } } },
    });

  it('start the job that they list, which creates a Service with another address', async () => {
    const scene = await given();
    const saved = await save(scene);
    expect([saved.code, saved.errors]).to.deep.equal([0, '']);
    expect(saved.output).to.contain('Plan: 3 to create');
    const { code, errors } = await reconcile(scene, '--wait');
    expect([code, errors]).to.deep.equal([0, '']);
    expect(await scenes.cluster.client.get(configMapKind, `${scene.ns}/web`)).to.have.nested.property(
      'data.color',
      'red',
    );
  });

  it('are only for their owner, and contain no secrets', async () => {
    const scene = await given();
    await save(scene);
    expect((statSync(file).mode & 0o777).toString(8)).to.equal('600');
    const text = readFileSync(file, 'utf8');
    expect(text).to.contain('"color": "red"');
    expect(text).to.not.contain(PASSWORD);
    expect(text).to.not.contain(Buffer.from(PASSWORD).toString('base64'));
  });

  it('start no job if an import has changed, and show the difference', async () => {
    const scene = await given();
    await save(scene);
    await setColor(scene, 'green');
    const { code, output, errors } = await reconcile(scene);
    expect(code).to.equal(1);
    expect(output).to.equal('');
    expect(errors).to.contain(
      `+ ConfigMap ${scene.ns}/web (DeployItem app/web on target cluster): data.color: "green"; planned: "red"\n`,
    );
    expect(errors).to.match(/the job of app would do what the plan of .*Z does not list/);
    expect(await annotationsOf(scene)).to.deep.equal({});
  });

  /** A plan to change the color from red to blue is saved; then the color on the target is edited. */
  async function plannedAndEdited(color: string): Promise<Scene> {
    const scene = await given();
    await scene.operation('app', 'reconcile');
    await scene.finished('app', 'Succeeded');
    await setColor(scene, 'blue');
    await save(scene);
    const key = `${scene.ns}/web`;
    const body = { data: { color } };
    await scenes.cluster.client.send({ verb: 'merge', kind: configMapKind, key, body });
    return scene;
  }

  it('start no job if an object on the target has changed', async () => {
    const scene = await plannedAndEdited('by-hand');
    const { code, errors } = await reconcile(scene);
    expect(code).to.equal(1);
    expect(errors).to.contain('data.color: "by-hand" → "blue"; planned: "red" → "blue"');
  });

  it('start the job if a part of the plan has been done by hand', async () => {
    const scene = await plannedAndEdited('blue');
    const { code, errors } = await reconcile(scene);
    expect([code, errors]).to.deep.equal([0, '']);
    await scene.finished('app', 'Succeeded');
  });

  it('start no job if the installation changes during the comparison', async () => {
    const type = 'test.example/slow';
    const hook = 'whilePlanning';
    const module = commandLine.write(
      'deployer.mjs',
      `export const slow = { type: '${type}', config: { decode: (config) => config }, apply() {}, remove() {},
         async plan() { await globalThis.${hook}?.(); return { objects: [], notes: [] }; } };`,
    );
    const scene = await given([], `  - {name: slow, type: ${type}, config: {apiVersion: v1, kind: Slow}}\n`);
    const saved = await espalier(scene, 'plan', 'app', '--out', file, '--deployer', module);
    expect([saved.code, saved.errors]).to.deep.equal([0, '']);
    const globals = globalThis as Record<string, unknown>;
    globals[hook] = () => annotate(scene, 'example.org/changed', 'true');
    try {
      const { code, errors } = await reconcile(scene, '--deployer', module);
      expect(code).to.equal(1);
      expect(errors).to.contain(
        'installation app has changed while its plan was compared; no job was started',
      );
      expect(await annotationsOf(scene)).to.not.have.property(annotations.operation);
    } finally {
      Reflect.deleteProperty(globals, hook);
    }
  });

  it('start no job of a suspended installation, or while a job is requested', async () => {
    const scene = await given();
    await save(scene);
    await annotate(scene, annotations.suspended, 'true');
    expect((await reconcile(scene)).errors).to.contain('app is suspended');
    await annotate(scene, annotations.operation, 'reconcile');
    expect((await reconcile(scene)).errors).to.contain('a job of app is running or about to start');
  });

  it('start no job of an installation that was recreated', async () => {
    const scene = await given();
    await save(scene);
    const saved = readFileSync(file, 'utf8');
    writeFileSync(file, saved.replace(/"uid": ".*"/, '"uid": "other"'));
    expect((await reconcile(scene)).errors).to.contain(
      'app was deleted and recreated since the plan was saved',
    );
    writeFileSync(file, saved.replace('"name": "app"', '"name": "other"'));
    expect((await reconcile(scene)).errors).to.contain('the plan was saved for installation other');
  });

  it('are not saved if the job would fail', async () => {
    const scene = await given();
    await setColor(scene, 5 as unknown as string);
    const { code, errors } = await save(scene);
    expect(code).to.equal(1);
    expect(errors).to.contain('the job would fail, so the plan was not saved');
    expect(existsSync(file)).to.equal(false);
  });

  it('are not saved for a part of a tree', async () => {
    const scene = await given([child('inner')]);
    await scene.operation('app', 'reconcile');
    await scene.finished('app', 'Succeeded');
    const inner = scene.installations.find(({ metadata }) => metadata.name !== 'app')?.metadata.name ?? '';
    const { code, errors } = await espalier(scene, 'plan', inner, '--out', file);
    expect(code).to.equal(1);
    expect(errors).to.contain(`${inner} is not a root installation`);
  });

  it('are refused if the file is something else, or of another version', async () => {
    const scene = await given();
    expect((await reconcile(scene)).errors).to.contain(`there is no file ${file}`);
    for (const text of ['no JSON', '{}']) {
      writeFileSync(file, text);
      const { code, errors } = await reconcile(scene);
      expect([code, errors]).to.deep.equal([
        2,
        `error: ${file} is not a saved plan; save one with: ${selfCommand()} plan NAME --out ${file}\n`,
      ]);
    }
    await save(scene);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"version": ".*"/, '"version": "0.0.1"'));
    expect((await reconcile(scene)).errors).to.contain('was saved by version 0.0.1');
  });

  it('are not saved with --delete, and need a folder that can be written', async () => {
    const scene = await given();
    expect((await espalier(scene, 'plan', 'app', '--delete', '--out', file)).errors).to.contain(
      'cannot be combined with --delete',
    );
    const missing = commandLine.file('missing/plan');
    expect((await espalier(scene, 'plan', 'app', '--out', missing)).errors).to.contain(
      `cannot write ${missing}`,
    );
  });
});
