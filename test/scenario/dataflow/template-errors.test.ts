/** What users see when a template fails, and what templates can access. */
import { expect } from 'chai';
import { useCluster } from '../../support/cluster.ts';
import {
  data,
  exportsOut,
  fails,
  giving,
  go,
  keeping,
  kept,
  secret,
  succeeds,
  takes,
  type Given,
} from '../../support/dataflow.ts';
import { dataObject, mockItem } from '../../support/landscape.ts';

const deploying = (template: string, more: Given = {}): Given => ({
  ...more,
  bp: { deployExecutions: [go(template)], ...more.bp },
});
const OPERATION =
  'Op: CreateImportsAndSubobjects - Reason: ReconcileExecution - Message: Op: RenderDeployItemTemplates';

describe('a template that fails', () => {
  const here = useCluster();

  it('DF-75: is shown with the lines around the error, and with its input', async () => {
    const { error } = await fails(
      here,
      deploying('deployItems:\n- name: a\n  type: {{ .imports.kind.name }}'),
    );
    const lines = error.message.split('\n');
    expect(lines[0]).to.contain(OPERATION);
    expect(lines[0]).to.match(
      /template: execution:3:19: executing "execution" at <\.imports\.kind\.name>: nil pointer evaluating interface \{\}\.name$/,
    );
    expect(lines.slice(1, 7)).to.deep.equal([
      'template source:',
      '1:    deployItems:',
      '2:    - name: a',
      '3:      type: {{ .imports.kind.name }}',
      `${' '.repeat(25)}ˆ≈≈≈≈≈≈≈`,
      '',
    ]);
    expect(lines[7]).to.equal('template input:');
    expect(error.codes).to.equal(undefined);
  });

  const spiff = (template: unknown) => ({ name: 's', type: 'Spiff', template });
  /** The excerpt, without blanks at the ends of its lines. */
  const excerptIn = (message: string): readonly string[] => {
    const [, block = ''] = /\ntemplate source:\n([^]*?)\n\ntemplate input:\n/.exec(message) ?? [];
    return block.split('\n').map((line) => line.trimEnd());
  };

  it('DF-138: is shown with the lines around the Spiff expression that has no value, without values of imports', async () => {
    const { error, self } = await fails(here, {
      bp: {
        imports: [data('login')],
        deployExecutions: [
          spiff(
            'deployItems:\n- name: a\n  config:\n    user: (( imports.login.user ))\n    v: (( imports.nope ))\n',
          ),
        ],
      },
      spec: takes('login'),
      objects: [dataObject('login', { user: 's3cr3t-name' })],
    });
    expect(error.message).to.contain(
      "\t(( imports.nope ))\tin template\tdeployItems.[0].config.v\t(deployItems.name:a.config.v)\t*'imports.nope' not found\ntemplate source:\n",
    );
    expect(excerptIn(error.message)).to.deep.equal([
      '1:    deployItems:',
      '2:    - name: a',
      '3:      config:',
      '4:        user: (( imports.login.user ))',
      '5:        v: (( imports.nope ))',
      `${' '.repeat(13)}ˆ≈≈≈≈≈≈≈`,
      '6:',
    ]);
    expect(JSON.stringify(self.status)).not.to.contain('s3cr3t');
  });

  const broken = { x: 1, broken: ['(( 1 + ))'] };
  const places: readonly (readonly [kind: string, given: Given])[] = [
    ['import', { bp: { importExecutions: [spiff(broken)] } }],
    ['subinstallation', { bp: { subinstallationExecutions: [spiff(broken)] } }],
    ['deploy', { bp: { deployExecutions: [spiff(broken)] } }],
    ['export', { bp: { exports: [data('out')], exportExecutions: [spiff(broken)] }, spec: exportsOut() }],
  ];
  for (const [kind, given] of places) {
    it(`DF-138: is shown as YAML if it is the tree of one of the ${kind} executions`, async () => {
      const { error } = await fails(here, given);
      expect(excerptIn(error.message)).to.deep.equal([
        '1:    x: 1',
        '2:    broken:',
        '3:    - (( 1 + ))',
        `${' '.repeat(15)}ˆ≈≈≈≈≈≈≈`,
        '4:',
      ]);
      expect(error.message).to.contain(`\nin ${kind} execution "s"`);
    });
  }

  const mappings: readonly (readonly [kind: string, input: string, given: Given])[] = [
    [
      'importDataMappings',
      'login',
      {
        bp: { imports: [data('out')] },
        spec: { ...takes('login'), importDataMappings: { out: { who: '(( login.nope ))' } } },
      },
    ],
    [
      'exportDataMappings',
      'user',
      {
        bp: {
          imports: [data('login')],
          exports: [data('user')],
          exportExecutions: [go('exports:\n  user: {{ toJson .imports.login }}')],
        },
        spec: {
          ...takes('login'),
          ...exportsOut(),
          exportDataMappings: { out: { who: '(( user.nope ))' } },
        },
      },
    ],
  ];
  for (const [field, input, given] of mappings) {
    it(`is shown with the lines around the error if it is one of the ${field}, without values`, async () => {
      const { error, self } = await fails(here, {
        ...given,
        objects: [dataObject('login', { user: 's3cr3t-name' })],
      });
      expect(error.message)
        .to.contain(`\tin out\twho\t()\t*'${input}.nope' not found\n`)
        .and.contain(`\nmapping source, line 2, column 8:\n1:    out:\n2:      who: (( ${input}.nope ))\n`)
        .and.contain(`\n\t${input}: {"user":"[...] (string)"}\n`);
      expect(JSON.stringify(self.status)).not.to.contain('s3cr3t');
    });
  }

  it('does not repeat a secret that a mapping received, even if it is written in the mapping itself', async () => {
    const { error, self } = await fails(here, {
      bp: { imports: [data('out')] },
      spec: {
        imports: { data: [{ name: 'pin', secretRef: { name: 's', key: 'k' } }] },
        importDataMappings: { out: { a: 'pin of s3cr3t-name', b: '(( integer(pin) ))' } },
      },
      objects: [secret('s', { k: 's3cr3t-name' })],
    });
    expect(error.message)
      .to.contain('(( integer(pin) ))')
      .and.contain('a: pin of [...]')
      .and.contain('parsing \\"[...]\\"');
    expect(JSON.stringify(self.status)).not.to.contain('s3cr3t');
  });

  it('DF-76: reports a missing value and its place', async () => {
    const { error } = await fails(here, deploying('deployItems:\n- name: a\n  type: {{ .imports.nope }}\n'));
    expect(error.message).to.contain('template "deploy execution" contains fields with "no value":');
    expect(error.message).to.contain('line 3:8');
  });

  it('DF-78: does not repeat the values of imports', async () => {
    const { error, self } = await fails(
      here,
      deploying('{{ fail "boom" }}', {
        bp: { imports: [data('login')] },
        spec: takes('login'),
        objects: [dataObject('login', { password: 's3cr3t' })],
      }),
    );
    expect(error.message).to.contain('error calling fail: boom');
    expect(error.message).to.contain('[...] (string)');
    expect(JSON.stringify(self.status)).not.to.contain('s3cr3t');
  });

  it('DF-79: does not repeat exports of deploy items or of the installation', async () => {
    const items = [mockItem('a', { export: { token: 's3cr3t' } })];
    const { error, self } = await fails(here, {
      bp: {
        exports: [data('out')],
        deployExecutions: [go(JSON.stringify({ deployItems: items }))],
        exportExecutions: [go('{{ fail .deployitems.a.nope }}')],
      },
      spec: exportsOut(),
    });
    expect(error.operation).to.equal('handlePhaseCompleting');
    expect(JSON.stringify(self.status)).not.to.contain('s3cr3t');
  });

  const failures: readonly [title: string, given: Given, message: string][] = [
    ['DF-82: cannot access the environment', deploying('{{ env "HOME" }}'), 'function "env" not defined'],
    [
      'DF-84: cannot include itself forever',
      { ...deploying('{{ include "/part.tpl" . }}'), files: { 'part.tpl': '{{ include "/part.tpl" . }}' } },
      'rendering template has a nested reference name: /part.tpl',
    ],
    [
      'DF-83: cannot include a missing file',
      deploying('{{ include "/nope.tpl" . }}'),
      'unable to read include file "/nope.tpl"',
    ],
    [
      'DF-85: cannot read a file outside the blueprint',
      deploying('{{ readFile "/../../etc/hostname" }}'),
      'error calling readFile: file does not exist',
    ],
    [
      'is reported if the result is not valid YAML',
      deploying('deployItems: ['),
      'error converting YAML to JSON: yaml: line 1',
    ],
    [
      'is reported if the result has a number that is not valid in JSON',
      deploying('state: {a: .inf}'),
      'unsupported value: +Inf',
    ],
    [
      'DF-92: is reported if the result has an integer that would be rounded, with the remedy',
      deploying('state: {a: 9007199254740993}'),
      'line 1: integer 9007199254740993 is beyond 2^53 and would lose digits; write it as a string, in quotes',
    ],
    [
      'is reported if the result has the wrong form',
      deploying('deployItems: text'),
      'deployItems: expected a list, found a string',
    ],
    [
      'is reported if it asks for the key of a resource without a component',
      deploying('{{ getResourceKey }}'),
      'error calling getResourceKey: unable to use this function without ocm component version',
    ],
  ];
  for (const [title, given, message] of failures) {
    it(title, async () => {
      const { error } = await fails(here, given);
      expect(error.message).to.contain(message);
    });
  }
});

