/** A valid blueprint; each test case breaks one thing in it. */
import { enclosingObjectOf } from '../../../../src/blueprint/lint/enclosing-object.ts';
import { inspectBlueprint, inlineInput } from '../../../../src/blueprint/lint/inspect.ts';
import type { Finding } from '../../../../src/blueprint/lint/finding.ts';
import { Source } from '../../../../src/blueprint/lint/source.ts';
import { sourceFilesOf } from '../../../../src/blueprint/lint/source-files.ts';
import { YamlText } from '../../../../src/blueprint/lint/yaml-text.ts';
import { builtInDeployers } from '../../../../src/cli/composition/item-configurations.ts';
import { parseYaml } from '../../../../src/lib/yaml.ts';

export type Files = Readonly<Record<string, string>>;

export const sound: Files = {
  'blueprint.yaml': `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
localTypes:
  port: { type: integer, maximum: 65535 }
imports:
  - name: cluster
    targetType: landscaper.gardener.cloud/kubernetes-cluster
  - name: nodes
    type: targetList
    targetType: landscaper.gardener.cloud/kubernetes-cluster
  - name: region
    schema: { type: string }
  - name: port
    required: false
    default: { value: 80 }
    schema: { $ref: "local://port" }
deployExecutions:
  - name: main
    type: GoTemplate
    file: /deploy.yaml
subinstallations:
  - file: /db.yaml
  - file: /web.yaml
exports:
  - name: url
    schema: { type: string }
exportExecutions:
  - name: url
    type: GoTemplate
    template: |
      exports:
        url: {{ .values.dataobjects.webUrl }}
`,
  'deploy.yaml': `deployItems:
  - name: first
    type: test.example/fake
    target: { import: cluster }
    config: { apiVersion: test.example/v1, kind: Config,
      port: {{ .imports.port }},
      note: {{ include "/note.tpl" .imports.region }} }
  - name: second
    type: test.example/fake
    target: { import: nodes, index: 0 }
    dependsOn: [first]
    config: { apiVersion: test.example/v1, kind: Config }
`,
  'note.tpl': 'in {{ . }}',
  'db.yaml': `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: InstallationTemplate
name: db
imports:
  data:
    - name: zone
      dataRef: region
  targets:
    - name: cluster
      target: cluster
exports:
  data:
    - name: out
      dataRef: dbUrl
blueprint:
  filesystem:
    blueprint.yaml: |
      apiVersion: landscaper.gardener.cloud/v1alpha1
      kind: Blueprint
      imports:
        - name: zone
          schema: { type: string }
        - name: cluster
          targetType: landscaper.gardener.cloud/kubernetes-cluster
      deployExecutions:
        - name: main
          type: GoTemplate
          template: |
            deployItems:
              - name: server
                type: test.example/fake
                target: { import: cluster }
                config: { apiVersion: test.example/v1, kind: Config,
                  zone: {{ .imports.zone }} }
      exports:
        - name: out
          schema: { type: string }
      exportExecutions:
        - name: out
          type: GoTemplate
          template: |
            exports:
              out: {{ .values.deployitems.server.url }}
`,
  'web.yaml': `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: InstallationTemplate
name: web
imports:
  data:
    - name: in
      dataRef: dbUrl
importDataMappings:
  url: (( "http://" in ))
exports:
  data:
    - name: url
      dataRef: webUrl
blueprint:
  filesystem:
    blueprint.yaml: |
      apiVersion: landscaper.gardener.cloud/v1alpha1
      kind: Blueprint
      imports:
        - name: url
          schema: { type: string }
      exports:
        - name: url
          schema: { type: string }
      exportExecutions:
        - name: url
          type: GoTemplate
          template: |
            exports:
              url: {{ .imports.url }}
`,
};

export const inspect = (files: Files): readonly Finding[] => {
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  return inspectBlueprint({ files: sourceFilesOf(contents, (path) => path) }, builtInDeployers);
};

/** An Installation and the blueprint in it, given as YAML. */
export function inspectInstallation(text: string): readonly Finding[] {
  const document = YamlText.of(new Source('installation.yaml', text));
  const holder = enclosingObjectOf(document, parseYaml(text));
  if (!holder?.filesystem) return holder?.findings ?? [];
  const { filesystem, caller, findings } = holder;
  const input = inlineInput(filesystem.document, filesystem.value, caller);
  return [...findings, ...inspectBlueprint(input, builtInDeployers)];
}

/** `file:line:column: level: message [rule]` */
export const lineOf = ({ place, level, message, rule }: Finding): string =>
  `${place.file}:${place.line}:${place.column}: ${level}: ${message} [${rule}]`;
