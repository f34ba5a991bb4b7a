/** Charts without releases, on API servers. */
import { expect } from 'chai';
import { c1, c2, c3, configMapOf, raw } from '../../support/helm-charts.ts';
import { helmConfig as helm } from '../../unit/deployers/bench.ts';
import { LS, World, type Json } from './world.ts';

describe('the helm deployer without releases', () => {
  let world: World;
  before(async function () {
    this.timeout(30_000);
    world = await World.start();
  });
  after(() => world.stop());
  let count = 0;
  const next = (): string => `t${String(++count)}`;

  const give = async (fields: object, more = {}): Promise<string> => {
    const name = next();
    await world.giveItem(name, 'helm', helm(fields), more);
    return name;
  };
  const namespace = (name: string): Promise<Json | undefined> =>
    world.find(world.target, 'v1', 'Namespace', name);

  it('DEP-54: objects of a chart get both labels, no release is created, and only the namespace stays', async () => {
    const name = await give({
      ...raw(c1()),
      namespace: 'shop',
      createNamespace: true,
      values: { msg: 'yo' },
    });
    const { status } = await world.run(name, 'j1');
    expect(status?.phase).to.equal('Succeeded');
    const made = await world.configMap('shop/demo-cm');
    expect(made?.['data']).to.deep.equal({ msg: 'yo' });
    expect(made?.metadata.labels).to.include({
      [`manifest.deployer.${LS}/deployitem`]: name,
      [`helm.deployer.${LS}/deployitem`]: name,
    });
    expect(await world.find(world.target, 'v1', 'Secret', 'shop/sh.helm.release.v1.demo.v1')).to.equal(
      undefined,
    );
    await world.remove(name);
    await world.kick(name, 'j2');
    await world.gone(name);
    expect(await world.configMap('shop/demo-cm')).to.equal(undefined);
    expect((await namespace('shop'))?.metadata.deletionTimestamp).to.equal(undefined);
  });

  it('DEP-54: an existing namespace keeps what others wrote', async () => {
    await world.create(world.target, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'theirs', labels: { team: 'x' }, annotations: { note: 'y' } },
    });
    const name = await give({ ...raw(c1()), namespace: 'theirs', createNamespace: true });
    expect((await world.run(name, 'j1')).status?.phase).to.equal('Succeeded');
    const found = await namespace('theirs');
    expect(found?.metadata.labels).to.include({ team: 'x', [`helm.deployer.${LS}/deployitem`]: name });
    expect(found?.metadata.annotations).to.include({ note: 'y' });
  });

  it('DEP-56: values are exported, and without exports the secret has an empty map', async () => {
    const paths = {
      ExportA: '.Values.msg',
      helm: '.Capabilities.HelmVersion.Version',
      minor: '.Capabilities.KubeVersion.Minor',
      revision: '.Release.Revision',
    };
    const exports = { exports: Object.entries(paths).map(([key, jsonPath]) => ({ key, jsonPath })) };
    const name = await give({ ...raw(c1()), name: 'ex', exports, values: { msg: 'yo' } });
    await world.run(name, 'j1');
    const { helm: version, minor, ...rest } = (await world.exported(name)) as Record<string, unknown>;
    expect(rest).to.deep.equal({ ExportA: 'yo', revision: 0 });
    expect([version, minor].map(String).join(' ')).to.match(/^v3\.\d+\.\d+ 3\d\+?$/);
    const plain = await give({ ...raw(c1()), name: 'noex' });
    await world.run(plain, 'j1');
    expect(await world.exported(plain)).to.deep.equal({});
  });

  it('DEP-57: lists are taken apart', async () => {
    const name = await give({ ...raw(c2()), readinessChecks: { disableDefault: true } });
    const { status } = await world.run(name, 'j1');
    const managed = status?.providerStatus?.['managedResources'] as { resource: { kind: string } }[];
    expect(managed.map(({ resource }) => resource.kind)).to.deep.equal(Array(3).fill('Deployment'));
  });

  for (const [enabled, there] of [
    [true, true],
    [false, false],
  ]) {
    it(`DEP-58: a subchart whose condition is ${String(enabled)} is ${there ? 'applied' : 'left out'}`, async () => {
      const name = await give({ ...raw(c3()), name: `c${String(enabled)}`, values: { sub: { enabled } } });
      expect((await world.run(name, 'j1')).status?.phase).to.equal('Succeeded');
      expect((await world.configMap('app/sub-cm')) !== undefined).to.equal(there);
      await world.remove(name);
      await world.kick(name, 'j2');
      await world.gone(name);
    });
  }

  it('DEP-67: documents that are not objects are left out, and invalid YAML is reported with its template', async () => {
    const odd = c1({ 'templates/odd.yaml': '# only a comment\n---\nfoo: bar\n' });
    const name = await give({ ...raw(odd), name: 'odd' });
    expect((await world.run(name, 'j1')).status?.phase).to.equal('Succeeded');
    const broken = await give({ ...raw(c1({ 'templates/bad.yaml': 'a: [b\n' })), name: 'bad' });
    const { status } = await world.run(broken, 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.message).to.contain('small/templates/bad.yaml');
    expect(status?.lastError?.codes).to.deep.equal(['ERR_CONFIGURATION_PROBLEM']);
  });

  it('a failing template is reported with its line, and without values', async () => {
    const chart = c1({ 'templates/x.yaml': 'a: 1\nb: {{ .Values.msg.inner }}\n' });
    const name = await give({ ...raw(chart), values: { msg: 'very-secret-text' } });
    const { status } = await world.run(name, 'j1');
    expect(status?.lastError?.message)
      .to.contain('small/templates/x.yaml:2:')
      .and.to.contain('.Values.msg.inner');
    expect(JSON.stringify(status)).not.to.contain('very-secret-text');
  });

  it('templates see the target: its version, its kinds, and objects in it', async () => {
    await world.create(world.target, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'existing', namespace: 'app' },
      data: { found: 'yes' },
    });
    const chart = c1({
      'templates/seen.yaml': configMapOf(
        'seen',
        'data:\n  kube: {{ .Capabilities.KubeVersion.Version }}\n' +
          '  has: {{ .Capabilities.APIVersions.Has "apps/v1/Deployment" | quote }}\n' +
          '  lacks: {{ .Capabilities.APIVersions.Has "none/v1" | quote }}\n' +
          '  looked: {{ (lookup "v1" "ConfigMap" .Release.Namespace "existing").data.found | quote }}\n' +
          '  none: {{ lookup "v1" "ConfigMap" .Release.Namespace "absent" | empty | quote }}\n' +
          '  listed: {{ (lookup "v1" "ConfigMap" .Release.Namespace "").items | len | quote }}\n' +
          '  revision: {{ .Release.Revision | quote }}\n',
      ),
    });
    const name = await give({ ...raw(chart), name: 'seen' });
    expect((await world.run(name, 'j1')).status?.phase).to.equal('Succeeded');
    const data = (await world.configMap('app/seen'))?.['data'] as Record<string, string>;
    expect(data).to.include({ has: 'true', lacks: 'false', looked: 'yes', none: 'true', revision: '0' });
    expect(data['kube']).to.match(/^v1\.3\d/);
    expect(Number(data['listed'])).to.be.greaterThan(0);
  });

  it('a template in the values sees the kinds of the target, too', async () => {
    const chart = c1({
      'templates/said.yaml': configMapOf('said', 'data:\n  has: {{ tpl .Values.msg . | quote }}\n'),
    });
    const msg = '{{ .Capabilities.APIVersions.Has "apps/v1/Deployment" }}';
    const name = await give({ ...raw(chart), name: 'said', values: { msg } });
    expect((await world.run(name, 'j1')).status?.phase).to.equal('Succeeded');
    expect((await world.configMap('app/said'))?.['data']).to.deep.equal({ has: 'true' });
  });

  it('CRDs are applied before objects of their kinds, which templates see, tests are left out, other hooks are applied', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'sprockets.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { kind: 'Sprocket', plural: 'sprockets', singular: 'sprocket', listKind: 'SprocketList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    const hook = (name: string, on: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, annotations: {helm.sh/hook: ${on}}}\n`;
    const chart = c1({
      'crds/s.json': JSON.stringify(crd),
      'templates/s.yaml':
        '{{ if and (.Capabilities.APIVersions.Has "example.org/v1/Sprocket") (not (lookup "example.org/v1" "Sprocket" "app" "")) }}apiVersion: example.org/v1\nkind: Sprocket\nmetadata: {name: one}\n{{ end }}',
      'templates/hooks.yaml': `${hook('hooked', 'pre-install')}---\n${hook('tested', 'test')}`,
    });
    const name = await give({ ...raw(chart), name: 'defs' });
    expect((await world.run(name, 'j1')).status?.phase).to.equal('Succeeded');
    expect(await world.find(world.target, 'example.org/v1', 'Sprocket', 'app/one')).not.to.equal(undefined);
    expect(await world.configMap('app/hooked')).not.to.equal(undefined);
    expect(await world.configMap('app/tested')).to.equal(undefined);
  });

  it('objects that a new version of the chart no longer has are deleted; drift is repaired', async () => {
    const two = c1({ 'templates/two.yaml': configMapOf('{{ .Release.Name }}-two') });
    const name = await give({ ...raw(two), name: 'up' });
    await world.run(name, 'j1');
    await world.edit(world.target, 'v1', 'ConfigMap', 'app/up-cm', { data: { msg: 'by hand' } });
    await world.configure(name, helm({ ...raw(c1({}, '0.2.0')), name: 'up' }));
    expect((await world.run(name, 'j2')).status?.phase).to.equal('Succeeded');
    expect(await world.configMap('app/up-two')).to.equal(undefined);
    expect((await world.configMap('app/up-cm'))?.['data']).to.deep.equal({ msg: 'hi' });
  });

  it('DEP-70: a check that never holds ends the job when its timeout is over', async () => {
    const resourceSelector = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'slow-cm', namespace: 'app' }];
    const requirements = [{ jsonPath: '.data.ready', operator: 'exists' }];
    const readinessChecks = { custom: [{ name: 'never', resourceSelector, requirements }] };
    const name = await give({ ...raw(c1()), name: 'slow', readinessChecks }, { timeout: '2s' });
    const { status } = await world.run(name, 'j1');
    expect(status?.phase).to.equal('Failed');
    expect(status?.lastError?.codes).to.include('ERR_TIMEOUT');
  });
}).timeout(40_000);
