import { expect } from 'chai';
import { inspect, inspectInstallation, lineOf, sound } from './sound.ts';

const installation = (blueprint: string): string => `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: { name: shop }
spec:
  blueprint:
    inline:
      filesystem:
${blueprint}`;

describe('inspecting a blueprint in an Installation', () => {
  it('shows the lines of the file, not those of the string in it', () => {
    const found = inspectInstallation(
      installation(`        blueprint.yaml: |
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          import: []
`),
    );
    expect(found.map(lineOf)).to.deep.equal([
      'installation.yaml:11:11: warning: unknown field "import"; did you mean "imports"? [unknown-field]',
    ]);
  });

  it('accepts a blueprint that is a map', () => {
    const found = inspectInstallation(
      installation(`        blueprint.yaml:
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          imports:
            - name: x
`),
    );
    expect(found.map(lineOf)).to.include(
      'installation.yaml:12:15: error: the import "x" has no type; give it a schema if it is data, a targetType if it is a target [type-unknown]',
    );
  });

  it('shows the place of a string on one line, and the start of a folded one', () => {
    const flow = inspectInstallation(
      installation(
        `        blueprint.yaml: "{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, import: []}"\n`,
      ),
    );
    expect(flow.map(({ place }) => [place.line, place.column])).to.deep.equal([[8, 92]]);
    const folded = inspectInstallation(
      installation(`        blueprint.yaml: >
          {apiVersion: landscaper.gardener.cloud/v1alpha1,
          kind: Blueprint, import: []}
`),
    );
    expect(folded.map(({ place }) => place.line)).to.deep.equal([8]);
  });

  it('finds names through anchors and merged maps', () => {
    const found = inspectInstallation(
      installation(`        blueprint.yaml: |
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          imports:
            - &one { name: x, schema: { type: string } }
            - { <<: *one, name: x }
`),
    );
    expect(found.map(lineOf)).to.include(
      'installation.yaml:13:33: error: there is another import with the name "x" [duplicate-name]',
    );
  });

  it('finds a template that is written elsewhere in the document', () => {
    const found = inspectInstallation(
      installation(`        blueprint.yaml:
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          imports:
            - { name: x, schema: { type: string, description: &text '{{ .imports.y }}' } }
          deployExecutions:
            - { name: main, type: GoTemplate, template: *text }
`),
    );
    expect(found.map(lineOf)).to.include(
      'installation.yaml:12:82: warning: the blueprint has no import "y"; did you mean "x"? [import-unknown]',
    );
  });

  it('warns of a name that is there twice, however it is written', () => {
    const found = inspectInstallation(
      installation(`        blueprint.yaml:
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          localTypes: { 1: { type: string }, 0x1: { type: integer } }
`),
    );
    expect(found.map(lineOf)).to.include(
      'installation.yaml:11:46: warning: "1" is a duplicate; the last one wins [duplicate-key]',
    );
  });

  it('reports mistakes of the Installation itself', () => {
    const text = `${installation('        blueprint.yaml: ""\n')}  imports:\n    data: [{ name: x }]\n`;
    expect(inspectInstallation(text).map(lineOf)).to.include(
      'installation.yaml:10:12: error: this installation is not valid: spec.imports.data[0]: Required value: exactly one of [DataRef, SecretRef, ConfigMapRef] must be set (currently set: none) [installation-invalid]',
    );
  });

  it('warns of an empty blueprint', () => {
    const found = inspectInstallation(installation('        blueprint.yaml: ""\n'));
    expect(found.map(lineOf)).to.deep.equal([
      'installation.yaml:8:25: warning: the blueprint is empty, so it does nothing [blueprint-empty]',
    ]);
  });
});

