/** `espalier apply`, `espalier new` and `espalier blueprints inline` on the embedded server with all controllers. */
import { selfCommand } from '../../../src/cli/self-command.ts';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { dataObjectKind, type DataObject } from '../../../src/api/kinds/dataobject.ts';
import { installationKind, type Installation } from '../../../src/api/kinds/installation.ts';
import { MAX_INLINE_BYTES } from '../../../src/cli/commands/apply/local-blueprint.ts';
import { configMapKind } from '../../../src/cli/commands/install/kinds.ts';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { applyAll, namespaceKind, namespaceObject } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { defaults } from '../../../src/cli/configuration/configuration.ts';
import { parseYaml } from '../../../src/lib/yaml.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { getIfThere } from '../../../src/runtime/transport/read.ts';
import type { Client, Obj } from '../../../src/runtime/types.ts';
import { TestRegistry } from '../../support/registry.ts';
import { fakeTerminal, type FakeTerminal, runUntilTimeout } from '../../unit/cli/terminal.ts';
import { timeoutOption } from '../../support/patience.ts';

const samples = join(import.meta.dirname, '../../../docs/samples');
const NAMESPACE = 'proj';
const API = 'apiVersion: landscaper.gardener.cloud/v1alpha1';

const configMap = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {value: "${value}"}\n`;

/** An installation whose blueprint has a mock item in a phase. */
const installation = (name: string, spec = '{}'): string =>
  `${API}\nkind: Installation\nmetadata: {name: ${name}}\nspec: ${spec}\n`;
const blueprint = (phase: string): string => `${API}
kind: Blueprint
deployExecutions:
  - name: default
    type: GoTemplate
    template: |
      deployItems:
        - name: item
          type: landscaper.gardener.cloud/mock
          config:
            apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1
            kind: ProviderConfiguration
            phase: ${phase}
            export: { size: 2 }
exports: [{name: size, schema: {type: integer}}]
exportExecutions:
  - name: size
    type: GoTemplate
    template: |
      exports:
        size: {{ .values.deployitems.item.size }}
