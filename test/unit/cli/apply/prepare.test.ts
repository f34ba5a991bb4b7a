/** What `espalier apply` reads from files, and what it says about mistakes in them; no cluster is needed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Installation } from '../../../../src/api/kinds/installation.ts';
import { MAX_INLINE_BYTES } from '../../../../src/cli/commands/apply/local-blueprint.ts';
import { prepare, type PrepareOptions } from '../../../../src/cli/commands/apply/prepare.ts';
import { titleOf } from '../../../../src/cli/commands/apply/read.ts';
import { UsageError } from '../../../../src/cli/errors.ts';

const API = 'apiVersion: landscaper.gardener.cloud/v1alpha1';
const BLUEPRINT = `${API}\nkind: Blueprint\n`;
const configMap = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const installation = (name: string, more = ''): string =>
  `${API}\nkind: Installation\nmetadata:\n  name: ${name}\n${more === '' ? 'spec: {}\n' : more}`;
const annotated = (folder: string): string =>
  `  annotations: {espalier.dev/blueprint: ${folder}, a: b}\nspec: {}\n`;

describe('the files of espalier apply', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-apply-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const write = (files: Readonly<Record<string, string | Uint8Array>>): void => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  };
  const at = (path: string): string => join(folder, path);
  const run = (paths: readonly string[] = [folder], options: Partial<PrepareOptions> = {}) =>
    prepare(paths, { lint: true, ...options });
  const titles = async (...paths: string[]): Promise<readonly string[]> => {
    const { documents, problems } = await run(paths.length === 0 ? [folder] : paths);
    expect(problems).to.deep.equal([]);
    return documents.map(({ object }) => titleOf(object));
  };
  /** The only problem, without the folder. */
  const problem = async (options: Partial<PrepareOptions> = {}): Promise<string> => {
    const { problems } = await run([folder], options);
    expect(problems).to.have.length(1);
    return String(problems[0]).replaceAll(`${folder}/`, '');
  };
  const blueprintOf = async (path = folder): Promise<unknown> => {
    const { documents, problems } = await run([path]);
    expect(problems).to.deep.equal([]);
    return (documents.at(-1)?.object as Installation).spec.blueprint;
  };

  it('are the YAML files of a folder, without sub-folders, component.yaml and empty documents', async () => {
    write({
      'b.yml': configMap('b'),
      'a.yaml': `---\n${configMap('a1')}---\n---\n${configMap('a2')}`,
      'list.yaml': `apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n`,
      'component.yaml': 'name: example.org/shop',
      'notes.txt': 'not YAML: {',
      'sub/d.yaml': configMap('d'),
    });
    expect(await titles()).to.deep.equal(['configmap/a1', 'configmap/a2', 'configmap/b', 'configmap/c']);
  });

  it('are read once if they are given twice', async () => {
    write({ 'a.yaml': configMap('a') });
    expect(await titles(folder, at('a.yaml'))).to.deep.equal(['configmap/a']);
  });

  it('are put in an order that works', async () => {
    const of = (apiVersion: string, kind: string): string =>
      `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n`;
    const spec = 'spec: {type: example.org/x, config: {}}\n';
    const data = (imports: string, exports: string): string =>
      `spec:\n  blueprint: {ref: {resourceName: b}}\n  imports: {data: [${imports}]}\n  exports: {data: [${exports}]}\n`;
    write({
      'all.yaml': [
        installation('reader', data('{name: a, dataRef: url}', '')),
        installation('writer', data('', '{name: a, dataRef: url}')),
        of('batch/v1', 'Job'),
        `${of('landscaper.gardener.cloud/v1alpha1', 'DataObject')}data: 1\n`,
        of('landscaper.gardener.cloud/v1alpha1', 'Context'),
        of('landscaper.gardener.cloud/v1alpha1', 'Target') + spec,
        configMap('x'),
        of('v1', 'Secret'),
        of('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
        of('v1', 'Namespace'),
      ].join('---\n'),
    });
    expect(await titles()).to.deep.equal([
      'namespace/x',
      'customresourcedefinition/x',
      'secret/x',
      'configmap/x',
      'target/x',
      'context/x',
      'dataobject/x',
      'job/x',
      'installation/writer',
      'installation/reader',
    ]);
  });

  describe('get the blueprint of an installation', () => {
    it('from the folder beside the file, with binary files and without .git', async () => {
      write({
        'installation.yaml': installation('web'),
        'blueprint/blueprint.yaml': BLUEPRINT,
        'blueprint/parts/a.txt': 'ä',
        'blueprint/logo.png': new Uint8Array([0xff, 0]),
        'blueprint/.git/HEAD': 'ref',
      });
      expect(await blueprintOf()).to.deep.equal({
        inline: {
          filesystem: {
            'blueprint.yaml': BLUEPRINT,
            'logo.png': '---Start Binary---\n/wA=\n---End Binary---',
            parts: { 'a.txt': 'ä' },
          },
        },
      });
    });

    it('from the folder that the annotation names, and do not keep the annotation', async () => {
      write({
        'inst/web.yaml': installation('web', annotated('../shared')),
        'shared/blueprint.yaml': BLUEPRINT,
      });
      const { documents, problems } = await run([at('inst')]);
      expect(problems).to.deep.equal([]);
      const [first] = documents;
      expect(first?.object.metadata).to.deep.equal({ name: 'web', annotations: { a: 'b' } });
      expect((first?.object as Installation).spec.blueprint).to.deep.equal({
        inline: { filesystem: { 'blueprint.yaml': BLUEPRINT } },
      });
    });

    it('only if it has none', async () => {
      write({
        'web.yaml': installation('web', 'spec: {blueprint: {ref: {resourceName: b}}}\n'),
        'blueprint/blueprint.yaml': BLUEPRINT,
      });
      expect(await blueprintOf()).to.deep.equal({ ref: { resourceName: 'b' } });
    });

    it('as a component if it is too large for an object', async () => {
      write({
        'web.yaml': installation('web'),
        'blueprint/blueprint.yaml': BLUEPRINT,
        'blueprint/large.txt': 'x'.repeat(MAX_INLINE_BYTES),
      });
      expect(await problem()).to.match(
        /^web\.yaml, document 1 \(installation\/web\): with the blueprint in blueprint it has 1048\d\d\d bytes, more than the 1048576 .*--repository/,
      );
      const versions = new Set<string>();
      for (const text of ['one', 'one', 'two']) {
        write({ 'blueprint/changed.txt': text });
        const { documents, problems } = await run([folder], { repository: 'registry.example.org/x' });
        expect(problems).to.deep.equal([]);
        const { spec } = documents[0]?.object as Installation;
        const ref = spec.componentDescriptor?.ref as { componentName: string; version: string };
        expect(spec.blueprint).to.deep.equal({ ref: { resourceName: 'blueprint' } });
        expect(ref).to.deep.include({
          repositoryContext: { type: 'OCIRegistry', baseUrl: 'registry.example.org/x' },
          componentName: 'blueprints.espalier.dev/web',
        });
        expect(documents[0]?.component?.component).to.deep.include({ version: ref.version });
        versions.add(ref.version);
      }
      expect(versions.size).to.equal(2);
    });
  });

  const mistakes: readonly (readonly [
    title: string,
    files: Readonly<Record<string, string>>,
    problem: RegExp,
  ])[] = [
    [
      'an installation without any blueprint',
      { 'a.yaml': `${configMap('a')}---\n${installation('web')}` },
      /^a\.yaml, document 2 \(installation\/web\): it has no spec\.blueprint, and there is no folder blueprint beside a\.yaml; create blueprint\/blueprint\.yaml, or name another folder with the annotation espalier\.dev\/blueprint$/,
    ],
    [
      'a folder that does not exist',
      { 'a.yaml': installation('web', annotated('nope')) },
      /there is no folder nope, which the annotation/,
    ],
    [
      'a folder without a blueprint.yaml',
      { 'a.yaml': installation('web'), 'blueprint/b.yaml': '' },
      /the folder blueprint is not a blueprint: it has no file blueprint\.yaml/,
    ],
    [
      'a blueprint and the annotation',
      {
        'a.yaml': installation('web', annotated('x').replace('{}', '{blueprint: {ref: {resourceName: b}}}')),
      },
      /remove one of them/,
    ],
    [
      'a mistake in the blueprint',
      {
        'a.yaml': installation('web'),
        'blueprint/blueprint.yaml': `${BLUEPRINT}subinstallations: [{file: /nope.yaml}]\n`,
      },
      /blueprint\/blueprint\.yaml:3: there is no file \/nope\.yaml in the blueprint.*blueprints lint/,
    ],
    [
      'an import that the installation does not supply',
      {
        'a.yaml': installation('web'),
        'blueprint/blueprint.yaml': `${BLUEPRINT}imports: [{name: size, schema: {type: string}}]\n`,
      },
      /the blueprint has mistakes: .*size/,
    ],
    [
      'an invalid installation',
      { 'a.yaml': installation('web', 'spec: {blueprint: {}}\n') },
      /^a\.yaml, document 1 \(installation\/web\): .*spec\.blueprint\.definition/,
    ],
    [
      'a document that is not a map',
      { 'a.yaml': 'text' },
      /^a\.yaml, document 1: it is not a Kubernetes object/,
    ],
    ['no apiVersion', { 'a.yaml': 'kind: A\nmetadata: {name: a}' }, /\(a\/a\): it has no apiVersion$/],
    ['no kind', { 'a.yaml': 'apiVersion: v1' }, /document 1: it has no kind$/],
    [
      'no name',
      { 'a.yaml': 'apiVersion: v1\nkind: A\nmetadata: {generateName: a-}' },
      /generateName cannot be applied$/,
    ],
    ['a blueprint as an object', { 'a.yaml': BLUEPRINT }, /it is a blueprint, not an object of the cluster/],
    [
      'the same object twice',
      { 'a.yaml': configMap('a'), 'b.yml': configMap('a') },
      /^b\.yml, document 1 \(configmap\/a\): the same object is also in a\.yaml, document 1$/,
    ],
    ['invalid YAML', { 'a.yaml': 'a: b: c' }, /^a\.yaml is not valid YAML; see line 1$/],
  ];
  for (const [title, files, message] of mistakes)
    it(`are refused with ${title}`, async () => {
      write(files);
      expect(await problem()).to.match(message);
    });

  it('are all checked, and every mistake is reported', async () => {
    write({ 'a.yaml': 'apiVersion: v1', 'b.yaml': installation('web'), 'c.yaml': configMap('c') });
    expect((await run()).problems).to.have.length(2);
  });

  describe('with a misspelt name in a sub-installation', () => {
    const template = [
      `${API}\nkind: InstallationTemplate\nname: users`,
      'importDataMappings: {confg: 1}',
      'blueprint:\n  filesystem:\n    blueprint.yaml: |',
      `      ${API}\n      kind: Blueprint\n      imports: [{name: config, schema: {type: string}}]\n`,
    ].join('\n');
    beforeEach(() => {
      write({
        'a.yaml': installation('web'),
        'b.yaml': installation('other'),
        'blueprint/blueprint.yaml': `${BLUEPRINT}subinstallations: [{file: /users.yaml}]\n`,
        'blueprint/users.yaml': template,
      });
    });

    it('show each mistake once, and the name that was meant', async () => {
      const { problems, warnings } = await run();
      expect(problems[0]?.match(/does not supply the import "config"/g)).to.have.length(1);
      expect(
        warnings.filter((one) => one.endsWith('has no import "confg"; did you mean "config"?')),
      ).to.have.length(1);
    });

    it('show the mistakes of a blueprint that several installations use once', async () => {
      const { problems } = await run();
      expect(problems[1]).to.match(
        /b\.yaml, document 1 \(installation\/other\): its blueprint has the mistakes that are listed for .*a\.yaml, document 1 \(installation\/web\)$/,
      );
    });
  });

  it('may have mistakes in blueprints if they are not checked', async () => {
    write({
      'a.yaml': installation('web'),
      'blueprint/blueprint.yaml': `${BLUEPRINT}subinstallations: [{file: /nope.yaml}]\n`,
    });
    expect((await run([folder], { lint: false })).problems).to.deep.equal([]);
  });

  for (const [what, path] of [
    ['a path does not exist', 'nope'],
    ['a folder has no YAML file', '.'],
  ] as const)
    it(`are refused if ${what}`, async () => {
      const error = await run([at(path)]).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(UsageError);
    });
});