describe('a template', () => {
  const here = useCluster();

  it('DF-83: may include files of the blueprint', async () => {
    const scene = await succeeds(here, {
      bp: keeping('{{ include "/part.tpl" (dict "x" 1) | quote }}'),
      files: { 'part.tpl': 'v: {{ .x }}' },
    });
    expect(kept(scene)).to.equal('v: 1');
  });

  it('DF-85: may read files of the blueprint, as bytes', async () => {
    const scene = await succeeds(here, {
      bp: keeping('[ {{ readFile "/a.txt" }}, {{ readFile "/a.txt" | toString }} ]'),
      files: { 'a.txt': 'hi' },
    });
    expect(kept(scene)).to.deep.equal([['104 105'], 'hi']);
  });

  it('DF-92: sees numbers as they are printed, and its output is read as YAML', async () => {
    const scene = await succeeds(here, {
      bp: {
        imports: [data('big')],
        ...giving('{plain: {{ .imports.big }}, quoted: "{{ .imports.big }}", whole: {{ int .imports.big }}}'),
      },
      spec: { ...takes('big'), ...exportsOut() },
      objects: [dataObject('big', 20971520)],
    });
    expect(scene.dataObject('result')?.data).to.deep.equal({
      plain: 20971520,
      quoted: '2.097152e+07',
      whole: 20971520,
    });
  });
});

