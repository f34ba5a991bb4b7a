import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { collect } from '../../../src/cli/tree/collect.ts';
import { startEmbedded, type Embedded } from '../../../src/cli/composition/embedded.ts';
import { startLandscaper, type Landscaper } from '../../../src/cli/composition/landscaper.ts';
import { applyAll } from '../../../src/cli/objects.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { sample, sampleObjects } from '../../../src/cli/commands/servers/sample.ts';
import { parseYamlAll } from '../../../src/lib/yaml.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Obj, View } from '../../../src/runtime/types.ts';
import { blueprint, rendersItself } from '../../support/landscape.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { sound } from '../../unit/blueprint/lint/sound.ts';
import { timeoutOption } from '../../support/patience.ts';

const samples = join(import.meta.dirname, '../../../docs/samples');
const landscape = join(samples, 'hello-landscape/blueprint');
const component = join(samples, 'hello-component');

interface Result {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function espalier(...args: string[]): Promise<Result> {
  const { terminal, code } = await run(args);
  return { code, output: terminal.output, errors: terminal.errors };
}

async function run(args: readonly string[]) {
  const terminal = fakeTerminal({ columns: 200 });
  return { terminal, code: await runProgram(args, terminal) };
}

let folder: string;
/** A file, or several by their paths, in a temporary folder. */
function write(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return join(folder, Object.keys(files)[0] ?? '');
}

const cluster = (token: string): string => `cluster:
  metadata: { name: ${sample.target} }
  spec:
    type: landscaper.gardener.cloud/kubernetes-cluster
    config:
      kubeconfig: |
        apiVersion: v1
        kind: Config
        users: [{ name: admin, user: { token: ${token} } }]
`;
const TOKEN = 's3cr3t-t0ken-0123456789';
const imports = `greeting: Hello, landscape!\n${cluster(TOKEN)}`;
const exports = `database/storage:
  endpoint: { host: database.hello.svc, port: 5432 }
web/settings:
  url: http://web.hello.svc
`;

describe('espalier blueprints', () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-blueprints-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  describe('lint', () => {
    it('finds no problems in the samples', async () => {
      const { code, output } = await espalier('blueprints', 'lint', landscape, `${component}/blueprint`);
      expect([code, output]).to.deep.equal([0, 'no problems found in 2 blueprints\n']);
    });

    it('shows each mistake with its place, and exits with 1', async () => {
      const file = write({
        'bad/blueprint.yaml': sound['blueprint.yaml']?.replace('/db.yaml', '/bd.yaml') ?? '',
      });
      const { code, output } = await espalier('bp', 'lint', dirname(file));
      expect(code).to.equal(1);
      expect(output).to
        .contain(`${file}:22:11: error: there is no file /bd.yaml in the blueprint [file-missing]
   22 |   - file: /bd.yaml
      |           ^^^^^^^^
`);
      expect(output).to.match(/\n3 errors in 1 blueprint\n$/);
    });

    const spoilt = `${sound['blueprint.yaml'] ?? ''}more: 1\n`;
    it('exits with 0 if there are only warnings, and with 1 if they count as errors', async () => {
      const path = dirname(write({ 'warn/blueprint.yaml': spoilt }));
      write(
        Object.fromEntries(
          Object.entries(sound)
            .slice(1)
            .map(([name, text]) => [`warn/${name}`, text]),
        ),
      );
      expect((await espalier('bp', 'lint', path)).code).to.equal(0);
      const strict = await espalier('bp', 'lint', path, '--strict', '-o', 'json');
      expect(strict.code).to.equal(1);
      const { findings, error } = JSON.parse(strict.output) as { findings: object[]; error: number };
      expect(error).to.equal(1);
      expect(findings[0]).to.include({ line: 33, column: 1, level: 'error', rule: 'unknown-field' });
    });

    it('reads the blueprint in an Installation, and compares the two', async () => {
      const file = write({
        'installation.yaml': `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: { name: shop }
spec:
  blueprint:
    inline:
      filesystem:
        blueprint.yaml: |
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          imports: [{ name: who, schema: { type: string } }]
          exports: [{ name: out, schema: { type: string } }]
          exportExecutions:
            - { name: e, type: GoTemplate, template: "exports: { out: {{ .imports.who }} }" }
`,
      });
      const { code, output } = await espalier('bp', 'lint', '-o', 'github', file);
      expect(code).to.equal(1);
      expect(output).to.equal(
        `::error file=${file},line=4,endLine=4,col=1,endColumn=5,title=required-import-missing::installation shop does not supply the import "who" (data), which its blueprint requires\n`,
      );
    });

    it('reports a file that is not valid YAML like any other mistake', async () => {
      const file = write({ 'broken.yaml': 'a: 1\nb: [\n' });
      const { code, output } = await espalier('bp', 'lint', file);
      expect(code).to.equal(1);
      expect(output).to.match(/broken\.yaml:\d+:1: error: this is not valid YAML: .* \[yaml-syntax\]\n/);
    });

    const mistakes: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [[], /^error: no blueprint given; name a folder with a blueprint.yaml/],
      [['nowhere'], /^error: there is no file or folder nowhere\n/],
      [
        [component],
        /is not a blueprint: it has no file blueprint.yaml; did you mean .*hello-component\/blueprint\?/,
      ],
      [
        [join(samples, 'hello-landscape/settings.yaml')],
        /there is no blueprint in .*settings.yaml, only ConfigMap; give/,
      ],
      [[landscape, '-o', 'xml'], /choose text, json, yaml, sarif, github/],
    ];
    for (const [args, says] of mistakes)
      it(`says how to fix: lint ${args.map((arg) => arg.replace(samples, '…')).join(' ')}`, async () => {
        const { code, errors } = await espalier('blueprints', 'lint', ...args);
        expect(code).to.equal(2);
        expect(errors).to.match(says);
      });
  });

