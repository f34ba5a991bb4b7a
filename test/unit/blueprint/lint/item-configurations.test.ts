import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { itemTypes, type DeployerName } from '../../../../src/cli/names.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';
import { inspect } from './sound.ts';

const GROUP = 'deployer.landscaper.gardener.cloud';
const heads: Readonly<Record<DeployerName, string>> = {
  helm: `helm.${GROUP}/v1alpha1`,
  manifest: `manifest.${GROUP}/v1alpha2`,
  container: `container.${GROUP}/v1alpha1`,
  mock: `mock.${GROUP}/v1alpha1`,
};

/** A blueprint with the template in a file. */
const findingsOn = (type: string, template: string, list = 'deployExecutions'): readonly string[] =>
  inspect({
    'blueprint.yaml': `{apiVersion: landscaper.gardener.cloud/v1alpha1, kind: Blueprint, imports: [{name: x, schema: {}}],
      exports: [{name: url, schema: {}}], ${list}: [{name: main, type: ${type}, file: /t}]}`,
    t: template,
  })
    .filter(({ rule }) => /^(item|export)-/.test(rule))
    .filter(({ rule }) => list !== 'deployExecutions' || !rule.startsWith('export-'))
    .map(({ rule, message, place }) => `${String(place.line)}: ${message} [${rule}]`);

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ');

/** A Go template with one item; the lines of its configuration begin with line 6. */
const itemOf = (deployer: DeployerName, fields: string): string => `deployItems:
- name: app
  type: ${itemTypes[deployer]}
  config:
    apiVersion: ${heads[deployer]}
    kind: ProviderConfiguration
${indented(fields)}`;
const configOf = (deployer: DeployerName, fields: string, type = 'GoTemplate'): readonly string[] =>
  findingsOn(type, itemOf(deployer, fields));

describe('checking the configurations of deploy items in templates', () => {
  const refused: readonly (readonly [DeployerName, string, string])[] = [
    [
      'helm',
      'name: app\nnamespace: web',
      '4: the config of "app" is not valid: chart: Required value: must not be empty: either ref, fromResource, helmChartRepo or resourceRef must be set [item-config-invalid]',
    ],
    [
      'helm',
      'name: [app]\nnamespace: web\nchart: { ref: "example.org/app:1" }',
      '7: the config of "app" is not valid: name: expected a string [item-config-invalid]',
    ],
    [
      'helm',
      'name: {{ .imports.x }}\nnamespace: web\nchart: { ref: example.org/app }',
      '9: the config of "app" is not valid: chart.ref: no tag specified in reference example.org/app [item-config-invalid]',
    ],
    [
      'manifest',
      'manifests:\n- policy: kep\n  manifest: { apiVersion: v1, kind: Secret, metadata: { name: "{{ .imports.x }}" } }',
      '8: the config of "app" is not valid: manifests[0].policy: "kep" is not a policy, use one of manage, fallback, keep, ignore, immutable, ensure [item-config-invalid]',
    ],
    [
      'container',
      'blueprint: { ref: { resourceName: 1 } }',
      '7: the config of "app" is not valid: blueprint.ref.resourceName: Invalid input: expected string, received number [item-config-invalid]',
    ],
    [
      'mock',
      'phase: { a: b }',
      '7: the config of "app" is not valid: phase: expected a string [item-config-invalid]',
    ],
  ];
  for (const [deployer, fields, says] of refused)
    it(`says what the ${deployer} deployer says: ${says}`, () => {
      expect(configOf(deployer, fields)).to.deep.equal([says]);
    });

  it('finds mistakes behind other mistakes and behind expressions', () => {
    const fields =
      'name: [a]\nnamespace: {{ .imports.x }}\nchart: { ref: "{{ .imports.x }}" }\nhelmDeployment: "yes"\nvalues: []';
    expect(configOf('helm', fields).map((line) => line.split(': ').slice(0, 3))).to.deep.equal([
      ['7', 'the config of "app" is not valid', 'name'],
      ['10', 'the config of "app" is not valid', 'helmDeployment'],
      ['11', 'the config of "app" is not valid', 'values'],
    ]);
  });

  it('points at the version or the kind that the deployer does not have', () => {
    const text = itemOf('mock', '').replace('/v1alpha1', '/v1');
    expect(findingsOn('GoTemplate', text)).to.deep.equal([
      `5: the config of "app" is not valid: no kind "ProviderConfiguration" is registered for version "mock.${GROUP}/v1"; expected ProviderConfiguration of mock.${GROUP}/v1alpha1 [item-config-invalid]`,
    ]);
    const kind = itemOf('mock', '').replace('kind: Provider', 'kind: ');
    expect(findingsOn('GoTemplate', kind)[0]).to.match(/^6: .* no kind "Configuration"/);
  });

  it('finds misspelt fields at any depth, but not in the manifests themselves', () => {
    const fields = `manifests:
- manifest: { apiVersion: v1, kind: ConfigMap, metadata: { name: a }, dat: {} }
  polcy: manage
updateStratgy: patch`;
    expect(configOf('manifest', fields)).to.deep.equal([
      '9: unknown field "polcy"; did you mean "policy"? [item-config-field]',
      '10: unknown field "updateStratgy"; did you mean "updateStrategy"? [item-config-field]',
    ]);
  });
});

