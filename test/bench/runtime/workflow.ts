/** The cost of reconciling a workflow that has nothing to do, and of comparing one object. */
import { FakeClock } from '../../support/clock.ts';
import type { Obj, View } from '../../../src/runtime/types.ts';
import type { Dependent } from '../../../src/workflow/dependent.ts';
import { ssaMatcher } from '../../../src/workflow/match-ssa.ts';
import { buildWorkflow } from '../../../src/workflow/workflow.ts';
import { contextOn, primary } from '../../unit/workflow/support.ts';
import type { Widget } from '../../unit/runtime/support/world.ts';

const ctx = contextOn(new FakeClock());

/** @returns processor milliseconds per call, without the first ones */
export async function costOf(times: number, call: () => unknown): Promise<number> {
  for (let i = 0; i < times; i++) await call();
  const since = process.cpuUsage();
  for (let i = 0; i < times; i++) await call();
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1_000 / times;
}

/** Nodes in layers of ten, each of which depends on the whole layer before. */
export function idleWorkflow(count: number) {
  const nameOf = (i: number): string => `node-${String(i)}`;
  const layerBefore = (i: number): string[] => {
    const first = (Math.floor(i / 10) - 1) * 10;
    return first < 0 ? [] : Array.from({ length: 10 }, (_, j) => nameOf(first + j));
  };
  const idle = (name: string): Dependent<Obj, Widget> => ({
    name,
    actual: () => Promise.resolve(undefined),
    reconcile: () => Promise.resolve({ did: 'noop' }),
  });
  const nodes = Array.from({ length: count }, (_, i) => ({
    use: idle(nameOf(i)),
    dependsOn: layerBefore(i),
  }));
  const workflow = buildWorkflow(nodes);
  return () => workflow.reconcile(primary, ctx);
}

interface Workload extends Obj {
  spec: object;
}

/** A workload of ten containers, about 10 KB of JSON, and how the server stores it after `widgets` has applied it. */
function applied(): { desired: Workload; actual: View<Workload> } {
  const container = (i: number) => ({
    name: `container-${String(i)}`,
    image: `registry.example.org/team/image-${String(i)}:1.2.3`,
    args: Array.from({ length: 8 }, (_, j) => `--option-${String(j)}=value-of-it`),
    env: Array.from({ length: 12 }, (_, j) => ({ name: `NAME_${String(j)}`, value: `a value ${String(j)}` })),
    resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
  });
  const containers = Array.from({ length: 10 }, (_, i) => container(i));
  const meta = { name: 'web', namespace: 'ns', labels: { app: 'web' } };
  const desired: Workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta,
    spec: { replicas: 3, template: { metadata: { labels: { app: 'web' } }, spec: { containers } } },
  };
  const ofContainer = (one: ReturnType<typeof container>) => ({
    '.': {},
    'f:name': {},
    'f:image': {},
    'f:args': {},
    'f:env': Object.fromEntries(
      one.env.map(({ name }) => [`k:{"name":"${name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
    ),
    'f:resources': {
      'f:requests': { 'f:cpu': {}, 'f:memory': {} },
      'f:limits': { 'f:cpu': {}, 'f:memory': {} },
    },
  });
  const fieldsV1 = {
    'f:metadata': { 'f:labels': { 'f:app': {} } },
    'f:spec': {
      'f:replicas': {},
      'f:template': {
        'f:metadata': { 'f:labels': { 'f:app': {} } },
        'f:spec': {
          'f:containers': Object.fromEntries(
            containers.map((one) => [`k:{"name":"${one.name}"}`, ofContainer(one)]),
          ),
        },
      },
    },
  };
  const entry = {
    manager: 'widgets',
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
  return {
    desired,
    actual: {
      ...structuredClone(desired),
      metadata: { ...meta, uid: 'uid-web', resourceVersion: '7', managedFields: [entry] },
    },
  };
}

/** The cost of comparing, with and without the response to the last apply, and the size of the compared object. */
export function matching() {
  const { desired, actual } = applied();
  const fresh = ssaMatcher<Workload, Widget>();
  const informed = ssaMatcher<Workload, Widget>();
  informed.remember(desired, actual as Workload, 'widgets');
  const judge = (matcher: typeof fresh, given: View<Workload>): void => {
    if (!matcher.match(given, desired, primary, ctx).matched)
      throw new Error('the matcher found a difference between equal objects');
  };
  let version = 0;
  return {
    bytes: JSON.stringify(desired).length,
    compare: () => {
      const metadata = { ...actual.metadata, resourceVersion: String(version++) };
      judge(fresh, { ...actual, metadata });
    },
    recall: () => {
      judge(informed, actual);
    },
  };
}