  describe('validate', () => {
    for (const name of ['blueprints', 'blueprint', 'bp', 'blue'])
      it(`DEP-94: ${name} validate reports that a blueprint is valid, and exits with 0`, async () => {
        const { code, output } = await espalier(name, 'validate', landscape);
        expect([code, output]).to.deep.equal([0, 'Blueprint validated without errors\n']);
      });

    it('DEP-94: names a directory without blueprint.yaml and exits with 1', async () => {
      const empty = dirname(write({ 'empty/readme.txt': 'nothing' }));
      const { code, output, errors } = await espalier('blueprints', 'validate', empty);
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors).to.equal(
        `error: the folder ${empty} is not a blueprint: it has no file blueprint.yaml\n`,
      );
    });

    it('DEP-94: lists each mistake with its place, and exits with 1', async () => {
      const file = write({
        'invalid/blueprint.yaml': sound['blueprint.yaml']?.replace('/db.yaml', '/bd.yaml') ?? '',
      });
      const { code, output } = await espalier('bp', 'validate', dirname(file));
      expect(code).to.equal(1);
      expect(output).to.contain(`${file}:22:11: error: there is no file /bd.yaml in the blueprint`);
      expect(output)
        .to.match(/\n3 errors in 1 blueprint\n$/)
        .and.not.contain('validated');
    });

    it('counts several blueprints, and treats warnings as errors on request', async () => {
      const two = await espalier('bp', 'validate', landscape, `${component}/blueprint`);
      expect([two.code, two.output]).to.deep.equal([0, '2 blueprints validated without errors\n']);
      const path = dirname(write({ 'odd/blueprint.yaml': `${sound['blueprint.yaml'] ?? ''}more: 1\n` }));
      const files = Object.entries(sound).slice(1);
      write(Object.fromEntries(files.map(([name, text]) => [`odd/${name}`, text])));
      const lenient = await espalier('bp', 'validate', path);
      expect([lenient.code, lenient.output.split('\n').at(-2)]).to.deep.equal([
        0,
        'Blueprint validated without errors',
      ]);
      expect((await espalier('bp', 'validate', path, '--strict')).code).to.equal(1);
    });

    it('reports a usage error if there is no path', async () => {
      expect((await espalier('bp', 'validate')).code).to.equal(2);
    });
  });

  describe('render', () => {
    it('shows the levels of a landscape as a tree, as far as exports are known', async () => {
      const file = write({ 'imports.yaml': imports });
      const shallow = await espalier('bp', 'render', landscape, '-f', file, '-o', 'tree');
      expect(shallow.output).to.equal(`hello-landscape
├─ database  sub-installation · imports cluster · exports endpoint · not rendered; use --deep
├─ web  sub-installation · imports greeting, database, cluster · exports url · not rendered; use --deep
└─ exports  not known without the exports of database, web; supply them with --exports
`);
      const deep = ['bp', 'render', landscape, '-f', file, '-o', 'tree', '--deep'];
      const { output } = await espalier(...deep, '-e', write({ 'exports.yaml': exports }));
      expect(output).to.equal(`hello-landscape
├─ database  sub-installation · imports cluster · exports endpoint
│  ├─ storage  deploy item · mock
│  ├─ server  deploy item · kubernetes-manifest · on cluster · after storage
│  └─ database-endpoint  export = {"host":"database.hello.svc","port":5432}
├─ web  sub-installation · imports greeting, database, cluster · exports url
│  ├─ settings  deploy item · kubernetes-manifest · on cluster
│  ├─ server  deploy item · kubernetes-manifest · on cluster · after settings
│  └─ web-url  export = "http://web.hello.svc"
└─ url  export = "http://web.hello.svc"
`);
      expect(
        (
          await espalier(
            ...deep,
            '-e',
            write({
              'partly.yaml':
                'database: { endpoint: { host: h, port: 1 } }\nwebb: 1\nweb/settings: { url: x }\n',
            }),
          )
        ).errors,
      ).to.match(
        /^warning: .*partly.yaml: there is no deploy item or sub-installation webb; did you mean web\?\n/,
      );
    });

    it('ends at the limits for trees if a blueprint renders itself', async () => {
      const document = JSON.stringify(blueprint({ more: rendersItself }));
      const bomb = dirname(write({ 'bomb/blueprint.yaml': document }));
      const deep = await espalier('bp', 'render', bomb, '--deep');
      expect(deep.code).to.equal(1);
      expect(deep.errors).to.contain('6 installations above').and.contain('limits.treeRecursion');
    });

    it('warns of unknown fields in deploy items', async () => {
      const path = write({
        'slip/blueprint.yaml': `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
deployExecutions:
  - name: items
    type: GoTemplate
    template: |
      deployItems:
        - name: web
          type: landscaper.gardener.cloud/mock
          config:
            apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1
            kind: ProviderConfiguration
            phas: Failed
`,
      });
      const { code, errors } = await espalier('bp', 'render', dirname(path));
      expect(code).to.equal(0);
      expect(errors).to.equal(
        'warning: deploy item web: config.phas is not a known field; did you mean phase?\n',
      );
    });

    it('takes the exports of a sub-installation as a whole', async () => {
      const file = write({ 'imports.yaml': imports });
      const whole = write({
        'whole.yaml': 'database: { endpoint: { host: h, port: 1 } }\nweb: { url: http://x }\n',
      });
      const { output } = await espalier('bp', 'render', landscape, '-f', file, '-e', whole, '-o', 'tree');
      expect(output).to.contain('└─ url  export = "http://x"\n');
    });

    it('names missing imports with their schema or target type, and unknown ones', async () => {
      const nothing = await espalier('bp', 'render', landscape);
      expect(nothing.code).to.equal(1);
      expect(nothing.errors).to
        .equal(`error: the imports do not match the blueprint (from no file; give one with --imports)
  cluster: missing; it is a target of the type landscaper.gardener.cloud/kubernetes-cluster
  greeting: missing; it is data with the schema {"type":"string"}
`);
      const wrong = write({ 'wrong.yaml': 'greetign: hi\ncluster: text\n' });
      expect((await espalier('bp', 'render', landscape, '-f', wrong)).errors)
        .to.contain('greetign: there is no such import; did you mean greeting?')
        .and.contain('cluster: expected a Target object, with spec.type and spec.config');
    });

    it('describes a missing value in the words of the controllers', async () => {
      const file = write({ 'five.yaml': `greeting: 5\n${cluster(TOKEN)}` });
      const { code, errors } = await espalier('bp', 'render', landscape, '-f', file);
      expect(code).to.equal(1);
      expect(errors).to.contain(
        'hello-landscape.greeting: imported datatype does not have the expected schema',
      );
    });

    const failingSpiff = (template: string) => `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
deployExecutions:
  - name: main
    type: Spiff
    template:${template}
      deployItems:
        - name: app
          type: test.example/fake
          config: { ü: 1 }
          target: (( imports.nope ))
`;
    const layouts = [
      ['tree', ''],
      ['text', ' |'],
    ] as const;
    for (const [layout, sign] of layouts) {
      it(`shows where an expression of Spiff in a ${layout === 'text' ? 'string' : layout} has no value`, async () => {
        const path = write({ [`${layout}/blueprint.yaml`]: failingSpiff(sign) });
        const { code, errors } = await espalier('bp', 'render', path);
        expect(code).to.equal(1);
        expect(errors).to.match(
          /blueprint\.yaml:11:19: error: \(\( imports\.nope \)\): 'imports\.nope' not found \[render\]\n +11 \| /,
        );
      });
    }

    it('shows the tree of Spiff itself if several lines could be meant', async () => {
      const text = failingSpiff('').replace('name: app', 'target: (( imports.nope ))');
      const { errors } = await espalier('bp', 'render', write({ 'twice/blueprint.yaml': text }));
      expect(errors).to.match(/^error: unable to template executions: unresolved nodes:/);
      expect(errors).to.contain('template source:\n1:    deployItems:\n2:    - target: (( imports.nope ))\n');
      expect(errors).not.to.contain('template input');
    });

    const mapping = (value: string): string => `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: { name: shop }
spec:
  importDataMappings:
    size:
      big: ${value}
`;
    const sized = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports: [{ name: size, type: data, schema: {} }]
`;

    it('shows where a mapping of the installation has no value', async () => {
      const blueprint = write({ 'mapped/blueprint.yaml': sized });
      const file = write({ 'mapped.yaml': mapping('(( nope ))') });
      const { code, errors } = await espalier('bp', 'render', dirname(blueprint), '-i', file);
      expect(code).to.equal(1);
      expect(errors).to.match(
        /mapped\.yaml:7:12: error: \(\( nope \)\): 'nope' not found \[render\]\n +7 \| /,
      );
    });

    it('shows a mapping as parsed if it cannot be found in the file', async () => {
      const blueprint = write({ 'mapped/blueprint.yaml': sized });
      const file = write({ 'quoted.yaml': mapping('"(( nope ))"') });
      const { errors } = await espalier('bp', 'render', dirname(blueprint), '-i', file);
      expect(errors)
        .to.match(/^error: unable to template import mapping template shop.size: unresolved nodes:/)
        .and.contain('mapping source, line 2, column 8:\n1:    size:\n2:      big: (( nope ))\n')
        .and.not.contain('mapping input');
    });

    it('names a missing value and its place, without the input of the template', async () => {
      const text = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports: [{ name: size, required: false, schema: { type: integer } }]
deployExecutions:
  - name: main
    type: GoTemplate
    template: |
      deployItems: [{ name: app, type: test.example/fake, config: { size: {{ .imports.size }} } }]
`;
      const { code, errors } = await espalier('bp', 'render', write({ 'none/blueprint.yaml': text }));
      expect(code).to.equal(1);
      expect(errors)
        .to.match(/^error: unable to template executions: template "deploy execution" contains fields/)
        .and.contain('missing: {{.imports.size}}')
        .and.not.contain('template input');
    });

    it('reads a component, as a folder or as an archive', async () => {
      const who = write({ 'who.yaml': 'who: world\n' });
      const blueprint = `${component}/blueprint`;
      const archive = join(folder, 'hello.ctf');
      expect((await espalier('components', 'pack', component, '--to', archive)).code).to.equal(0);
      for (const place of [component, archive]) {
        const { output } = await espalier('bp', 'render', blueprint, '-f', who, '-c', place, '-o', 'tree');
        expect(output, place).to.contain('greeting  export = "Hello, world!"');
      }
      const without = await espalier('bp', 'render', blueprint, '-f', who);
      expect(without.code).to.equal(1);
      expect(without.errors).to.match(
        /blueprint\.yaml:22:22: error: .*without ocm component version \[render\]\n +22 \| /,
      );
    });

    const leaky = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
  - { name: cluster, targetType: kubernetes-cluster }
  - { name: password, schema: { type: string } }
