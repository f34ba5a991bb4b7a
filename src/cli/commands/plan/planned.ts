/** What a plan is made of, and what the walk through the tree needs. */
import type { FindComponent } from '../../../../controllers/installation/gather/component.ts';
import type { DeployerPlugin } from '../../../../deployers/sdk/deployer.ts';
import type { ItemPlan, PlannedObject, TargetReader } from '../../../../deployers/sdk/index.ts';
import type { InstallationLimits } from '../../../api/limits.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { RunnerOf } from '../../../blueprint/work.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Rng } from '../../../lib/rng.ts';
import type { Logger } from '../../../observability/log.ts';
import type { ClientPool } from '../../../runtime/transport/client-pool.ts';
import type { Client, View } from '../../../runtime/types.ts';
import type { TreeBudget } from '../../tree/budget.ts';

export interface PlanPorts {
  /** Must not write. */
  readonly client: Client;
  /** Clients for clusters that issue kubeconfigs; such a request stores nothing. */
  readonly sources: ClientPool;
  readonly runnerOf: RunnerOf;
  readonly findComponent: FindComponent;
  /** @returns undefined if no deployer of this type is known */
  readonly pluginOf: (type: string) => DeployerPlugin | undefined;
  readonly reader: TargetReader;
  /** Deploy items whose status lists the object with this uid. */
  readonly managersOf: (uid: string) => readonly View<DeployItem>[];
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The limits for the plan; the requested installation counts as the root. */
  readonly budget: TreeBudget;
  readonly limits: InstallationLimits;
  /** Whether unknown fields of blueprints fail the job. */
  readonly isStrict: boolean;
  /** Whether values of secrets in names are only reported. */
  readonly allowsSecretsInNames?: boolean;
  /** Types of items whose deployer refuses unknown fields of configurations. */
  readonly strictTypes: ReadonlySet<string>;
  /** Collects secret values. */
  readonly secrets: unknown[];
}

/** `new`: the job creates the item; `gone`: the job deletes it; `idle`: its deployer skips the unchanged item. */
export type ItemState = 'new' | 'changed' | 'same' | 'gone' | 'idle';

export interface PlannedItem {
  /** Names of the installations from the root, and of the item in its blueprint, separated by `/`. */
  readonly path: string;
  readonly type: string;
  readonly target: string | undefined;
  readonly state: ItemState;
  /** undefined if there is no plan; `problem` or `note` say why. */
  readonly plan: ItemPlan | undefined;
  readonly problem?: string;
  readonly note?: string;
  /** Of an item that the job skips: live objects that differ from what it wants. They are in no count. */
  readonly drift?: Drift;
}

interface Drift {
  readonly objects: readonly PlannedObject[];
  /** Why the objects cannot be compared, or not all of them. */
  readonly problem?: string;
}

export interface PlannedTree {
  readonly items: readonly PlannedItem[];
  /** Installations without a plan, because it is unknown or the job would fail. */
  readonly problems: readonly {
    readonly path: string;
    readonly message: string;
    readonly isUnknown: boolean;
  }[];
  /** Installations whose deletion starts only after others have been deleted. */
  readonly waits: readonly PlannedWait[];
}

export interface PlannedWait {
  readonly path: string;
  /** Names of the siblings that import its exports. */
  readonly importers: readonly string[];
}
