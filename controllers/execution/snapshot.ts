/** What a phase of an execution may see. */
import type { DataObject } from '../../src/api/kinds/dataobject.ts';
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import type { FreshName } from '../../src/landscape/fresh-names.ts';
import { phaseInSteps, phaseOf, stepOf } from '../../src/machine/phase.ts';
import type { Owner } from '../../src/landscape/tree.ts';
import type { Room } from '../../src/landscape/tree-size.ts';
import type { View } from '../../src/runtime/types.ts';

export interface Snapshot {
  readonly self: View<Execution>;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** What the execution belongs to, the nearest first. */
  readonly ancestors: readonly Owner[];
  /** Whether the tree may have the deploy items that are about to be created. */
  readonly room: Room;
  readonly templates: readonly DeployItemTemplate[];
  /** Why a job with this execution ends before it begins. */
  readonly refusal: string | undefined;
  /** Every deploy item labelled as managed by this execution, also those that no template asks for. */
  readonly items: readonly View<DeployItem>[];
  /** Shoots that items go to, by template name, as far as it matters. */
  readonly clusterNames: ReadonlyMap<string, string>;
  /** Names of items, among those about to be uninstalled, whose cluster is gone. */
  readonly clusterless: ReadonlySet<string>;
  /** Names of items that this job makes, by their beginning. */
  readonly freshName: FreshName;
  /** Why nobody takes up items of a type; undefined when a deployer of this process serves it. */
  readonly missingDeployer: (type: string) => string | undefined;
  /** What the items export, by template name. */
  readonly exports: Readonly<Record<string, unknown>>;
  /** The data object that publishes the exports, if it exists. */
  readonly exportObject: View<DataObject> | undefined;
}

export const phase = phaseOf<Snapshot>();
export const steps = phaseInSteps<Snapshot>();
export const step = stepOf<Snapshot>();
