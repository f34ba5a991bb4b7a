/** The host cluster of a run, in memory, with the deployers on it and the objects of the run put there. */
import { contextKind } from '../../../api/kinds/context.ts';
import { deployItemKind } from '../../../api/kinds/deployitem.ts';
import { targetKind } from '../../../api/kinds/target.ts';
import { annotations, API_VERSION, FINALIZER, GROUP, NO_TARGET_NAME } from '../../../api/labels.ts';
import type { Fields } from '../../../lib/objects.ts';
import { namespaceKind } from '../../../landscape/world.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import { UsageError } from '../../errors.ts';
import { namespaceObject } from '../../objects.ts';
import type { RunInput, WantedItem } from './input.ts';

/** Name of the target of items that name none. */
const TARGET = 'target';

export interface Population {
  readonly input: RunInput;
  /** Kubeconfig of every target that the file does not bring itself; undefined when none was given. */
  readonly defaultKubeconfig: string | undefined;
  /** Others, by the names of targets. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
  readonly statusOf: (item: WantedItem) => Fields | undefined;
}

export const keyOfItem = ({ namespace, name }: Pick<WantedItem, 'name' | 'namespace'>): string =>
  `${namespace}/${name}`;

/** @throws UsageError when an item's target is nowhere to be had */
export async function populate(client: Client, population: Population): Promise<void> {
  const { input, statusOf } = population;
  const objects = [...input.others, ...targetsFor(population), ...contextsFor(input)];
  const namespaces = new Set([
    ...input.items.map(({ namespace }) => namespace),
    ...objects.map(({ object }) => object.metadata.namespace ?? ''),
  ]);
  for (const namespace of namespaces) await apply(client, namespaceKind, namespaceObject(namespace));
  for (const { kind, object } of objects) await apply(client, kind, object);
  for (const item of input.items) await giveItem(client, item, population, statusOf(item));
}

const apply = (client: Client, kind: Kind, object: Obj): Promise<Obj> =>
  client.send({ verb: 'apply', kind, object, manager: 'espalier-cli', force: true });

/** Finalizer included: an item that is removed without ever having been applied here is removed by its deployer too. */
async function giveItem(
  client: Client,
  item: WantedItem,
  population: Population,
  providerStatus: Fields | undefined,
): Promise<void> {
  const { name, namespace, labels, annotations: notes } = item;
  const target = targetOf(item, population);
  const object = {
    apiVersion: API_VERSION,
    kind: deployItemKind.kind,
    metadata: {
      ...{ name, namespace, labels, finalizers: [FINALIZER] },
      annotations: {
        ...notes,
        [annotations.deployerType]: item.spec.type,
        [annotations.deployerTargetName]: target ?? NO_TARGET_NAME,
      },
    },
    spec: { ...item.spec, ...(target !== undefined && { target: { name: target, namespace } }) },
  };
  await client.send({ verb: 'create', kind: deployItemKind, object: object });
  if (!providerStatus) return;
  const body = { status: { observedGeneration: 0, providerStatus } };
  await client.send({ verb: 'merge', kind: deployItemKind, key: keyOfItem(item), body, sub: 'status' });
}

const targetOf = ({ spec }: WantedItem, { defaultKubeconfig }: Population): string | undefined =>
  spec.target?.name ?? (defaultKubeconfig === undefined ? undefined : TARGET);

function targetsFor(population: Population): readonly { readonly kind: Kind; readonly object: Obj }[] {
  const { input, defaultKubeconfig, kubeconfigs } = population;
  const brought = new Set(
    input.others.flatMap(({ kind, object: { metadata } }) =>
      kind.kind === targetKind.kind ? [`${metadata.namespace ?? ''}/${metadata.name}`] : [],
    ),
  );
  const namespaces = new Set(input.items.map(({ namespace }) => namespace));
  const wanted = new Map<string, string>();
  for (const item of input.items) {
    const name = targetOf(item, population);
    if (name === undefined || brought.has(`${item.namespace}/${name}`)) continue;
    const kubeconfig = kubeconfigs.get(name) ?? defaultKubeconfig;
    if (kubeconfig === undefined) {
      throw new UsageError(
        `where is target ${name} of DeployItem ${item.name}? Give its kubeconfig with --target-kubeconfig FILE ` +
          `or --target ${name}=FILE, or put the Target into the file`,
      );
    }
    wanted.set(`${item.namespace}/${name}`, kubeconfig);
  }
  // Exports and checks may name targets that no item deploys to.
  for (const [name, kubeconfig] of kubeconfigs)
    for (const namespace of namespaces) wanted.set(`${namespace}/${name}`, kubeconfig);
  return [...wanted].map(([key, kubeconfig]) => ({
    kind: targetKind,
    object: targetObject(key, kubeconfig),
  }));
}

function targetObject(key: string, kubeconfig: string): Obj {
  const [namespace = '', name = ''] = key.split('/');
  const spec = { type: `${GROUP}/kubernetes-cluster`, config: { kubeconfig } };
  return { apiVersion: API_VERSION, kind: targetKind.kind, metadata: { name, namespace }, spec } as Obj;
}

/** Every namespace has a default Context, as the context controller sees to. */
function contextsFor({ items, others }: RunInput): readonly { readonly kind: Kind; readonly object: Obj }[] {
  const name = 'default';
  const isBrought = (namespace: string): boolean =>
    others.some(
      ({ kind, object: { metadata } }) =>
        kind.kind === contextKind.kind && metadata.name === name && metadata.namespace === namespace,
    );
  return [...new Set(items.map(({ namespace }) => namespace))]
    .filter((namespace) => !isBrought(namespace))
    .map((namespace) => ({
      kind: contextKind,
      object: { apiVersion: API_VERSION, kind: contextKind.kind, metadata: { name, namespace } },
    }));
}
