/** `espalier test`: the sample and the skeletons keep their promises, and failures are reported. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../../src/cli/program.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { timeoutOption } from '../../support/patience.ts';

const samples = join(import.meta.dirname, '../../../docs/samples');

interface Run {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function test(...args: readonly string[]): Promise<Run> {
  const terminal = fakeTerminal();
  const code = await runProgram(['test', ...args, ...timeoutOption(300_000)], terminal);
  const { output, errors } = terminal;
  return { code, output, errors };
}

const WEB_BLUEPRINT = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
jsonSchema: https://json-schema.org/draft/2019-09/schema
imports:
  - name: isLarge
    type: data
    schema: { type: boolean }
    required: false
    default: { value: false }
deployExecutions:
  - name: web
    type: GoTemplate
    file: /web.yaml.tpl
`;

const WEB_TEMPLATE = `deployItems:
  - name: web
    type: landscaper.gardener.cloud/mock
    config:
      apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1
      {{- if .imports.isLarge }}
      export: { size: large }
      {{- end }}
      kind: ProviderConfiguration
      phase: Succeeded
`;

const WEB_INSTALLATION = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata:
  name: web
  annotations:
    landscaper.gardener.cloud/operation: reconcile
spec: {}
`;

describe('espalier test', function () {
  this.timeout(300_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const written = (text: string, name = 'a.test.yaml'): string => {
    const file = join(folder, name);
    const landscape = relative(folder, join(samples, 'hello-landscape'));
    writeFileSync(file, `landscape: ${landscape}\n${text}`);
    return file;
  };

  it('passes the tests of the sample', async () => {
    const { code, output } = await test(join(samples, 'hello-landscape'));
    expect(output).to.match(/✓ installs the database before the web server \(.*3s of virtual time\)/);
    expect(output).to.match(/\n\d+ passed in /);
    expect(code).to.equal(0);
  });

  it('passes the tests of new landscapes and blueprints', async () => {
    for (const kind of ['landscape', 'blueprint'])
      await runProgram(['new', kind, `my-${kind}`, '--to', join(folder, kind)], fakeTerminal());
    const { code, output } = await test(folder);
    expect(output).to.match(/\n4 passed in /);
    expect(code).to.equal(0);
  });

  it('lists the branches of templates that no case has taken, in one process and in several', async () => {
    mkdirSync(join(folder, 'blueprint'));
    writeFileSync(join(folder, 'blueprint/blueprint.yaml'), WEB_BLUEPRINT);
    writeFileSync(join(folder, 'blueprint/web.yaml.tpl'), WEB_TEMPLATE);
    writeFileSync(join(folder, 'web.yaml'), WEB_INSTALLATION);
    const cases = ['one', 'two'].map((name) => `  - name: ${name}\n    then: { tree: { web: Succeeded } }\n`);
    writeFileSync(join(folder, 'web.test.yaml'), `cases:\n${cases.join('')}`);
    for (const jobs of ['1', '2']) {
      const { code, output } = await test(folder, '--coverage', '--jobs', jobs);
      expect(output)
        .to.contain('1 of 1 templates, 1 of 2 branches\n')
        .and.to.contain('    branch of web: deploy execution web, line 6: {{if .imports.isLarge}}\n');
      expect(code).to.equal(0);
    }
  });

  it('passes the examples of its page, in several processes', async () => {
    const page = readFileSync(join(samples, '../landscape-tests.md'), 'utf8');
    const examples = [...page.matchAll(/^```yaml\n(cases:[^]*?)^```$/gm)].map(([, text = '']) => text);
    expect(examples).to.have.length(3);
    for (const [i, text] of examples.entries()) written(text, `${String(i)}.test.yaml`);
    const { code, output, errors } = await test(folder, '--jobs', '2');
    expect([errors, /✗.*/.exec(output)]).to.deep.equal(['', null]);
    expect(output.match(/\d\.test\.yaml/g)).to.deep.equal(['0.test.yaml', '1.test.yaml', '2.test.yaml']);
    expect(code).to.equal(0);
  });

  it('shows expected and actual values with their objects, and ends with 1', async () => {
    const file = written(`cases:
  - name: another greeting
    then:
      tree: { hello-landscape/web: Failed }
      objects:
        - apiVersion: v1
          kind: ConfigMap
          metadata: { name: web-settings }
          data: { greeting: Hi }
`);
    const { code, output } = await test(file);
    expect(output).to.include('✗ another greeting');
    expect(output).to.include(`${file}:5:15: installation hello-landscape/web is not as expected`);
    expect(output).to.include(`${file}:7:11: ConfigMap web-settings is not as expected`);
    expect(output).to.include(
      'data.greeting\n          expected  "Hi"\n          actual    "Hello, landscape!"',
    );
    expect(code).to.equal(1);
  });

  it('refuses invalid files with 2, before anything runs', async () => {
    const file = written('cases: [{ name: a, than: {} }]\n');
    const { code, output, errors } = await test(file);
    expect(errors).to.include(`${file}:2:20: error: unknown field "than"; did you mean then?`);
    expect(output).to.equal('');
    expect(code).to.equal(2);
  });
});