describe('the checks of configurations accept', () => {
  const good: readonly (readonly [string, DeployerName, string])[] = [
    [
      'values that are expressions',
      'helm',
      'name: {{ .imports.x }}\nnamespace: "{{ .imports.x }}"\nchart: {{ toJson .imports.x }}\nvalues: {{ toJson .imports.x }}\nhelmDeployment: {{ .imports.x }}',
    ],
    [
      'fields that are expressions',
      'helm',
      '{{ .imports.x }}: app\nnamespace: web\nchart: { {{ .imports.x }}: a }',
    ],
    ['an expression that is the whole configuration', 'helm', '{{- toYaml .imports.x | nindent 4 }}'],
    [
      'blocks that an expression fills',
      'helm',
      'name: app\nnamespace: web\nchart: { ref: "a:1" }\nvalues:\n{{ toYaml .imports.x | indent 6 }}',
    ],
    [
      'a part of a list that is an expression',
      'helm',
      'name: a\nnamespace: web\nchart: { ref: "a:1" }\nexports:\n  exports:\n  - {{ .imports.x }}',
    ],
    [
      'fields in two branches',
      'helm',
      'name: a\n{{- if .imports.x }}\nnamespace: web\nchart: { ref: "a:1" }\n{{- else }}\nnamespace: {{ .imports.x }}\nchart: { resourceRef: a }\n{{- end }}',
    ],
    [
      'groups in two branches',
      'helm',
      'name: a\nnamespace: b\nchart: { ref: "a:1" }\ndeletionGroups:\n- {{ if .imports.x }}predefinedResourceGroup: { type: crds }\n  {{- else }}\n  customResourceGroup: { resources: [] }\n  {{- end }}',
    ],
    ['fields that a condition may add', 'helm', '{{- if .imports.x }}\nname: a\nnamespace: b\n{{- end }}'],
    [
      'an expression over several lines',
      'helm',
      'name: a\nnamespace: b\nchart: {{ dict\n  "ref" "a:1" | toJson }}',
    ],
    [
      'an empty part below a loop',
      'manifest',
      'manifests:\n{{- range .imports.x }}\n- manifest: {{ toJson . }}\n{{- end }}',
    ],
    [
      'options of Helm that the deployer passes on',
      'helm',
      'name: a\nnamespace: b\nchart: { ref: "a:1" }\nhelmDeploymentConfig: { install: { timeout: 5m, atomic: true } }',
    ],
  ];
  for (const [what, deployer, fields] of good)
    it(what, () => {
      expect(configOf(deployer, fields)).to.deep.equal([]);
    });

  it('a field that is known to be wrong only in one branch, but not a wrong value in it', () => {
    const fields = '{{- if .imports.x }}\nname: a\nupdateStrategy: wrong\nupdateStrat: a\n{{- end }}';
    expect(configOf('helm', fields).map((line) => line.split(':')[0])).to.deep.equal(['9', '10']);
  });

  for (const type of [
    'landscaper.gardener.cloud/mock',
    'example.org/mock',
    'my.landscaper.gardener.cloud/mock',
    '{{ .imports.x }}',
  ])
    it(`the type ${type}`, () => {
      const text = itemOf('mock', '').replace(itemTypes.mock, type);
      expect(findingsOn('GoTemplate', text)).to.deep.equal([]);
    });

  for (const [type, meant] of [
    ['landscaper.gardener.cloud/hlm', 'helm'],
    ['landscaper.gardner.cloud/kubernetes-manifest', 'manifest'],
    ['container', 'container'],
  ] as const)
    it(`not the type ${type}`, () => {
      const text = itemOf('mock', '').replace(itemTypes.mock, type);
      expect(findingsOn('GoTemplate', text)).to.deep.equal([
        `3: no deployer of Espalier has the type "${type}"; did you mean "${itemTypes[meant]}"? [item-type-unknown]`,
      ]);
    });
});

