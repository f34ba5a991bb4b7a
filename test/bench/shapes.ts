/** The measured trees: the same shapes as in upstream's measurements. */
import type { Installation } from '../../src/api/kinds/installation.ts';
import { API_VERSION, annotations } from '../../src/api/labels.ts';

export const NAMESPACE = 'default';

const MOCK = `deployItems: [{name: app, type: landscaper.gardener.cloud/mock, config: {apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1, kind: ProviderConfiguration, phase: Succeeded}}]`;

const blueprint = (body: object): string =>
  JSON.stringify({ apiVersion: API_VERSION, kind: 'Blueprint', ...body });

const withItem = (body: object = {}): string =>
  blueprint({ deployExecutions: [{ name: 'main', type: 'GoTemplate', template: MOCK }], ...body });

const child = (name: string, file: string, data: object) => ({
  apiVersion: API_VERSION,
  kind: 'InstallationTemplate',
  name,
  blueprint: { filesystem: { 'blueprint.yaml': file } },
  ...data,
});

const link = { name: 'link', type: 'data', schema: { type: 'string' } };
const ref = { data: [{ name: 'link', dataRef: 'link' }] };
const exporting = withItem({
  exports: [link],
  exportExecutions: [{ name: 'e', type: 'GoTemplate', template: 'exports: {link: x}' }],
});

interface Shape {
  readonly description: string;
  readonly blueprint: string;
  /** Requests of upstream for one such tree, including its deployer, on a kube-apiserver. */
  readonly upstream: { readonly writes: number; readonly reads: number };
}

export const shapes = {
  mock: {
    description: 'a root with one mock item',
    blueprint: withItem(),
    upstream: { writes: 37, reads: 47 },
  },
  stack: {
    description: 'a parent with two children of one item each; the second imports from the first',
    blueprint: blueprint({
      subinstallations: [
        child('a', exporting, { exports: ref }),
        child('b', withItem({ imports: [link] }), { imports: ref }),
      ],
    }),
    upstream: { writes: 105, reads: 212 },
  },
} as const satisfies Readonly<Record<string, Shape>>;
export type ShapeName = keyof typeof shapes;
export const shapeNames = Object.keys(shapes) as ShapeName[];

/** A root of the shape, with the annotation that starts its job. */
export const root = (name: string, shape: ShapeName): Installation => ({
  apiVersion: API_VERSION,
  kind: 'Installation',
  metadata: { name, namespace: NAMESPACE, annotations: { [annotations.operation]: 'reconcile' } },
  spec: { blueprint: { inline: { filesystem: { 'blueprint.yaml': shapes[shape].blueprint } } } },
});
