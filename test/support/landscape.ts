/** Installations, blueprints and executions for scenarios, in few words. A blueprint is written as JSON. */
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import { API_VERSION, FINALIZER, GROUP, annotations } from '../../src/api/labels.ts';
import type { Obj } from '../../src/runtime/types.ts';

export const RECONCILE = { [annotations.operation]: 'reconcile' };

/** A deploy item without deployer: the test acts as the deployer. */
export const fakeItem = (name: string, more: Partial<DeployItemTemplate> = {}): DeployItemTemplate => ({
  name,
  type: 'test.example/fake',
  config: { apiVersion: 'test.example/v1', kind: 'Cfg' },
  ...more,
});

/** A deploy item of the mock deployer, which ends at once. */
export const mockItem = (
  name: string,
  config: { phase?: string; export?: Record<string, unknown> } = {},
  more: Partial<DeployItemTemplate> = {},
): DeployItemTemplate => ({
  name,
  type: `${GROUP}/mock`,
  config: { apiVersion: `mock.deployer.${GROUP}/v1alpha1`, kind: 'ProviderConfiguration', ...config },
  ...more,
});

type Refs = Readonly<Record<string, string>>;

export interface BlueprintParts {
  readonly items?: readonly DeployItemTemplate[];
  readonly children?: readonly object[];
  /** Names of data imports of any type. */
  readonly takes?: readonly string[];
  /** Values of exports, by name; a string with `{{` is a template. */
  readonly gives?: Refs;
  /** More fields of the document. */
  readonly more?: object;
}

export function blueprint({ items, children, takes, gives, more }: BlueprintParts): object {
  const define = (names: readonly string[]): object[] =>
    names.map((name) => ({ name, type: 'data', schema: {} }));
  const values = Object.entries(gives ?? {}).map(([name, value]) => `  ${name}: ${value}`);
  return {
    apiVersion: API_VERSION,
    kind: 'Blueprint',
    jsonSchema: 'https://json-schema.org/draft/2019-09/schema',
    ...(takes && { imports: define(takes) }),
    ...(gives && {
      exports: define(Object.keys(gives)),
      exportExecutions: [{ name: 'e', type: 'GoTemplate', template: `exports:\n${values.join('\n')}\n` }],
    }),
    ...(items && {
      deployExecutions: [{ name: 'd', type: 'GoTemplate', template: JSON.stringify({ deployItems: items }) }],
    }),
    ...(children && { subinstallations: children }),
    ...more,
  };
}

const fileSystem = (document: object) => ({ filesystem: { 'blueprint.yaml': JSON.stringify(document) } });
const dataRefs = (refs: Refs): object[] => Object.entries(refs).map(([name, dataRef]) => ({ name, dataRef }));

interface Connections {
  /** Own names of data imports, and the names they have outside. */
  readonly takes?: Refs;
  /** The same for data exports. */
  readonly gives?: Refs;
  /** Values of the exports; default: the name of the installation. */
  readonly values?: Refs;
}

export interface InstallationParts extends Connections, Omit<BlueprintParts, 'takes' | 'gives'> {
  readonly annotations?: Readonly<Record<string, string>>;
  /** More fields of the spec. */
  readonly spec?: object;
}

const blueprintOf = (name: string, { takes, gives, values, ...parts }: InstallationParts): object => {
  const { items, children, more } = parts;
  const exported = Object.keys(gives ?? {}).map((key) => [key, values?.[key] ?? `${name}-${key}`]);
  return blueprint({
    ...(items && { items }),
    ...(children && { children }),
    ...(more && { more }),
    ...(takes && { takes: Object.keys(takes) }),
    ...(gives && { gives: Object.fromEntries(exported) as Refs }),
  });
};

const connections = ({ takes, gives }: Connections): object => ({
  ...(takes && { imports: { data: dataRefs(takes) } }),
  ...(gives && { exports: { data: dataRefs(gives) } }),
});

/** A root, annotated with `reconcile` unless stated otherwise. */
export function root(name: string, parts: InstallationParts = {}): Installation {
  return {
    apiVersion: API_VERSION,
    kind: 'Installation',
    metadata: { name, annotations: { ...(parts.annotations ?? RECONCILE) } },
    spec: {
      ...connections(parts),
      blueprint: { inline: fileSystem(blueprintOf(name, parts)) },
      ...parts.spec,
    },
  };
}

/** A sub-installation within a blueprint. */
export const child = (name: string, parts: InstallationParts = {}): object => ({
  apiVersion: API_VERSION,
  kind: 'InstallationTemplate',
  name,
  ...connections(parts),
  blueprint: fileSystem(blueprintOf(name, parts)),
  ...parts.spec,
});

/** Fields of a blueprint whose only sub-installation, `again`, has the files of the blueprint itself. */
export const rendersItself = {
  subinstallationExecutions: [
    {
      name: 'itself',
      type: 'GoTemplate',
      template: [
        'subinstallations:',
        '- apiVersion: landscaper.gardener.cloud/v1alpha1',
        '  kind: InstallationTemplate',
        '  name: again',
        '  blueprint:',
        '    filesystem:',
        '      blueprint.yaml: {{ readFile "blueprint.yaml" | toString | toJson }}',
      ].join('\n'),
    },
  ],
};

// ---------------------------------------------------------------- common examples

/** A root with one item, for which the test acts as the deployer. */
export const web = (parts: InstallationParts = {}): Installation =>
  root('web', { items: [fakeItem('app')], ...parts });
export const producer = (parts: InstallationParts = {}): Installation =>
  root('producer', { gives: { out: 'greeting' }, values: { out: 'hello' }, ...parts });
export const consumer = (parts: InstallationParts = {}): Installation =>
  root('consumer', { takes: { text: 'greeting' }, ...parts });
/** Children of `stack`: `b` imports what `a` exports. */
export const childA = (parts: InstallationParts = {}): object =>
  child('a', { gives: { out: 'link' }, ...parts });
export const childB = (parts: InstallationParts = {}): object =>
  child('b', { takes: { in: 'link' }, ...parts });
export const stack = (parts: InstallationParts = {}): Installation =>
  root('stack', { children: [childA(), childB()], ...parts });

/** A stand-alone execution; the test starts its jobs. */
export const plan = (items: readonly DeployItemTemplate[], spec: object = {}): Execution =>
  ({
    apiVersion: API_VERSION,
    kind: 'Execution',
    metadata: { name: 'plan' },
    spec: { deployItems: items, ...spec },
  }) as Execution;
/** `c` waits for `a` and `b`. */
export const abc = (): DeployItemTemplate[] => [
  fakeItem('a'),
  fakeItem('b'),
  fakeItem('c', { dependsOn: ['a', 'b'] }),
];
/** A deploy item without owner. */
export const lonelyItem = (spec: object = {}): DeployItem => ({
  apiVersion: API_VERSION,
  kind: 'DeployItem',
  metadata: { name: 'lonely', finalizers: [FINALIZER] },
  spec: { type: 'test.example/fake', config: { apiVersion: 'test.example/v1', kind: 'Cfg' }, ...spec },
});
export const dataObject = (name: string, data: unknown): Obj =>
  ({ apiVersion: API_VERSION, kind: 'DataObject', metadata: { name }, data }) as Obj;

/** @param type a short form belongs to Landscaper's group */
export const target = (
  name: string,
  type = 'kubernetes-cluster',
  config: unknown = { kubeconfig: '{}' },
): Obj =>
  ({
    apiVersion: API_VERSION,
    kind: 'Target',
    metadata: { name },
    spec: { type: type.includes('/') ? type : `${GROUP}/${type}`, config },
  }) as Obj;