describe('templates of other engines', () => {
  it('are checked: Handlebars', () => {
    const fields = '{{#if imports.x}}\nphase: "{{imports.x}}"\n{{/if}}\nexprt: {{{imports.x}}}';
    expect(configOf('mock', fields, 'Handlebars')).to.deep.equal([
      '10: unknown field "exprt"; did you mean "export"? [item-config-field]',
    ]);
  });

  it('are checked: Spiff, in a file', () => {
    const fields = 'name: (( imports.x ))\nnamespace: b\nchart: { ref: (( imports.x )), rf: a }';
    expect(configOf('helm', fields, 'Spiff')).to.deep.equal([
      '9: unknown field "rf"; did you mean "ref"? [item-config-field]',
    ]);
  });

  it('are checked: Spiff, as a part of the blueprint', () => {
    const found = inspect({
      'blueprint.yaml': `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
deployExecutions:
- name: main
  type: Spiff
  template:
${indented(itemOf('mock', 'phse: (( "a" ))'))}`,
    });
    expect(found.map(({ place, rule }) => [place.line, place.column, rule])).to.deep.equal([
      [13, 9, 'item-config-field'],
    ]);
  });

  /** Templates that the original engines render, see test/fixtures/blueprints. Their items have no types in some. */
  for (const engine of ['GoTemplate', 'Spiff'])
    for (const name of ['deploy-executions', 'state', 'exports'])
      it(`have no wrong findings: ${engine}, ${name}`, () => {
        const path = join('test/fixtures/blueprints', engine.toLowerCase(), `${name}.yaml`);
        const cases = parseYaml(readFileSync(path, 'utf8')) as readonly { template: unknown }[];
        const found = cases.flatMap(({ template }) =>
          findingsOn(engine, typeof template === 'string' ? template : JSON.stringify(template)),
        );
        expect(
          found.filter((line) => !/has no type|has no apiVersion|no target import/.test(line)),
        ).to.deep.equal([]);
      });
});

describe('keys of export executions', () => {
  const exportsOf = (template: string, type = 'GoTemplate'): readonly string[] =>
    findingsOn(type, template, 'exportExecutions');

  for (const [what, template, type] of [
    ['in a block', 'exports:\n  uri: {{ .imports.x }}', 'GoTemplate'],
    ['in a flow', 'exports: { uri: "{{ .imports.x }}" }', 'GoTemplate'],
    ['of Spiff', 'exports: { uri: (( imports.x )) }', 'Spiff'],
  ] as const)
    it(`must be exports, ${what}`, () => {
      const found = exportsOf(template, type);
      expect(found[0]).to.match(/the export "url" is never created: no export execution creates it/);
      expect(found[1]).to.match(/the blueprint declares no export "uri"; did you mean "url"\?/);
    });

  it('must include all exports: a value that contains the name is not enough', () => {
    const found = exportsOf('exports:\n  other: {{ .imports.x.url }}');
    expect(found.map((line) => /\[(.*)\]/.exec(line)?.[1])).to.deep.equal([
      'export-not-made',
      'export-undeclared',
    ]);
  });

  for (const template of [
    'exports: {{ toJson .imports.x.url }}',
    'exports:\n  {{ .imports.x }}: url',
    'exports:\n{{- if .imports.x }}\n  url: a\n{{- end }}',
    'exports:\n{{- range $k, $v := .imports.x }}\n  {{ $k }}: a\n{{- end }}',
  ])
    it(`may be unknown: ${JSON.stringify(template)}`, () => {
      expect(exportsOf(template)).to.deep.equal([]);
    });
});
