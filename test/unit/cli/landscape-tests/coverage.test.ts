/** The parts of landscapes that no case has touched. */
import { join } from 'node:path';
import { expect } from 'chai';
import { prepare } from '../../../../src/cli/commands/apply/prepare.ts';
import { coverageLines, coverageOf } from '../../../../src/cli/landscape-tests/coverage/coverage.ts';
import { branchesOf } from '../../../../src/templating/branches.ts';
import { inventoryOf } from '../../../../src/cli/landscape-tests/coverage/inventory.ts';

const sample = join(import.meta.dirname, '../../../../docs/samples/hello-landscape');

describe('the coverage of landscape tests', () => {
  const linesAfter = async (touched: Parameters<typeof coverageOf>[2]): Promise<readonly string[]> => {
    const { documents } = await prepare([sample], { lint: false });
    return coverageLines(coverageOf('hello', inventoryOf(documents, 'hello'), touched));
  };

  it('lists what no case has touched, in the order of the tree', async () => {
    const started = ['hello-landscape', 'hello-landscape/database'];
    const imports = [
      'hello-landscape cluster',
      'hello-landscape greeting',
      'hello-landscape/database cluster',
    ];
    expect(
      await linesAfter([{ started, imports, succeeded: ['hello-landscape/database'], branches: [] }]),
    ).to.deep.equal([
      'hello: cases touch 2 of 3 installations, 3 of 6 imports, 2 of 5 templates, 1 of 3 exports',
      '  touched by no case:',
      '    template of hello-landscape: export execution url',
      '    export of hello-landscape: url',
      '    installation hello-landscape/web',
      '    import of hello-landscape/web: cluster',
      '    import of hello-landscape/web: greeting',
      '    import of hello-landscape/web: database',
      '    template of hello-landscape/web: deploy execution default',
      '    template of hello-landscape/web: export execution url',
      '    export of hello-landscape/web: url',
    ]);
  });

  it('adds up over cases', async () => {
    const one = { started: ['hello-landscape'], succeeded: [], imports: [], branches: [] };
    const other = {
      started: ['hello-landscape/database', 'hello-landscape/web'],
      succeeded: [],
      imports: [],
      branches: [],
    };
    const [head] = await linesAfter([one, other]);
    expect(head).to.contain('3 of 3 installations');
  });

  it('lists the branches of templates that no case has taken', async () => {
    const template = '{{ if .imports.ha }}replicas: 2{{ end }}';
    const branches = branchesOf('GoTemplate', template, {});
    const documents = [
      {
        file: 'web.yaml',
        position: 1,
        object: installation({ deployExecutions: [{ name: 'web', type: 'GoTemplate', template }] }),
      },
    ];
    const lines = (taken: readonly string[]): readonly string[] =>
      coverageLines(
        coverageOf('web', inventoryOf(documents, 'shop'), [
          { started: ['web'], succeeded: ['web'], imports: [], branches: taken },
        ]),
      );
    expect(lines(branches.slice(0, 1).map(({ id }) => id))).to.deep.equal([
      'web: cases touch 1 of 1 installations, 1 of 1 templates, 1 of 2 branches',
      '  touched by no case:',
      '    branch of web: deploy execution web, line 1: else of {{if .imports.ha}}',
    ]);
    expect(lines(branches.map(({ id }) => id))).to.have.length(1);
  });

  it('lists the branches of included files once for each installation', () => {
    const files = {
      'main.tpl': '{{ include "part.tpl" . }}',
      'part.tpl': 'a: 1\n{{ if .x }}b: 2{{ end }}{{ include "part.tpl" . }}{{ include "missing.tpl" . }}',
    };
    const executions = ['one', 'two'].map((name) => ({ name, type: 'GoTemplate', file: 'main.tpl' }));
    const object = installation({ deployExecutions: executions }, files);
    const parts = inventoryOf([{ file: 'web.yaml', position: 1, object }], 'shop');
    expect(parts.filter(({ kind }) => kind === 'branch').map(({ name }) => name)).to.deep.equal([
      'file part.tpl, line 2: {{if .x}}',
      'file part.tpl, line 2: else of {{if .x}}',
    ]);
  });
});

const BLUEPRINT = { apiVersion: 'landscaper.gardener.cloud/v1alpha1', kind: 'Blueprint' };

const installation = (fields: object, files: object = {}) => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Installation',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    blueprint: {
      inline: { filesystem: { ...files, 'blueprint.yaml': JSON.stringify({ ...BLUEPRINT, ...fields }) } },
    },
  },
});
