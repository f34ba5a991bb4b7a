/** Converts the model to objects that a user applies: an Installation whose blueprint contains everything below it. */
import type { DeployItemTemplate } from '../../../src/api/kinds/execution.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { API_VERSION, GROUP } from '../../../src/api/labels.ts';
import { NAMESPACE } from '../cluster/objects.ts';
import { USER_TARGET, outOf, targetOf, type ItemModel, type NodeModel } from './model.ts';

export const SCRIPT_TYPE = 'sim.espalier.dev/script';
export const NOBODYS_TYPE = 'sim.espalier.dev/nobodys';
export const TARGET_TYPE = 'sim.espalier.dev/target';

/** Long enough for every item except one that hangs. */
const TIMEOUT = '2m';

export function installationOf(node: NodeModel): Installation {
  return {
    apiVersion: API_VERSION,
    kind: 'Installation',
    metadata: { name: node.name, namespace: NAMESPACE, annotations: { ...node.annotations } },
    spec: specOf(node),
  };
}

export const specOf = (node: NodeModel): Installation['spec'] =>
  ({
    ...connections(node),
    blueprint: { inline: filesOf(node) },
    ...(node.automatic && { automaticReconcile: node.automatic }),
  }) as Installation['spec'];

const filesOf = (node: NodeModel): object => ({
  filesystem: { 'blueprint.yaml': JSON.stringify(blueprintOf(node)) },
});

/** Imports and exports have the same names inside and outside. */
function connections(node: NodeModel): object {
  const data = node.takes.map((name) => ({ name, dataRef: name }));
  const targets = [
    ...(node.takesTarget ? [{ name: USER_TARGET, target: USER_TARGET }] : []),
    ...(node.targetMap.length > 0
      ? [{ name: 'map', targetMap: Object.fromEntries(node.targetMap.map((t) => [t, t])) }]
      : []),
  ];
  const out = node.gives ? [{ name: outOf(node.name), dataRef: outOf(node.name) }] : [];
  const given = node.givesTarget ? [{ name: targetOf(node.name), target: targetOf(node.name) }] : [];
  return {
    imports: { ...(data.length > 0 && { data }), ...(targets.length > 0 && { targets }) },
    exports: { ...(out.length > 0 && { data: out }), ...(given.length > 0 && { targets: given }) },
  };
}

function blueprintOf(node: NodeModel): object {
  const anything = (name: string) => ({ name, type: 'data', schema: {} });
  const target = (name: string, type: string) => ({ name, type, targetType: TARGET_TYPE });
  const exported = [
    ...(node.gives ? [`  ${outOf(node.name)}: '${valueTemplate(node)}'`] : []),
    ...(node.givesTarget
      ? [`  ${targetOf(node.name)}: { type: ${TARGET_TYPE}, config: { rev: ${node.rev} } }`]
      : []),
  ];
  return {
    apiVersion: API_VERSION,
    kind: 'Blueprint',
    jsonSchema: 'https://json-schema.org/draft/2019-09/schema',
    imports: [
      ...node.takes.map(anything),
      ...(node.takesTarget ? [target(USER_TARGET, 'target')] : []),
      ...(node.targetMap.length > 0 ? [target('map', 'targetMap')] : []),
    ],
    exports: [
      ...(node.gives ? [anything(outOf(node.name))] : []),
      ...(node.givesTarget ? [target(targetOf(node.name), 'target')] : []),
    ],
    exportExecutions:
      exported.length > 0
        ? [{ name: 'e', type: 'GoTemplate', template: `exports:\n${exported.join('\n')}\n` }]
        : [],
    deployExecutions:
      node.items.length > 0
        ? [
            {
              name: 'd',
              type: 'GoTemplate',
              template: JSON.stringify({ deployItems: node.items.map((item) => templateOf(item, node)) }),
            },
          ]
        : [],
    subinstallations: node.children.map((child) => ({
      apiVersion: API_VERSION,
      kind: 'InstallationTemplate',
      name: child.name,
      ...connections(child),
      blueprint: filesOf(child),
    })),
  };
}

/** The templates for the values that model.ts computes. */
const importsTemplate = (node: NodeModel): string =>
  `<${node.takes.map((name) => `{{ .imports.${name} }}`).join(',')}>`;
const itemTemplate = (item: ItemModel, node: NodeModel): string =>
  `${item.name}:${item.rev}${importsTemplate(node)}`;
function valueTemplate(node: NodeModel): string {
  const items = node.items.filter((i) => i.gives).map((i) => `{{ .values.deployitems.${i.name}.v }}`);
  const children = node.children
    .filter((c) => c.gives)
    .map((c) => `{{ .values.dataobjects.${outOf(c.name)} }}`);
  return `${node.name}:${node.rev}${importsTemplate(node)}[${[...items, ...children].join(';')}]`;
}

function templateOf(item: ItemModel, node: NodeModel): DeployItemTemplate {
  const value = itemTemplate(item, node);
  const common = {
    name: item.name,
    ...(item.dependsOn.length > 0 && { dependsOn: item.dependsOn }),
    ...(item.onlyOnChange && { updateOnChangeOnly: true }),
    ...(node.takesTarget && item.type !== 'mock' && { target: { import: USER_TARGET } }),
    timeout: TIMEOUT,
  };
  if (item.type === 'mock') {
    const config = {
      apiVersion: `mock.deployer.${GROUP}/v1alpha1`,
      kind: 'ProviderConfiguration',
      rev: value,
      ...(item.gives && { export: { v: value } }),
    };
    return { ...common, type: `${GROUP}/mock`, config } as unknown as DeployItemTemplate;
  }
  const { behaviour, looks, gives } = item;
  const config = { apiVersion: 'sim.espalier.dev/v1', kind: 'Script', behaviour, looks, gives, value };
  const type = item.type === 'script' ? SCRIPT_TYPE : NOBODYS_TYPE;
  return { ...common, type, config } as unknown as DeployItemTemplate;
}