exports:
  - { name: copy, targetType: kubernetes-cluster }
deployExecutions:
  - name: main
    type: GoTemplate
    template: |
      deployItems:
        - name: app
          type: test.example/fake
          target: { import: cluster }
          config:
            url: "postgres://me:{{ .imports.password }}@db"
            encoded: {{ b64enc .imports.password }}
            token: {{ (index (fromYaml .imports.cluster.spec.config.kubeconfig).users 0).user.token }}
            random: {{ randAlphaNum 8 }}
            time: {{ now | date "2006-01-02" | quote }}
exportExecutions:
  - name: copy
    type: GoTemplate
    template: |
      exports:
        copy: { type: landscaper.gardener.cloud/kubernetes-cluster, config: { made: elsewhere-secret } }
`;
    const installation = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: { name: shop, namespace: demo }
spec:
  imports:
    targets: [{ name: cluster, target: my-cluster }]
    data: [{ name: password, secretRef: { name: db, key: password } }]
  exports:
    targets: [{ name: copy, target: shop-copy }]
`;
    const leak = async (...more: string[]): Promise<Result> => {
      const path = dirname(write({ 'leaky/blueprint.yaml': leaky }));
      const values = write({
        'values.yaml': `imports:\n  password: hunter22\n  ${cluster(TOKEN).replaceAll('\n', '\n  ')}`,
      });
      const file = write({ 'shop.yaml': installation, 'none.yaml': '{}' });
      const empty = join(folder, 'none.yaml');
      return espalier('bp', 'render', path, '-f', values, '-i', file, '-e', empty, ...more);
    };

    it('shows no secrets unless asked to', async () => {
      const { code, output, errors } = await leak();
      expect([code, errors]).to.deep.equal([0, '']);
      for (const secret of [
        'hunter22',
        TOKEN,
        Buffer.from('hunter22').toString('base64'),
        'elsewhere-secret',
      ]) {
        expect(output, secret).not.to.contain(secret);
      }
      expect(output).to.contain('url: postgres://me:***@db');
      const shown = (await leak('--show-secrets')).output;
      expect(shown).to.contain('postgres://me:hunter22@db').and.contain(`token: ${TOKEN}`);
    });

    const kind = 'landscaper.gardener.cloud/kubernetes-cluster';
    /** One child creates a target, that of another child is in the exports file; a third child reads their tokens. */
    const siblings = (action: string): string => {
      const child = (name: string, given: object): object => ({
        apiVersion: 'landscaper.gardener.cloud/v1alpha1',
        kind: 'InstallationTemplate',
        name,
        ...given,
      });
      const inline = (given: object): object => ({
        filesystem: {
          'blueprint.yaml': JSON.stringify({
            apiVersion: 'landscaper.gardener.cloud/v1alpha1',
            kind: 'Blueprint',
            ...given,
          }),
        },
      });
      const made = { name: 'made', type: 'target', targetType: kind };
      const token = (name: string): string =>
        `{{ ${action} (index (fromYaml .imports.${name}.spec.config.kubeconfig).users 0).user.token }}`;
      const maker = {
        exports: { targets: [{ name: 'made', target: 'made' }] },
        blueprint: inline({
          exports: [made],
          deployExecutions: [
            {
              name: 'x',
              type: 'GoTemplate',
              template: 'deployItems: [{name: item, type: test.example/fake, config: {}}]',
            },
          ],
          exportExecutions: [
            {
              name: 'x',
              type: 'GoTemplate',
              template: `exports: {made: {type: ${kind}, config: {kubeconfig: {{ .deployitems.item | toJson }}}}}`,
            },
          ],
        }),
      };
      const given = {
        exports: { targets: [{ name: 'made', target: 'given' }] },
        blueprint: inline({ exports: [made] }),
      };
      const user = {
        imports: {
          targets: [
            { name: 'made', target: 'made' },
            { name: 'given', target: 'given' },
          ],
        },
        blueprint: inline({
          imports: [made, { ...made, name: 'given' }],
          deployExecutions: [
            {
              name: 'x',
              type: 'GoTemplate',
              template: `deployItems: [{name: item, type: test.example/fake, config: {a: ${token('made')}, b: ${token('given')}}}]`,
            },
          ],
        }),
      };
      return JSON.stringify({
        apiVersion: 'landscaper.gardener.cloud/v1alpha1',
        kind: 'Blueprint',
        subinstallations: [child('maker', maker), child('given', given), child('user', user)],
      });
    };
    const leakBetween = (action: string, ...more: string[]): Promise<Result> => {
      const path = dirname(write({ 'siblings/blueprint.yaml': siblings(action) }));
      const kubeconfig = (token: string): string =>
        JSON.stringify({ kind: 'Config', users: [{ name: 'me', user: { token } }] });
      const exported = write({
        'siblings.yaml': JSON.stringify({
          'maker/item': kubeconfig('made-token'),
          given: { made: { type: kind, config: { kubeconfig: kubeconfig('given-token') } } },
        }),
      });
      return espalier('bp', 'render', path, '--deep', '-e', exported, ...more);
    };

    it('hides secrets that one sub-installation gets from another', async () => {
      const { output, errors } = await leakBetween('print');
      expect(output, errors).to.contain("a: '***'").and.contain("b: '***'");
      expect(output).not.to.match(/(made|given)-token/);
      const shown = (await leakBetween('print', '--show-secrets')).output;
      expect(shown).to.contain('a: made-token').and.contain('b: given-token');
    });

    it('hides secrets in errors on the way', async () => {
      const { code, errors } = await leakBetween('fail');
      expect(code).to.equal(1);
      expect(errors).to.contain('error calling fail: ***').and.not.contain('made-token');
    });

    it('gives the same result every time, and another one with another seed', async () => {
      const args = ['--now', '2026-01-31T12:00:00Z', '-o', 'json'];
      const [first, second, other] = [
        await leak(...args),
        await leak(...args),
        await leak(...args, '--seed', '7'),
      ];
      expect(first.output).to.equal(second.output).and.contain('"time": "2026-01-31"');
      expect(other.output).not.to.equal(first.output);
      const { kind, items } = JSON.parse(first.output) as { kind: string; items: Obj[] };
      expect(kind).to.equal('List');
      expect(items.map((item) => item.kind)).to.deep.equal(['DeployItem', 'Target']);
    });

    it('hides secrets in errors', async () => {
      const text = leaky.replace('b64enc .imports.password', 'fail .imports.password');
      const path = dirname(write({ 'failing/blueprint.yaml': text }));
      const values = write({ 'v.yaml': `password: hunter22\n${cluster(TOKEN)}` });
      const { code, errors } = await espalier(
        'bp',
        'render',
        path,
        '-f',
        values,
        '-i',
        write({ 'shop.yaml': installation }),
      );
      expect(code).to.equal(1);
      expect(errors).to.contain('error calling fail: ***').and.not.contain('hunter22');
    });

    const mistakes: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [[], /missing required argument 'blueprint'/],
      [['nowhere'], /there is no file or folder nowhere/],
      [[landscape, '-f', 'nowhere.yaml'], /there is no file nowhere.yaml/],
      [[landscape, '-f', samples], /cannot read .*samples \(EISDIR\)/],
      [[landscape, '-c', samples], /is not a component: it has none of the files component.yaml,/],
      [[landscape, '--now', 'tomorrow'], /write it like 2026-01-31T12:00:00Z/],
      [[landscape, '-i', join(samples, 'hello-landscape/settings.yaml')], /has no Installation in it/],
    ];
    for (const [args, says] of mistakes)
      it(`says how to fix: render ${args.map((arg) => arg.replace(samples, '…')).join(' ')}`, async () => {
        const { code, errors } = await espalier('blueprints', 'render', ...args);
        expect(code).to.equal(2);
        expect(errors).to.match(says);
      });
  });

  describe('render, compared with the controllers', () => {
    let server: Embedded;
    let landscaper: Landscaper;
    before(async () => {
      server = await startEmbedded({ simulate: true, log: silentLogger, namespace: sample.namespace });
      landscaper = await startLandscaper({ kubeconfig: { text: server.kubeconfig }, log: silentLogger });
      await applyAll(landscaper.client, await sampleObjects(server.kubeconfig));
    });
    after(async () => {
      await landscaper.stop();
      await server.close();
    });

    it('shows the same deploy items that they create', async () => {
      const job = ['inst', 'reconcile', sample.installation, '--kubeconfig', server.kubeconfigFile];
      expect((await espalier(...job, '--wait', ...timeoutOption())).errors).to.equal('');
      const { deployItems: made } = await collect(landscaper.client, sample.namespace);
      expect(made).to.have.length(4);
      const args = ['-f', write({ 'imports.yaml': imports }), '-e', write({ 'exports.yaml': exports })];
      const { output } = await espalier('bp', 'render', landscape, '--deep', ...args);
      const rendered = (parseYamlAll(output) as DeployItem[]).filter((one) => one.kind === 'DeployItem');
      const essence = (items: readonly View<DeployItem>[]): unknown[] =>
        items
          .map(({ metadata, spec: { type, config } }) => ({
            name: metadata.labels?.['execution.landscaper.gardener.cloud/name'],
            type,
            config,
          }))
          .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
      expect(essence(rendered)).to.deep.equal(essence(made));
    });
  });
});
