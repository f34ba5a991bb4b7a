/** The host cluster of a run, in memory: creates the objects that controllers and deployers need at their start. */
import { contextKind } from '../../../api/kinds/context.ts';
import { deployItemKind, type DeployItem } from '../../../api/kinds/deployitem.ts';
import { executionKind } from '../../../api/kinds/execution.ts';
import { targetKind } from '../../../api/kinds/target.ts';
import { API_VERSION, GROUP } from '../../../api/labels.ts';
import type { Fields } from '../../../lib/objects.ts';
import { namespaceKind } from '../../../landscape/world.ts';
import { joinKey, keyOf } from '../../../runtime/keys.ts';
import type { Client, Kind, Obj } from '../../../runtime/types.ts';
import { UsageError } from '../../errors.ts';
import { namespaceObject } from '../../objects.ts';
import { executionsOf } from './executions.ts';
import type { RunInput, WantedItem } from './input.ts';

/** Name of the target for items that do not specify one. */
const TARGET = 'target';

export interface HostObjects {
  readonly input: RunInput;
  /** Kubeconfig of every target that is not in the file; undefined if the user gave none. */
  readonly defaultKubeconfig: string | undefined;
  /** Other kubeconfigs, keyed by target name. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
  readonly statusOf: (item: WantedItem) => Fields | undefined;
}

export const keyOfItem = ({ namespace, name }: Pick<WantedItem, 'name' | 'namespace'>): string =>
  `${namespace}/${name}`;

/** @returns keys of the executions. @throws UsageError if the target of an item is not available */
export async function createHostObjects(
  client: Client,
  hostObjects: HostObjects,
): Promise<readonly string[]> {
  const { input, statusOf } = hostObjects;
  const objects = [...input.others, ...targetsFor(hostObjects), ...contextsFor(input)];
  const namespaces = new Set([
    ...input.items.map(({ namespace }) => namespace),
    ...objects.map(({ object }) => object.metadata.namespace ?? ''),
  ]);
  for (const namespace of namespaces) await apply(client, namespaceKind, namespaceObject(namespace));
  for (const { kind, object } of objects) await apply(client, kind, object);
  const executions = executionsOf(input.items, (item) => targetOf(item, hostObjects));
  for (const { object, items } of executions) {
    for (const item of items) await createItem(client, item.object, statusOf(item.wanted));
    await client.send({ verb: 'create', kind: executionKind, object });
  }
  return executions.map(({ key }) => key);
}

const apply = (client: Client, kind: Kind, object: Obj): Promise<Obj> =>
  client.send({ verb: 'apply', kind, object, manager: 'espalier-cli', force: true });

/** Creates the item with the status of an earlier run. */
async function createItem(
  client: Client,
  object: DeployItem,
  providerStatus: Fields | undefined,
): Promise<void> {
  await client.send({ verb: 'create', kind: deployItemKind, object });
  if (!providerStatus) return;
  const body = { status: { observedGeneration: 0, providerStatus } };
  await client.send({ verb: 'merge', kind: deployItemKind, key: keyOf(object), body, sub: 'status' });
}

const targetOf = ({ spec }: WantedItem, { defaultKubeconfig }: HostObjects): string | undefined =>
  spec.target?.name ?? (defaultKubeconfig === undefined ? undefined : TARGET);

function targetsFor(hostObjects: HostObjects): readonly { readonly kind: Kind; readonly object: Obj }[] {
  const { input, defaultKubeconfig, kubeconfigs } = hostObjects;
  const provided = new Set(
    input.others.flatMap(({ kind, object: { metadata } }) =>
      kind.kind === targetKind.kind ? [joinKey(metadata.namespace, metadata.name)] : [],
    ),
  );
  const namespaces = new Set(input.items.map(({ namespace }) => namespace));
  const wanted = new Map<string, string>();
  for (const item of input.items) {
    const name = targetOf(item, hostObjects);
    if (name === undefined || provided.has(`${item.namespace}/${name}`)) continue;
    const kubeconfig = kubeconfigs.get(name) ?? defaultKubeconfig;
    if (kubeconfig === undefined) {
      throw new UsageError(
        `no kubeconfig for target ${name} of DeployItem ${item.name}; give it with --target-kubeconfig FILE ` +
          `or --target ${name}=FILE, or put the Target into the file`,
      );
    }
    wanted.set(`${item.namespace}/${name}`, kubeconfig);
  }
  // Exports and checks may reference targets to which no item deploys.
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

/** Every namespace gets a default Context, as the context controller would create. */
function contextsFor({ items, others }: RunInput): readonly { readonly kind: Kind; readonly object: Obj }[] {
  const name = 'default';
  const isProvided = (namespace: string): boolean =>
    others.some(
      ({ kind, object: { metadata } }) =>
        kind.kind === contextKind.kind && metadata.name === name && metadata.namespace === namespace,
    );
  return [...new Set(items.map(({ namespace }) => namespace))]
    .filter((namespace) => !isProvided(namespace))
    .map((namespace) => ({
      kind: contextKind,
      object: { apiVersion: API_VERSION, kind: contextKind.kind, metadata: { name, namespace } },
    }));
}