describe('a message about a template', () => {
  const here = useCluster();
  const rows: readonly (readonly [string, Given, readonly string[]])[] = [
    [
      'names the line of the template that produced the invalid line of YAML',
      deploying(
        'deployItems:\n{{- range $i := until 3 }}\n- name: a{{ $i }}\n  type: x\n   config: {}\n{{- end }}\n',
      ),
      ['error converting YAML to JSON: yaml: line 4', '5:       config: {}', 'in deploy execution "e"'],
    ],
    [
      'names the missing value, and the intended name',
      deploying('a: {{ .imports.sizes.cpu }}', {
        bp: { imports: [data('size')] },
        spec: takes('size'),
        objects: [dataObject('size', 3)],
      }),
      [
        'nil pointer evaluating interface {}.cpu',
        'hint: there is no "sizes" in .imports; did you mean "size"?',
      ],
    ],
    [
      'names the intended function',
      deploying('a: {{ .imports | toYml }}'),
      ['function "toYml" not defined', 'hint: did you mean "toYaml"?'],
    ],
    [
      'says that functions of Helm are not available',
      deploying('a: {{ required "x" .imports }}'),
      ['function "required" not defined', 'hint: "required" is a function of Helm'],
    ],
    [
      'names the execution whose result has the wrong form',
      { bp: { subinstallationExecutions: [go('subinstallations: [{name: [a]}]', 'subs')] } },
      ['subinstallations[0].name: expected a string, found a list', 'in subinstallation execution "subs"'],
    ],
    [
      'names the export that does not match its schema',
      { bp: giving('5', { type: 'string' }), spec: { exports: { data: [{ name: 'out', dataRef: 'o' }] } } },
      ['internalExports.exports.out: exported data does not satisfy the configured schema'],
    ],
    [
      'names the Handlebars block that is never closed',
      {
        bp: {
          deployExecutions: [
            {
              name: 'h',
              type: 'Handlebars',
              template: 'deployItems:\n{{#if imports}}\n{{#each imports}}\n{{/each}}\n',
            },
          ],
        },
      },
      ['execution:2:0: {{#if}} is never closed; expected {{/if}}'],
    ],
    [
      'names the intended local type',
      {
        bp: { localTypes: { size: {} }, imports: [data('v', { $ref: 'local://sizee' })] },
        spec: takes('v'),
        objects: [dataObject('v', 1)],
      },
      ['type sizee is not defined in local types; did you mean local://size?'],
    ],
  ];
  for (const [title, given, parts] of rows) {
    it(title, async () => {
      const { error } = await fails(here, given);
      for (const part of parts) expect(error.message).to.contain(part);
    });
  }
});