describe('inspecting', () => {
  it('continues if templates have loops and conditions, without guessing their results', () => {
    const deploy = `deployItems:
{{- range $i := until 2 }}
  - name: item-{{ $i }}
    type: test.example/fake
    target: { import: nodes, index: {{ $i }} }
    config: { region: {{ $.imports.region }}, port: {{ $.imports.port }}, on: {{ toJson $.imports.cluster }} }
{{- end }}
`;
    expect(inspect({ ...sound, 'deploy.yaml': deploy }).map(lineOf)).to.deep.equal([]);
  });

  it('does not require imports that import executions bind', () => {
    const files = {
      ...sound,
      'blueprint.yaml': `${sound['blueprint.yaml'] ?? ''}importExecutions:
  - name: derive
    type: GoTemplate
    template: |
      bindings:
        prot: 80
`,
      'deploy.yaml': (sound['deploy.yaml'] ?? '').replace('.imports.port', 'add .imports.prot .imports.port'),
    };
    expect(inspect(files).map(lineOf)).to.deep.equal([]);
  });

  it('does not treat a test for existence as a mistake', () => {
    const asking = [
      '{{ if hasKey .imports "nope" }}a{{ end }}',
      '{{ .imports.nope | default "a" }}',
      '{{ with .imports.nope }}{{ . }}{{ end }}',
    ];
    for (const action of asking) {
      const deploy = (sound['deploy.yaml'] ?? '').replace('config:', `config:\n      more: ${action}`);
      expect(inspect({ ...sound, 'deploy.yaml': deploy }).map(lineOf), action).to.deep.equal([]);
    }
  });

  it('counts an import as read if all imports are read', () => {
    const deploy = (sound['deploy.yaml'] ?? '').replace('{{ .imports.port }}', '{{ toJson .imports }}');
    expect(inspect({ ...sound, 'deploy.yaml': deploy }).map(lineOf)).to.deep.equal([]);
  });

  it('finds an invalid Spiff expression', () => {
    const text = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
deployExecutions:
- name: main
  type: Spiff
  template:
    deployItems:
    - name: (( imports.name "-" ))
      type: (( imports.( ))
`;
    const found = inspect({ 'blueprint.yaml': text }).map(lineOf);
    const [line, ...others] = found.filter((one) => one.includes('[template-syntax]'));
    expect(others).to.deep.equal([]);
    expect(line).to.match(
      /^blueprint\.yaml:9:13: error: \(\( imports\.\( \)\) at deployItems\.\[0\]\.type: parse error near /,
    );
  });

  const readers: readonly (readonly [string, string, string])[] = [
    ['@root.imports.x of Handlebars', 'Handlebars', '{{#each list}}{{@root.imports.used}}{{/each}}'],
    ['this.imports.x', 'Handlebars', '{{this.imports.used}}'],
    ['imports.[x]', 'Handlebars', '{{imports.[used]}}'],
    ['../imports.x', 'Handlebars', '{{#with cd}}{{../imports.used}}{{/with}}'],
    ['.imports.x of Spiff', 'Spiff', 'deployItems: (( .imports.used ))'],
  ];
  for (const [title, type, template] of readers)
    it(`finds the imports that are read as ${title}`, () => {
      const bp = {
        apiVersion: 'landscaper.gardener.cloud/v1alpha1',
        kind: 'Blueprint',
        imports: [
          { name: 'used', schema: {} },
          { name: 'idle', schema: {} },
        ],
        deployExecutions: [{ name: 'main', type, template }],
      };
      const found = inspect({ 'blueprint.yaml': JSON.stringify(bp) }).map(({ rule, message }) => [
        rule,
        message,
      ]);
      expect(found).to.deep.equal([['import-unused', 'nothing reads the import "idle"']]);
    });

  it('does not take a field of another value for an import', () => {
    const bp = {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Blueprint',
      imports: [{ name: 'idle', schema: {} }],
      deployExecutions: [{ name: 'main', type: 'Handlebars', template: '{{cd.imports.idle}}' }],
    };
    const found = inspect({ 'blueprint.yaml': JSON.stringify(bp) }).map(({ rule }) => rule);
    expect(found).to.deep.equal(['import-unused']);
  });

  it('finds it in a string and in a file, too', () => {
    const document = 'deployItems:\n- name: a\n  type: (( 1 + ))\n';
    const text = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
deployExecutions:
- name: text
  type: Spiff
  template: |
    ${document.trimEnd().replaceAll('\n', '\n    ')}
- name: file
  type: Spiff
  file: /deploy.spiff
- name: no yaml
  type: Spiff
  template: |
    a: 1
      b: 2
`;
    const found = inspect({ 'blueprint.yaml': text, 'deploy.spiff': document }).map(lineOf);
    const places = found.flatMap((line) => /^(.*): error: .*\[template-syntax\]$/.exec(line)?.[1] ?? []);
    expect(places).to.have.members(['blueprint.yaml:9:20', 'deploy.spiff:3:16', 'blueprint.yaml:17:7']);
  });

  it('finds an invalid expression in a mapping', () => {
    const found = inspectInstallation(
      installation(
        `        blueprint.yaml: "{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, imports: [{name: a, schema: {}}]}"
  importDataMappings:
    a:
      list:
        - 1
        - (( 1 + ))
`,
      ),
    );
    const places = found.map(lineOf).filter((line) => line.includes('[template-syntax]'));
    expect(places.map((line) => line.replace(/: error.*/, ''))).to.deep.equal(['installation.yaml:13:11']);
  });
});
