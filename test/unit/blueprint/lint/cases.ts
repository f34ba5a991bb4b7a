/** Changes that break the valid blueprint, and the resulting message: at least one case for each rule. */

export interface Case {
  readonly title: string;
  readonly file?: string;
  /** This string of the file … */
  readonly replace: string;
  /** … is replaced by this one. */
  readonly by: string;
  /** A whole line, see lineOf; there may be other lines. */
  readonly says: string;
}

const B = 'blueprint.yaml';
const region = '  - name: region\n    schema: { type: string }\n';

export const cases: readonly Case[] = [
  // ---------------------------------------------------------------- documents
  {
    title: 'a blueprint that is not valid YAML',
    replace: 'imports:\n  - name: cluster',
    by: 'imports: [\n  - name: cluster',
    says: 'blueprint.yaml:6:3: error: this is not valid YAML: did not find expected node content [yaml-syntax]',
  },
  {
    title: 'a file of another kind',
    replace: 'kind: Blueprint',
    by: 'kind: Blueprnit',
    says: 'blueprint.yaml:2:7: error: kind is "Blueprnit" instead of Blueprint, a typo? [wrong-kind]',
  },
  {
    title: 'a blueprint without kind',
    replace: 'kind: Blueprint\n',
    by: '',
    says: 'blueprint.yaml:1:1: error: the field "kind" is missing; write kind: Blueprint [wrong-kind]',
  },
  {
    title: 'an inline blueprint without blueprint.yaml',
    file: 'db.yaml',
    replace: '    blueprint.yaml: |',
    by: '    blueprnit.yaml: |',
    says: 'db.yaml:16:3: error: there is no file "blueprint.yaml" at the top level of the blueprint [blueprint-missing]',
  },
  {
    title: 'a string instead of a list',
    replace: 'subinstallations:\n  - file: /db.yaml\n  - file: /web.yaml',
    by: 'subinstallations: /db.yaml',
    says: 'blueprint.yaml:21:19: error: "subinstallations" must be a list, but is a string [wrong-type]',
  },
  {
    title: 'a duplicate field',
    replace: 'kind: Blueprint\n',
    by: 'kind: Blueprint\nkind: Blueprint\n',
    says: 'blueprint.yaml:3:1: warning: "kind" is a duplicate; the last one wins [duplicate-key]',
  },
  {
    title: 'a field that is misspelt',
    replace: 'deployExecutions:',
    by: 'deployExecution:',
    says: 'blueprint.yaml:17:1: warning: unknown field "deployExecution"; did you mean "deployExecutions"? [unknown-field]',
  },
  {
    title: 'a field that is misspelt deep inside',
    file: 'db.yaml',
    replace: 'schema: { type: string }\n        - name: cluster',
    by: 'shema: { type: string }\n        - name: cluster',
    says: 'db.yaml:22:11: warning: unknown field "shema"; did you mean "schema"? [unknown-field]',
  },
  {
    title: 'a field with wrong capitals',
    replace: 'exportExecutions:',
    by: 'exportexecutions:',
    says: 'blueprint.yaml:27:1: warning: "exportexecutions" is read as "exportExecutions"; write it like that [field-capitals]',
  },
  // ---------------------------------------------------------------- definitions
  {
    title: 'an import without a name',
    replace: '  - name: region\n',
    by: '  -\n',
    says: 'blueprint.yaml:12:5: error: the import has no name [name-missing]',
  },
  {
    title: 'two imports of one name',
    replace: region,
    by: region + region,
    says: 'blueprint.yaml:13:11: error: there is another import with the name "region" [duplicate-name]',
  },
  {
    title: 'an execution without a name',
    replace: '  - name: main\n    type',
    by: '  - type',
    says: 'blueprint.yaml:18:5: warning: give the execution a name [execution-name]',
  },
  {
    title: 'a type of imports that does not exist',
    replace: 'type: targetList',
    by: 'type: targetLists',
    says: 'blueprint.yaml:9:11: error: there is no import type "targetLists"; did you mean "targetList"? [type-unknown]',
  },
  {
    title: 'an export without type',
    replace: '  - name: url\n    schema: { type: string }\nexportEx',
    by: '  - name: url\nexportEx',
    says: 'blueprint.yaml:25:5: error: the export "url" has no type; give it a schema if it is data, a targetType if it is a target [type-unknown]',
  },
  {
    title: 'data without a schema',
    replace: region,
    by: '  - name: region\n    type: data\n',
    says: 'blueprint.yaml:11:5: error: the import "region" has no schema; schema: {} allows any value [schema-missing]',
  },
  {
    title: 'a target without a target type',
    replace: '    type: targetList\n    targetType: landscaper.gardener.cloud/kubernetes-cluster\n',
    by: '    type: targetList\n',
    says: 'blueprint.yaml:8:5: error: the import "nodes" has no targetType, such as landscaper.gardener.cloud/kubernetes-cluster [target-type-missing]',
  },
  {
    title: 'a schema beside a target type',
    replace: '  - name: region\n    schema: { type: string }\n',
    by: '  - name: region\n    targetType: example\n    schema: { type: string }\n',
    says: 'blueprint.yaml:12:5: warning: the targetType of the import "region" has no effect: as data it is checked against its schema [schema-or-target-type]',
  },
  {
    title: 'a target type that is misspelt',
    replace: '  - name: cluster\n    targetType: landscaper.gardener.cloud/kubernetes-cluster',
    by: '  - name: cluster\n    targetType: kubernetes-cluter',
    says: 'blueprint.yaml:7:17: warning: did you mean the target type "landscaper.gardener.cloud/kubernetes-cluster"? [target-type-spelling]',
  },
  {
    title: 'a default that is never used',
    replace: '    required: false\n',
    by: '',
    says: 'blueprint.yaml:14:5: warning: the default of "port" is never used: the import is required; set required: false [default-ignored]',
  },
  {
    title: 'conditional imports that are always required',
    replace: region,
    by: `${region}    imports: [{ name: zone, schema: {} }]\n`,
    says: 'blueprint.yaml:13:5: warning: the imports below "region" are always required because "region" is required; set required: false [conditional-import]',
  },
  // ---------------------------------------------------------------- schemas
  {
    title: 'an invalid schema',
    replace: region,
    by: '  - name: region\n    schema: { type: strin }\n',
    says: 'blueprint.yaml:12:13: error: the schema cannot be used: schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf [schema-invalid]',
  },
  {
    title: 'a reference to a missing local type',
    replace: 'local://port" }',
    by: 'local://prot" }',
    says: 'blueprint.yaml:16:21: error: the schema cannot be used: type prot is not defined in local types; did you mean local://port? [schema-invalid]',
  },
  {
    title: 'cyclic local types',
    replace: '  port: { type: integer, maximum: 65535 }',
    by: '  port: { $ref: "local://other" }\n  other: { $ref: "local://port" }',
    says: 'blueprint.yaml:17:21: error: the schema cannot be used: cyclic references detected: reference "local://port" is part of a cycle [schema-invalid]',
  },
  {
    title: 'a reference to a missing schema file',
    replace: 'local://port" }',
    by: 'blueprint://schemas/port.json" }',
    says: 'blueprint.yaml:16:21: error: the schema cannot be used: unable to read local schema from schemas/port.json: file does not exist [schema-invalid]',
  },
  {
    title: 'an unknown schema keyword',
    replace: 'maximum: 65535',
    by: 'maximun: 65535',
    says: 'blueprint.yaml:4:26: warning: "maximun" is not a keyword of schemas; did you mean "maximum"? [schema-keyword]',
  },
  {
    title: 'a schema keyword of a later draft',
    replace: 'maximum: 65535',
    by: 'prefixItems: []',
    says: 'blueprint.yaml:4:26: warning: "prefixItems" has no effect: the schema is read as drafts 4, 6 and 7 [schema-keyword]',
  },
  {
    title: 'a schema keyword of a later draft, below a $schema that only resembles one',
    replace: '  port: { type: integer, maximum: 65535 }',
    by: '  port: { $schema: "https://example.org/2020-12", prefixItems: [] }',
    says: 'blueprint.yaml:4:51: warning: "prefixItems" has no effect: the schema is read as drafts 4, 6 and 7 [schema-keyword]',
  },
  {
    title: 'an unknown schema keyword in a part of a later draft',
    replace: '  port: { type: integer, maximum: 65535 }',
    by: '  port: { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ maximun: 1 }] }',
    says: 'blueprint.yaml:4:84: warning: "maximun" is not a keyword of schemas; did you mean "maximum"? [schema-keyword]',
  },
  {
    title: 'a default that does not match its schema',
    replace: 'default: { value: 80 }',
    by: 'default: { value: 70000 }',
    says: 'blueprint.yaml:15:23: error: the default of "port" does not fit its schema: (root): Must be less than or equal to 65535 [default-mismatch]',
  },
  {
    title: 'an unused local type',
    replace: '  port: { type',
    by: '  host: { type: string }\n  port: { type',
    says: 'blueprint.yaml:4:3: info: nothing refers to local://host [local-type-unused]',
  },
  {
    title: 'an unused local type that is invalid',
    replace: '  port: { type',
    by: '  host: { $ref: "local://hots" }\n  port: { type',
    says: 'blueprint.yaml:4:17: warning: the schema cannot be used: type hots is not defined in local types; did you mean local://host? [local-type-invalid]',
  },
  // ---------------------------------------------------------------- templates
  {
    title: 'a type of templates that does not exist',
    replace: '    type: GoTemplate\n    file',
    by: '    type: GoTempalte\n    file',
    says: 'blueprint.yaml:19:11: error: there is no template type "GoTempalte"; did you mean GoTemplate? [template-type-unknown]',
  },
  {
    title: 'an execution without template',
    replace: '    file: /deploy.yaml\n',
    by: '',
    says: 'blueprint.yaml:18:5: error: no template: write it under "template", or name a "file" [template-missing]',
  },
  {
    title: 'an execution with a file that is not read',
    replace: '    template: |\n',
    by: '    file: /deploy.yaml\n    template: |\n',
    says: 'blueprint.yaml:30:5: warning: the file /deploy.yaml is not read, because there is also a "template" [template-twice]',
  },
  {
    title: 'a template that cannot be parsed, in a file',
    file: 'deploy.yaml',
    replace: '{{ .imports.port }}',
    by: '{{ .imports.port | nope }}',
    says: 'deploy.yaml:6:32: error: function "nope" not defined [template-syntax]',
  },
  {
    title: 'a template that cannot be parsed, in a block of a block',
    file: 'db.yaml',
    replace: '{{ .values.deployitems.server.url }}',
    by: '{{ .values.deployitems.server.url }',
    says: 'db.yaml:43:54: error: unexpected "}" in operand [template-syntax]',
  },
  {
    title: 'an included file that cannot be parsed',
    file: 'note.tpl',
    replace: 'in {{ . }}',
    by: 'in {{ if . }}',
    says: 'note.tpl:1:14: error: unexpected EOF [template-syntax]',
  },
  {
    title: 'a missing file of a template',
    replace: 'file: /deploy.yaml',
    by: 'file: /deplyo.yaml',
    says: 'blueprint.yaml:20:11: error: there is no file /deplyo.yaml in the blueprint; did you mean /deploy.yaml? [file-missing]',
  },
  {
    title: 'a missing file of a sub-installation',
    replace: 'file: /db.yaml',
    by: 'file: /database.yaml',
    says: 'blueprint.yaml:22:11: error: there is no file /database.yaml in the blueprint [file-missing]',
  },
  {
    title: 'a missing included file',
    file: 'deploy.yaml',
    replace: '"/note.tpl"',
    by: '"/notes.tpl"',
    says: 'deploy.yaml:7:24: error: there is no file /notes.tpl in the blueprint; did you mean /note.tpl? [file-missing]',
  },
  // ---------------------------------------------------------------- references
  {
    title: 'an import that is not declared',
    file: 'deploy.yaml',
    replace: '.imports.port',
    by: '.imports.prot',
    says: 'deploy.yaml:6:25: warning: the blueprint has no import "prot"; did you mean "port"? [import-unknown]',
  },
  {
    title: 'an import that is not read',
    file: 'deploy.yaml',
    replace: '{{ .imports.port }}',
    by: '80',
    says: 'blueprint.yaml:13:11: warning: nothing reads the import "port" [import-unused]',
  },
  {
    title: 'a root value that does not exist',
    replace: '.values.dataobjects.webUrl',
    by: '.value.dataobjects.webUrl',
    says: 'blueprint.yaml:32:18: warning: there is no "value" in export executions; did you mean "values"? [root-value-unknown]',
  },
  // ---------------------------------------------------------------- exports
  {
    title: 'an export that no execution creates',
    replace: '        url: {{ .values',
    by: '        uri: {{ .values',
    says: 'blueprint.yaml:25:11: warning: the export "url" is never created: no export execution creates it [export-not-made]',
  },
  {
    title: 'a mapped export that no execution creates',
    file: 'db.yaml',
    replace: '              out: {{',
    by: '              uot: {{',
    says: 'db.yaml:36:17: error: the export "out" is never created: no export execution creates it [export-missing]',
  },
  {
    title: 'a result that is not an export',
    replace: '        url: {{ .values',
    by: '        ulr: {{ .values',
    says: 'blueprint.yaml:32:9: warning: the blueprint declares no export "ulr"; did you mean "url"? [export-undeclared]',
  },
  {
    title: 'an unused export of a sub-installation',
    replace: '.values.dataobjects.webUrl',
    by: '.imports.region',
    says: 'web.yaml:13:16: info: "webUrl", which web exports, is never read [child-export-unused]',
  },
  // ---------------------------------------------------------------- sub-installations
  {
    title: 'a sub-installation with an invalid name',
    file: 'db.yaml',
    replace: 'name: db\n',
    by: 'name: My_DB\n',
    says: 'db.yaml:3:7: error: "My_DB" is not a valid name: use only a-z, 0-9 and "-", and begin and end with a letter or digit [child-name]',
  },
  {
    title: 'two sub-installations with the same name',
    file: 'web.yaml',
    replace: 'name: web\n',
    by: 'name: db\n',
    says: 'web.yaml:3:7: error: there is another sub-installation with the name "db" [child-duplicate]',
  },
  {
    title: 'an invalid reference to a blueprint',
    replace: '  - file: /db.yaml',
    by: '  - name: other\n    blueprint: { ref: "resources/bp" }\n  - file: /db.yaml',
    says: 'blueprint.yaml:23:23: error: resources/bp: scheme must be cd but given none; write it like cd://resources/my-blueprint [child-blueprint]',
  },
  {
    title: 'a sub-installation without blueprint',
    replace: '  - file: /db.yaml',
    by: '  - name: other\n  - file: /db.yaml',
    says: 'blueprint.yaml:22:5: error: the sub-installation "other" has no blueprint: give it a ref or a filesystem [child-blueprint]',
  },
  {
    title: 'a sub-installation that reads a secret',
    file: 'db.yaml',
    replace: '      dataRef: region',
    by: '      secretRef: { name: s }',
    says: 'db.yaml:7:7: error: secretRef is only for root installations; import it there, and use dataRef here [child-reference]',
  },
  {
    title: 'an import of a value that does not exist',
    file: 'web.yaml',
    replace: 'dataRef: dbUrl',
    by: 'dataRef: dbUlr',
    says: 'web.yaml:7:16: error: there is no "dbUlr" to import: did you mean "dbUrl"? [child-import-unsatisfied]',
  },
  {
    title: 'a target used as data',
    file: 'web.yaml',
    replace: 'dataRef: dbUrl',
    by: 'dataRef: cluster',
    says: 'web.yaml:7:16: error: there is no "cluster" to import: it is a target [child-import-unsatisfied]',
  },
  {
    title: 'an export with the name of an import',
    file: 'db.yaml',
    replace: 'dataRef: dbUrl',
    by: 'dataRef: region',
    says: 'db.yaml:14:16: error: "region" is an import of the parent, so db cannot export under that name [child-export-conflict]',
  },
  {
    title: 'two exports with the same name',
    file: 'web.yaml',
    replace: 'dataRef: webUrl',
    by: 'dataRef: dbUrl',
    says: 'web.yaml:13:16: error: "dbUrl" is already exported by db [child-export-conflict]',
  },
  {
    title: 'sub-installations that depend on each other',
    file: 'db.yaml',
    replace: 'dataRef: region',
    by: 'dataRef: webUrl',
    says: 'db.yaml:7:16: error: these wait for each other: db -{depends_on}-> web -{depends_on}-> db [child-cycle]',
  },
  {
    title: 'an entry that is not a sub-installation',
    replace: '  - file: /db.yaml',
    by: '  - optimization: {}\n  - file: /db.yaml',
    says: 'blueprint.yaml:22:5: error: neither a inline installation template nor a file is defined in index 0 [child-invalid]',
  },
  // ---------------------------------------------------------------- deploy items
  {
    title: 'two deploy items with the same name',
    file: 'deploy.yaml',
    replace: 'name: second',
    by: 'name: first',
    says: 'deploy.yaml:8:11: error: there is another deploy item with the name "first" [item-name]',
  },
  {
    title: 'a deploy item without type',
    file: 'deploy.yaml',
    replace: '    type: test.example/fake\n    target: { import: cluster }',
    by: '    target: { import: cluster }',
    says: 'deploy.yaml:2:5: error: the deploy item "first" has no type [item-type]',
  },
  {
    title: 'an unknown field of a deploy item',
    file: 'deploy.yaml',
    replace: 'dependsOn:',
    by: 'dependOn:',
    says: 'deploy.yaml:11:5: warning: unknown field "dependOn"; did you mean "dependsOn"? [item-field]',
  },
  {
    title: 'a target that is not an import',
    file: 'deploy.yaml',
    replace: 'import: cluster',
    by: 'import: clutser',
    says: 'deploy.yaml:4:23: error: there is no target import "clutser"; did you mean "cluster"? [item-target]',
  },
  {
    title: 'a target that is a list',
    file: 'deploy.yaml',
    replace: 'import: nodes, index: 0',
    by: 'import: nodes',
    says: 'deploy.yaml:10:23: error: "nodes" is a target list; select an element with "index" [item-target]',
  },
  {
    title: 'a dependency on a missing item',
    file: 'deploy.yaml',
    replace: 'dependsOn: [first]',
    by: 'dependsOn: [frist]',
    says: 'deploy.yaml:11:17: error: there is no deploy item "frist" to depend on; did you mean "first"? [item-dependency]',
  },
  {
    title: 'deploy items that depend on each other',
    file: 'deploy.yaml',
    replace: '    config:',
    by: '    dependsOn: [second]\n    config:',
    says: 'deploy.yaml:5:5: error: these wait for each other: first -> second -> first [item-cycle]',
  },
  {
    title: 'a type of deploy items that is almost a known one',
    file: 'deploy.yaml',
    replace: 'type: test.example/fake\n    target: { import: cluster }',
    by: 'type: landscaper.gardener.cloud/manifest\n    target: { import: cluster }',
    says: 'deploy.yaml:3:11: warning: no deployer of Espalier has the type "landscaper.gardener.cloud/manifest"; known are landscaper.gardener.cloud/helm, landscaper.gardener.cloud/kubernetes-manifest, landscaper.gardener.cloud/container, landscaper.gardener.cloud/mock [item-type-unknown]',
  },
  {
    title: 'a configuration that its deployer refuses',
    file: 'deploy.yaml',
    replace:
      'type: test.example/fake\n    target: { import: nodes, index: 0 }\n    dependsOn: [first]\n    config: { apiVersion: test.example/v1, kind: Config }',
    by: 'type: landscaper.gardener.cloud/kubernetes-manifest\n    target: { import: nodes, index: 0 }\n    dependsOn: [first]\n    config: { apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2, kind: ProviderConfiguration, updateStrategy: overwrites }',
    says: 'deploy.yaml:12:126: error: the config of "second" is not valid: updateStrategy: overwrites is not a valid update strategy, use one of update, patch, merge, mergeOverwrite, apply [item-config-invalid]',
  },
  {
    title: 'a misspelt field of a configuration',
    file: 'deploy.yaml',
    replace:
      'type: test.example/fake\n    target: { import: nodes, index: 0 }\n    dependsOn: [first]\n    config: { apiVersion: test.example/v1, kind: Config }',
    by: 'type: landscaper.gardener.cloud/mock\n    target: { import: nodes, index: 0 }\n    dependsOn: [first]\n    config: { apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, exports: {} }',
    says: 'deploy.yaml:12:106: warning: unknown field "exports"; did you mean "export"? [item-config-field]',
  },
  {
    title: 'a configuration without apiVersion',
    file: 'deploy.yaml',
    replace: 'apiVersion: test.example/v1, kind: Config,',
    by: 'kind: Config,',
    says: 'deploy.yaml:5:5: error: the config of "first" has no apiVersion; the API server refuses such an item [item-config]',
  },
  {
    title: 'a deploy item without a configuration',
    file: 'deploy.yaml',
    replace: '\n    config: { apiVersion: test.example/v1, kind: Config }',
    by: '',
    says: 'deploy.yaml:8:5: error: the config of "second" has no apiVersion and no kind; the API server refuses such an item [item-config]',
  },
  {
    title: 'a timeout that is not a duration',
    file: 'deploy.yaml',
    replace: '    dependsOn:',
    by: '    timeout: 10 minutes\n    dependsOn:',
    says: 'deploy.yaml:11:14: error: "10 minutes" is not a duration; use a value like 10m [item-invalid]',
  },
  {
    title: 'a field of a deploy item with a value of the wrong type',
    file: 'deploy.yaml',
    replace: 'dependsOn: [first]',
    by: 'dependsOn: first',
    says: 'deploy.yaml:11:16: error: "dependsOn" must be a list, but is a string [item-invalid]',
  },
  {
    title: 'a label that is not valid',
    file: 'deploy.yaml',
    replace: '    dependsOn:',
    by: '    labels: { team: "a b" }\n    dependsOn:',
    says: "deploy.yaml:11:15: error: invalid label: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?') [item-invalid]",
  },
  // ---------------------------------------------------------------- callers
  {
    title: 'a required import that is not supplied',
    file: 'db.yaml',
    replace: '    - name: zone\n      dataRef: region\n',
    by: '    []\n',
    says: 'db.yaml:4:1: error: sub-installation db does not supply the import "zone" (data), which its blueprint requires [required-import-missing]',
  },
  {
    title: 'an import that the blueprint does not have',
    file: 'db.yaml',
    replace: '    - name: zone\n',
    by: '    - name: zoen\n',
    says: 'db.yaml:6:13: info: the blueprint of sub-installation db has no import "zoen"; did you mean "zone"? [import-not-declared]',
  },
  {
    title: 'a list where the blueprint expects one target',
    file: 'db.yaml',
    replace: 'target: cluster\n',
    by: 'targetListRef: nodes\n',
    says: 'db.yaml:9:13: error: the import "cluster" of the blueprint has type target, but the installation supplies a targetList [import-of-other-kind]',
  },
  {
    title: 'a target of another type',
    file: 'db.yaml',
    replace: 'targetType: landscaper.gardener.cloud/kubernetes-cluster',
    by: 'targetType: example.org/other',
    says: 'db.yaml:9:13: error: "cluster" is a target of type landscaper.gardener.cloud/kubernetes-cluster, but the blueprint expects example.org/other [target-type-mismatch]',
  },
  {
    title: 'an export that the blueprint does not have',
    file: 'web.yaml',
    replace: '    - name: url\n      dataRef',
    by: '    - name: ulr\n      dataRef',
    says: 'web.yaml:12:13: error: the blueprint of sub-installation web has no export "ulr"; did you mean "url"? [export-not-declared]',
  },
  {
    title: 'a mapping for an import that the blueprint does not have',
    file: 'web.yaml',
    replace: '  url: ((',
    by: '  ulr: ((',
    says: 'web.yaml:9:3: warning: the blueprint of sub-installation web has no import "ulr"; did you mean "url"? [mapping-unknown]',
  },
  {
    title: 'a mapping that refers to a missing value',
    file: 'web.yaml',
    replace: '"http://" in',
    by: '"http://" inn',
    says: 'web.yaml:9:8: error: the mapping refers to "inn", which does not exist; did you mean "in"? [mapping-reference]',
  },
];

export const BLUEPRINT = B;
