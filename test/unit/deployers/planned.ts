/** Returns the plan of the next job of an item on the bench. */
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { targetReaderOf } from '../../../deployers/sdk/controller.ts';
import type { DeployerPlugin } from '../../../deployers/sdk/deployer.ts';
import type { ItemPlan, PlannedObject } from '../../../deployers/sdk/item-plan.ts';
import type { DeployItem, Target } from '../../../deployers/sdk/kinds.ts';
import { planItem, withoutWrites } from '../../../deployers/sdk/plan.ts';
import { standardTimeouts } from '../../../deployers/sdk/timeout.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { View } from '../../../src/runtime/types.ts';
import { Bench, manage, manifestConfig } from './bench.ts';
import type { FakeCluster } from './fake-cluster.ts';

export const rules = (policy: string, manifest: object, more: object = {}): object => ({
  policy,
  manifest,
  ...more,
});
export const given = (...manifests: object[]): object => manifestConfig({ manifests });

export async function deployed(config: object, target?: FakeCluster): Promise<Bench> {
  const b = new Bench(manifestDeployer(), target ? { target } : {});
  b.givenTarget();
  b.giveItem(config);
  await b.kick('j1');
  return b;
}

interface Options {
  readonly direction?: 'apply' | 'remove';
  readonly others?: readonly View<DeployItem>[];
  readonly secondary?: FakeCluster;
  readonly isStrict?: boolean;
  readonly signal?: AbortSignal;
  /** Default: the manifest deployer. */
  readonly plugin?: DeployerPlugin;
}

/** @param config of the next job; undefined for the current one */
export function planOf(b: Bench, config?: object, options: Options = {}): Promise<ItemPlan | undefined> {
  const { direction = 'apply', others = [], secondary = b.target, plugin = manifestDeployer() } = options;
  const { signal = new AbortController().signal, isStrict = false } = options;
  const item = b.item();
  const { clock, host } = b;
  const rng = seededRng(1);
  const target = host.find('Target', 'proj/cluster-a') as unknown as View<Target> | undefined;
  const connect = (kubeconfig: string) =>
    Promise.resolve(withoutWrites(kubeconfig.includes('cluster-b') ? secondary : b.target));
  b.target.takeRequests();
  return planItem(
    {
      direction,
      target,
      isStrict,
      log: silentLogger,
      signal,
      item: config === undefined ? item : { ...item, spec: { ...item.spec, config: config as never } },
    },
    {
      plugin,
      client: host,
      clock,
      rng,
      timeouts: standardTimeouts,
      contexts: { get: (key) => host.find('Context', key) },
      targets: { get: (key) => host.find('Target', key) as unknown as View<Target> | undefined },
      reader: targetReaderOf({ client: host, clock, rng, log: silentLogger, connect }),
      managersOf: () => [item, ...others],
    },
  );
}

/** `change kind name`, and the comment on it. */
export const rowOf = ({ change, ref, note, problem }: PlannedObject): readonly string[] => [
  `${change} ${ref.kind} ${ref.name}`,
  ...(note === undefined ? [] : [note]),
  ...(problem === undefined ? [] : [`problem: ${problem}`]),
];

export async function rowsOf(
  b: Bench,
  config?: object,
  options: Options = {},
): Promise<readonly (readonly string[])[]> {
  return (await planOf(b, config, options))?.objects.map(rowOf) ?? [];
}

export const crd = manage({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.org' },
  spec: {
    group: 'example.org',
    scope: 'Cluster',
    names: { kind: 'Gadget', plural: 'gadgets' },
    versions: [{ name: 'v1' }],
  },
});
export const gadget = manage({ apiVersion: 'example.org/v1', kind: 'Gadget', metadata: { name: 'g' } });
