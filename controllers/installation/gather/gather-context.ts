/** Values and functions that all gather functions of one reconcile share. */
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { InstallationLimits } from '../../../src/api/limits.ts';
import { IssuedKubeconfigs } from '../../../src/blueprint/kubeconfigs/issued.ts';
import type { TextReader } from '../../../src/lib/yaml-texts.ts';
import type { RunnerOf } from '../../../src/blueprint/work.ts';
import type { WrittenObject } from '../../../src/dataflow/objects.ts';
import { installationContext } from '../../../src/dataflow/scope.ts';
import type { TreeSizes } from '../../../src/landscape/tree-size.ts';
import type { World } from '../../../src/landscape/world.ts';
import type { Gatherers } from '../../../src/machine/phase.ts';
import type { ClientPool } from '../../../src/runtime/transport/client-pool.ts';
import type { Client, View } from '../../../src/runtime/types.ts';
import type { Snapshot, Upsert } from '../snapshot.ts';
import type { FindComponent } from './component.ts';
import { kubeconfigIssuer } from './issue-kubeconfigs.ts';
import type { Tools } from './render.ts';
import { StateSecrets } from './state-secrets.ts';

export interface Sources {
  readonly world: World;
  /** Reads secrets and config maps, which are not cached. */
  readonly client: Client;
  /** Clients for the clusters that issue kubeconfigs. */
  readonly sources: ClientPool;
  /** Runs the templates. */
  readonly runnerOf: RunnerOf;
  readonly findComponent: FindComponent;
  /** Maximum depth of a tree of installations; default 30. */
  readonly treeDepth?: number;
  /** How often the blueprint of an installation may occur above it; default 5. */
  readonly treeRecursion?: number;
  readonly trees: TreeSizes;
  /** Default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits;
  /** Whether unknown fields of blueprints fail the job; default: no. */
  readonly isStrict?: boolean;
  /** Whether values of secrets in names are only reported; default: they fail the job. */
  readonly allowsSecretsInNames?: boolean;
}

export interface GatherContext {
  readonly self: View<Installation>;
  readonly namespace: string;
  readonly jobID: string;
  /** `namespace/scope`, where the scope is the label value of objects in the installation's own scope. */
  readonly ownScope: string;
  readonly world: World;
  readonly client: Client;
  /** Each secret is read at most once. */
  readonly secrets: StateSecrets;
  readonly tools: Omit<Tools, 'states'>;
  /** Reads what secrets and config maps contain. */
  readonly texts: TextReader;
}

/** A part of the snapshot. */
export type Facts<Names extends keyof Snapshot> = Pick<Gatherers<Snapshot>, Names>;

export function contextOf(
  { world, client, sources, runnerOf, allowsSecretsInNames = false }: Sources,
  limits: InstallationLimits,
  self: View<Installation>,
): GatherContext {
  const namespace = self.metadata.namespace ?? '';
  const runner = runnerOf(namespace);
  const kubeconfigs = new IssuedKubeconfigs(kubeconfigIssuer({ client, sources }, namespace));
  return {
    self,
    namespace,
    world,
    client,
    jobID: self.status?.jobID ?? '',
    ownScope: `${namespace}/${installationContext(self.metadata.name)}`,
    secrets: new StateSecrets(client, namespace, runner),
    tools: { runner, kubeconfigs, limits, allowsSecretsInNames },
    texts: runner,
  };
}

/** Objects to write, each with the existing object of the same name. */
export const upserts = ({ world, namespace }: GatherContext, objects: readonly WrittenObject[]): Upsert[] =>
  objects.map((wanted) => {
    const cache = wanted.kind === 'Target' ? world.targets : world.dataObjects;
    return { wanted, existing: cache.get(`${namespace}/${wanted.metadata.name}`) };
  });
