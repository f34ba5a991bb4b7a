/** The facts that a phase of an installation may read. */
import type { Context } from '../../src/api/kinds/context.ts';
import type { DataObject } from '../../src/api/kinds/dataobject.ts';
import type { Execution, StoredDeployItems } from '../../src/api/kinds/execution.ts';
import type { Installation } from '../../src/api/kinds/installation.ts';
import type { InstallationLimits } from '../../src/api/limits.ts';
import type { Target } from '../../src/api/kinds/target.ts';
import type { LoadedBlueprint } from '../../src/blueprint/load.ts';
import type { StateUpdate } from '../../src/blueprint/state.ts';
import type { FoundImports } from '../../src/dataflow/imports.ts';
import type { WrittenObject } from '../../src/dataflow/objects.ts';
import type {
  Rendered as RenderedInstallation,
  RenderedExports,
} from '../../src/dataflow/render-installation.ts';
import type { FreshName } from '../../src/landscape/fresh-names.ts';
import { phaseInSteps, phaseOf, stepOf } from '../../src/machine/phase.ts';
import type { Decision, PhaseError } from '../../src/machine/decision.ts';
import type { Owner } from '../../src/landscape/tree.ts';
import type { Reservation } from '../../src/landscape/tree-size.ts';
import type { Secret } from '../../src/landscape/world.ts';
import type { View } from '../../src/runtime/types.ts';
import type { FoundComponent } from './gather/component.ts';
import type { InstStatus } from './related-objects.ts';

export type DataOrTarget = View<DataObject> | View<Target>;

/** The rendered blueprint. A part that cannot be rendered is a PhaseError. */
export type Rendered = RenderedInstallation<PhaseError>;

/** A state to store, and the existing secret of that name. */
export interface StateUpsert {
  readonly update: StateUpdate;
  readonly existing: View<Secret> | undefined;
}

/** An object to write, and the existing object of that name. */
export interface Upsert {
  readonly wanted: WrittenObject;
  readonly existing: DataOrTarget | undefined;
}

/** Warnings about a blueprint that works, a line each. */
interface BlueprintWarnings {
  readonly all: readonly string[];
  /** Those about unknown fields. */
  readonly unknownFields: readonly string[];
}

export interface Snapshot {
  readonly self: View<Installation>;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Names for children that this job creates, from a name prefix. */
  readonly freshName: FreshName;
  /** Ancestors, the nearest first; empty for a root. */
  readonly ancestors: readonly Owner[];
  /** Maximum depth of a tree of installations. */
  readonly treeDepth: number;
  /** How often the blueprint of an installation may occur above it. */
  readonly treeRecursion: number;
  /** Limits that apply to the installation. */
  readonly limits: InstallationLimits;
  /** Whether the tree limit allows the objects that the installation is about to create. */
  readonly reservation: Reservation;
  readonly context: View<Context> | undefined;
  readonly component: FoundComponent;
  readonly blueprint: LoadedBlueprint;
  readonly blueprintWarnings: BlueprintWarnings;
  /** Whether unknown fields of the blueprint fail the job. */
  readonly isStrict: boolean;
  /** Installations with the same parent; for a root, all other roots of the namespace. */
  readonly siblings: readonly View<Installation>[];
  /** Siblings whose exports this installation imports. */
  readonly predecessors: readonly View<Installation>[];
  /** Last finished job of each predecessor, keyed by name. */
  readonly predecessorJobs: Readonly<Record<string, string>>;
  readonly imports: FoundImports;
  readonly importsHash: string;
  /** Imports whose targets were replaced since the job started, although the hash is the same. */
  readonly replacedTargets: readonly string[];
  /** Installations that have this one as their controlling owner, including those under deletion. */
  readonly children: readonly View<Installation>[];
  /** The execution of the same name, whatever its owner. */
  readonly execution: View<Execution> | undefined;
  readonly rendered: Rendered;
  /** The stored form of the rendered deploy items; undefined if the execution already has them. */
  readonly itemsToStore: StoredDeployItems | undefined;
  readonly stateUpserts: readonly StateUpsert[];
  readonly importUpserts: readonly Upsert[];
  /** All exports of this installation. */
  readonly ownExports: readonly DataOrTarget[];
  /** Exports of an earlier job of this installation. */
  readonly oldExports: readonly DataOrTarget[];
  /** Objects of an earlier job in the installation's own scope. */
  readonly staleObjects: readonly DataOrTarget[];
  readonly renderedExports: RenderedExports;
  /** The exports to write now. */
  readonly exportUpserts: readonly Upsert[];
  readonly exportStateUpserts: readonly StateUpsert[];
}

export type Answer<Next extends string> = Decision<Next, InstStatus>;
export const phase = phaseOf<Snapshot>();
export const steps = phaseInSteps<Snapshot>();
export const step = stepOf<Snapshot>();