`;

describe('espalier apply', function () {
  this.timeout(120_000);
  let server: Embedded;
  let landscaper: Landscaper;
  let client: Client;
  let folder: string;

  before(async () => {
    server = await startEmbedded({ simulate: true, log: silentLogger, namespace: NAMESPACE });
    landscaper = await startLandscaper({
      kubeconfig: { text: server.kubeconfig },
      log: silentLogger,
      configuration: { ...defaults, registry: { ...defaults.registry, allowPlainHttp: true } },
    });
    ({ client } = landscaper);
    await applyAll(client, [namespaceObject(NAMESPACE), namespaceObject('other')]);
  });
  after(async () => {
    await landscaper.stop();
    await server.close();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-apply-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  };
  const espalier = async (
    args: readonly string[],
    settings: Parameters<typeof fakeTerminal>[0] = {},
  ): Promise<FakeTerminal & { code: number }> => {
    const terminal = fakeTerminal({ env: { KUBECONFIG: server.kubeconfigFile }, ...settings });
    return Object.assign(terminal, { code: await runProgram(args, terminal) });
  };
  const apply = (...args: string[]) => espalier(['apply', folder, ...args]);
  const read = <T extends Obj>(kind: Parameters<typeof getIfThere<T>>[1], name: string, ns = NAMESPACE) =>
    getIfThere(client, kind, `${ns}/${name}`);

  it('creates objects, leaves them unchanged, and updates them', async () => {
    write({
      'a.yaml': configMap('basic', '1'),
      'web.yaml': installation('basic'),
      'blueprint/blueprint.yaml': blueprint('Succeeded'),
    });
    const first = await apply();
    expect(first.output).to.equal('configmap/basic created\ninstallation/basic created\n');
    expect(first.errors).to.match(/^installation\/basic: no job was started; start one with --reconcile/);
    expect(first.code).to.equal(0);
    const { metadata, spec } = (await read<Installation>(installationKind, 'basic'))!;
    expect(spec.blueprint).to.deep.equal({
      inline: { filesystem: { 'blueprint.yaml': blueprint('Succeeded') } },
    });
    expect(JSON.stringify(metadata.managedFields)).to.contain('"espalier-apply"');

    expect((await apply()).output).to.equal('configmap/basic unchanged\ninstallation/basic unchanged\n');

    write({ 'a.yaml': configMap('basic', '2') });
    expect((await apply()).output).to.equal('configmap/basic configured\ninstallation/basic unchanged\n');
    expect((await read<Obj & { data: object }>(configMapKind as never, 'basic'))?.data).to.deep.equal({
      value: '2',
    });
  });

  it('--dry-run prints the same lines and changes nothing', async () => {
    write({ 'a.yaml': configMap('dry', '1') });
    const { output, errors, code } = await apply('--dry-run');
    expect([output, errors, code]).to.deep.equal([
      'configmap/dry created\n',
      'dry run; nothing was changed\n',
      0,
    ]);
    expect(await read(configMapKind, 'dry')).to.equal(undefined);
    await apply();
    write({ 'a.yaml': configMap('dry', '2') });
    expect((await apply('--dry-run')).output).to.equal('configmap/dry configured\n');
    expect((await apply('--dry-run')).output).to.equal('configmap/dry configured\n');
  });

  it('warns about fields of blueprints that have no effect', async () => {
    write({
      'web.yaml': installation('typo'),
      'blueprint/blueprint.yaml': blueprint('Succeeded').replace('exports:', 'exprots:'),
    });
    const { errors } = await apply('--dry-run');
    expect(errors).to.match(
      /^warning: \S+blueprint.yaml:\d+: unknown field "exprots"; did you mean "exports"\?/m,
    );
  });

  it('--wait shows the trees until all jobs have ended, in the order of their data', async () => {
    write({
      'a.yaml': installation('reader', '{imports: {data: [{name: size, dataRef: chained}]}}'),
      'blueprint/blueprint.yaml': `${API}\nkind: Blueprint\nimports: [{name: size, schema: {type: integer}}]\n`,
      'b.yaml': installation('writer', '{exports: {data: [{name: size, dataRef: chained}]}}').replace(
        '{name: writer}',
        '{name: writer, annotations: {espalier.dev/blueprint: ./writer}}',
      ),
      'writer/blueprint.yaml': blueprint('Succeeded'),
    });
    const { code, output, errors } = await apply('--reconcile', '--wait', ...timeoutOption());
    expect(errors).to.equal('');
    expect(code).to.equal(0);
    expect(output).to.match(/^installation\/writer created\ninstallation\/reader created\n/);
    expect(output).to.match(/^reader +Installation +✔ Succeeded/m);
    expect(output).to.match(/^writer +Installation +✔ Succeeded/m);
    expect(output).not.to.contain('basic');
    const { status } = (await read<Installation>(installationKind, 'reader'))!;

    const again = await apply('--reconcile', '--wait', ...timeoutOption());
    expect(again.code).to.equal(0);
    expect((await read<Installation>(installationKind, 'reader'))?.status?.jobID).not.to.equal(status?.jobID);
    // Without a request there is no job to wait for.
    expect((await apply('--wait')).code).to.equal(0);
  });

  it('--wait fails if a job fails, and keeps what --prune would delete', async () => {
    write({
      'a.yaml': configMap('kept', '1'),
      'web.yaml': installation('failing'),
      'blueprint/blueprint.yaml': blueprint('Failed'),
    });
    await apply('--set', 'failing');
    rmSync(join(folder, 'a.yaml'));
    const options = ['--reconcile', '--wait', ...timeoutOption(), '--set', 'failing', '--prune', '--yes'];
    const { code, output, errors } = await apply(...options);
    expect(code).to.equal(1);
    expect(output).to.match(/^failing +Installation +✖ Failed/m);
    expect(errors)
      .to.match(/DeployItem .* Failed:/)
      .and.to.contain('so nothing was deleted');
    expect(await read(configMapKind, 'kept')).not.to.equal(undefined);
  });

  it('--wait gives up after the timeout', async () => {
    write({ 'web.yaml': installation('slow'), 'blueprint/blueprint.yaml': blueprint('Progressing') });
    const env = { KUBECONFIG: server.kubeconfigFile };
    const { code, terminal } = await runUntilTimeout(
      ['apply', folder, '--reconcile', '--wait'],
      'DeployItem',
      env,
    );
    expect([code, terminal.errors]).to.deep.equal([
      1,
      `error: timed out; jobs of ${NAMESPACE}/slow have not ended, watch them with: ${selfCommand()} installations inspect slow -n ${NAMESPACE} --watch\n`,
    ]);
    await espalier(['installations', 'interrupt', 'slow']);
  });

  it('--wait says that a suspended root starts no job', async () => {
    write({
      'web.yaml': installation('held').replace(
        '{name: held}',
        '{name: held, annotations: {espalier.dev/suspended: "true"}}',
      ),
      'blueprint/blueprint.yaml': blueprint('Succeeded'),
    });
    const { code, errors } = await apply('--reconcile', '--wait');
    expect([code, errors]).to.deep.equal([
      1,
      'error: installation/held is suspended; its job starts when the annotation espalier.dev/suspended is removed\n',
    ]);
  });

  it('creates namespaces and kinds before their objects', async () => {
    const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`;
    write({
      'a.yaml': 'apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: one, namespace: fresh}\n',
      'z.yaml': `${crd}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: fresh}\n`,
    });
    const lines = [
      'namespace/fresh created',
      'customresourcedefinition/things.example.org created',
      'thing/one created',
      '',
    ].join('\n');
    const dry = await apply('--dry-run');
    expect([dry.output, dry.code]).to.deep.equal([lines, 0]);
    expect(await getIfThere(client, namespaceKind, 'fresh')).to.equal(undefined);
    const { code, output, errors } = await apply();
    expect([output, errors, code]).to.deep.equal([lines, '', 0]);
  });

  it('changes nothing if one object is invalid, and names its file and document', async () => {
    const cases: readonly (readonly [object: string, message: RegExp])[] = [
      [
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: Wrong_}\n',
        /^error: \S+b\.yaml, document 2 \(configmap\/Wrong_\): .*; nothing was changed\n$/,
      ],
      [
        'apiVersion: example.org/v9\nkind: Unknown\nmetadata: {name: a}\n',
        /document 2 \(unknown\/a\): the server does not know kind Unknown in example\.org\/v9/,
      ],
      [
        configMap('x', '1').replace('{name: x}', '{name: x, namespace: nope}'),
        /configmap\/x\): .*"nope" not found/,
      ],
      [`${API}\nkind: Target\nmetadata: {name: t}\nspec: {}\n`, /target\/t\): .*spec\.type/],
    ];
    for (const [object, message] of cases) {
      write({
        'a.yaml': configMap('untouched', '1'),
        'b.yaml': `${configMap('untouched2', '1')}---\n${object}`,
      });
      const { code, errors, output } = await apply();
      expect(errors).to.match(message);
      expect([code, output]).to.deep.equal([1, '']);
      expect(await read(configMapKind, 'untouched')).to.equal(undefined);
    }
    const namespaced = await apply('-n', 'other').then(({ errors }) => errors);
    expect(namespaced).to.match(/spec\.type/);
  });

  it('refuses objects of another namespace than that of -n', async () => {
    write({ 'a.yaml': configMap('x', '1').replace('{name: x}', '{name: x, namespace: proj}') });
    const { errors } = await apply('-n', 'other');
    expect(errors).to.contain('its namespace proj is not that of the option: -n other');
  });

  it('names the field and the other manager of a conflict, and takes the field over with --force-conflicts', async () => {
    await client.send<Obj>({
      verb: 'apply',
      kind: configMapKind,
      object: parseYaml(
        configMap('shared', 'theirs').replace('{name: shared}', '{name: shared, namespace: proj}'),
      ) as Obj,
      manager: 'their-tool',
      force: true,
    });
    write({ 'a.yaml': configMap('shared', 'ours') });
    const refused = await apply();
    expect(refused.code).to.equal(1);
    expect(refused.errors).to.match(
      /a\.yaml, document 1 \(configmap\/shared\): \.data\.value is managed by "their-tool".*--force-conflicts; nothing was changed/,
    );
    const forced = await apply('--force-conflicts');
    expect([forced.output, forced.code]).to.deep.equal(['configmap/shared configured\n', 0]);
  });

  describe('--prune', () => {
    const files = {
      'a.yaml': configMap('one', '1'),
      'b.yaml': configMap('two', '1'),
      'web.yaml': installation('pruned'),
      'blueprint/blueprint.yaml': blueprint('Succeeded'),
    };
    const prune = ['--set', 'shop', '--prune'];

    it('deletes what is no longer in the files, installations first', async () => {
      write(files);
      await apply('--set', 'shop', '--reconcile', '--wait');
      write({ 'c.yaml': configMap('foreign', '1') });
      await espalier(['apply', join(folder, 'c.yaml'), '--set', 'other']);
      for (const name of ['b.yaml', 'c.yaml', 'web.yaml']) rmSync(join(folder, name));

      const dry = await apply(...prune, '--dry-run');
      const lines = 'configmap/one unchanged\ninstallation/pruned deleted\nconfigmap/two deleted\n';
      expect(dry.output).to.equal(lines);
      expect(await read(configMapKind, 'two')).not.to.equal(undefined);

      const unasked = await apply(...prune);
      expect(unasked.code).to.equal(2);
      expect(unasked.errors).to.contain('to be deleted: installation/pruned').and.to.contain('--yes');
      const denied = await espalier(['apply', folder, ...prune], { ask: () => Promise.resolve('no') });
      expect([denied.code, denied.output]).to.deep.equal([1, '']);
      expect(await read(configMapKind, 'two')).not.to.equal(undefined);

      const { code, output } = await espalier(['apply', folder, ...prune], {
        ask: () => Promise.resolve('shop'),
      });
      expect([output, code]).to.deep.equal([lines, 0]);
      expect(await read(installationKind, 'pruned')).to.equal(undefined);
      expect(await read(configMapKind, 'two')).to.equal(undefined);
      expect(await read(configMapKind, 'one')).not.to.equal(undefined);
      expect(await read(configMapKind, 'foreign')).not.to.equal(undefined);
    });

    it('needs a set', async () => {
      write(files);
      const { code, errors } = await apply('--prune');
      expect([code, errors]).to.deep.equal([
        2,
        'error: --prune needs the name of a set, whose other objects are deleted; add --set NAME\n',
      ]);
      expect((await apply('--set', 'not valid')).code).to.equal(2);
      expect((await apply('--dry-run', '--wait')).code).to.equal(2);
    });
  });

  it('pushes a large blueprint to a registry, from which it is installed', async () => {
    const registry = await TestRegistry.start();
    try {
      write({
        'web.yaml': installation('large'),
        'blueprint/blueprint.yaml': blueprint('Succeeded'),
        'blueprint/large.txt': 'x'.repeat(MAX_INLINE_BYTES),
      });
      const repository = `${registry.address}/blueprints`;
      const options = ['--repository', repository, '--plain-http', '--reconcile'];
      await apply(...options, '--dry-run');
      expect(registry.seen).to.deep.equal([]);
      const { code, output, errors } = await apply(...options, '--wait', ...timeoutOption());
      expect(errors).to.equal('');
      expect(code).to.equal(0);
      expect(output).to.match(
        /^component blueprints\.espalier\.dev\/large:0\.0\.0-h[0-9a-f]{16} pushed to \S+\ninstallation\/large created\n/,
      );
      expect(output).to.match(/^large +Installation +✔ Succeeded/m);
    } finally {
      await registry.stop();
    }
  });

  it('installs the sample', async () => {
    const { code, output, errors } = await espalier([
      'apply',
      join(samples, 'hello-landscape'),
      '--wait',
      ...timeoutOption(),
    ]);
    expect(errors).to.equal('');
    expect(code).to.equal(0);
    expect(output).to.match(/^hello-landscape +Installation +✔ Succeeded/m);
    expect((await read<DataObject>(dataObjectKind, 'hello-url', 'hello'))?.data).to.equal(
      'http://web.hello.svc',
    );
  });

  it('applies what blueprints inline prints', async () => {
    const { code, output, errors } = await espalier([
      'blueprints',
      'inline',
      join(samples, 'hello-landscape'),
    ]);
    expect([code, errors]).to.deep.equal([0, '']);
    const printed = parseYaml(output) as Installation;
    expect(printed.kind).to.equal('Installation');
    const inline = (printed.spec.blueprint as { inline: { filesystem: Record<string, string> } }).inline;
    for (const name of ['blueprint.yaml', 'database.yaml', 'web.yaml'])
      expect(inline.filesystem[name]).to.equal(
        readFileSync(join(samples, 'hello-landscape/blueprint', name), 'utf8'),
      );
    const none = await espalier(['blueprints', 'inline', join(samples, 'hello-landscape/settings.yaml')]);
    expect([none.code, none.output]).to.deep.equal([1, '']);
  });

  for (const kind of ['landscape', 'blueprint', 'component'])
    it(`new ${kind} writes a folder without mistakes that can be installed at once`, async () => {
      const name = `my-${kind}`;
      const to = join(folder, name);
      const created = await espalier(['new', kind, name, '--to', to]);
      expect([created.code, created.errors]).to.deep.equal([0, '']);
      const lint = await espalier(['blueprints', 'lint', '--strict', join(to, 'blueprint')]);
      expect(lint.output).to.equal('no problems found in 1 blueprint\n');
      const { code, output, errors } = await espalier(['apply', to, '--wait', ...timeoutOption()]);
      expect([code, errors]).to.deep.equal([0, '']);
      expect(output).to.match(new RegExp(`^${name} +Installation +✔ Succeeded`, 'm'));
      expect(output).not.to.contain('skeleton');
      if (kind === 'component') {
        const packed = await espalier(['components', 'pack', to, '--to', join(folder, 'packed.ctf')]);
        expect(packed.output).to.contain(`example.org/${name}:0.1.0 with 1 resource`);
      }

      const own = readFileSync(join(to, 'installation.yaml'), 'utf8');
      const again = await espalier(['new', kind, 'another', '--to', to]);
      expect(again.code).to.equal(2);
      expect(again.errors).to.contain('is not empty; choose another folder with --to');
      expect(readFileSync(join(to, 'installation.yaml'), 'utf8')).to.equal(own);
    });

  it('new refuses names that objects cannot have', async () => {
    for (const name of ['My_Shop', 'x'.repeat(41)])
      expect((await espalier(['new', 'landscape', name, '--to', folder])).code).to.equal(2);
  });
});
