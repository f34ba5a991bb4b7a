/** The facts that a phase of an execution may read. */
import type { DataObject } from '../../src/api/kinds/dataobject.ts';
import type { DeployItem } from '../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../src/api/kinds/execution.ts';
import type { FreshName } from '../../src/landscape/fresh-names.ts';
import { phaseInSteps, phaseOf, stepOf } from '../../src/machine/phase.ts';
import type { Owner } from '../../src/landscape/tree.ts';
import type { Reservation } from '../../src/landscape/tree-size.ts';
import type { View } from '../../src/runtime/types.ts';

export interface Snapshot {
  readonly self: View<Execution>;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** The execution's owners, the nearest first. */
  readonly ancestors: readonly Owner[];
  /** Whether the tree limit allows the deploy items that the phase is about to create. */
  readonly reservation: Reservation;
  readonly templates: readonly DeployItemTemplate[];
  /** Why this execution is invalid and its job ends at once. */
  readonly refusal: string | undefined;
  /** Every deploy item with the label of this execution, including items without a template. */
  readonly items: readonly View<DeployItem>[];
  /** Shoots of the items, keyed by template name; only for items that check whether their shoot exists. */
  readonly clusterNames: ReadonlyMap<string, string>;
  /** Names of items that are about to be uninstalled and whose cluster no longer exists. */
  readonly itemsWithoutCluster: ReadonlySet<string>;
  /** Names for items that this job creates, from a name prefix. */
  readonly freshName: FreshName;
  /** Trace context of an item in this job, from the name of the item; undefined if traces are switched off. */
  readonly traceparentOf: (item: string) => string | undefined;
  /** Why no deployer picks up items of a type; undefined if a deployer of this process handles the type. */
  readonly missingDeployer: (type: string) => string | undefined;
  /** The exports of the items, keyed by template name. */
  readonly exports: Readonly<Record<string, unknown>>;
  /** The data object that publishes the exports, if it exists. */
  readonly exportObject: View<DataObject> | undefined;
}

export const phase = phaseOf<Snapshot>();
export const steps = phaseInSteps<Snapshot>();
export const step = stepOf<Snapshot>();
