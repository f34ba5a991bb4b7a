/** What a phase of an installation may see. */
import type { Context } from '../../src/api/kinds/context.ts';
import type { DataObject } from '../../src/api/kinds/dataobject.ts';
import type { Execution } from '../../src/api/kinds/execution.ts';
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
import type { Room } from '../../src/landscape/tree-size.ts';
import type { Secret } from '../../src/landscape/world.ts';
import type { View } from '../../src/runtime/types.ts';
import type { FoundComponent } from './gather/component.ts';
import type { InstStatus } from './related-objects.ts';

export type DataOrTarget = View<DataObject> | View<Target>;

/** What the blueprint makes of the imports. What could not be rendered is an error in the place of the result. */
export type Rendered = RenderedInstallation<PhaseError>;

/** A state to be stored, and the secret that is there under its name. */
export interface StateUpsert {
  readonly update: StateUpdate;
  readonly existing: View<Secret> | undefined;
}

/** An object to be written, and what is there under its name. */
export interface Upsert {
  readonly wanted: WrittenObject;
  readonly existing: DataOrTarget | undefined;
}

export interface Snapshot {
  readonly self: View<Installation>;
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Names of children that this job makes, by their beginning. */
  readonly freshName: FreshName;
  /** Installations above this one, the nearest first; none above a root. */
  readonly ancestors: readonly Owner[];
  /** How many levels of installations a tree may have. */
  readonly treeDepth: number;
  /** What the installation may have. */
  readonly limits: InstallationLimits;
  /** Whether the tree may have the objects that the installation is about to create. */
  readonly room: Room;
  readonly context: View<Context> | undefined;
  readonly component: FoundComponent;
  readonly blueprint: LoadedBlueprint;
  /** What is doubtful about the blueprint, a line each; empty when nothing is. */
  readonly advice: string;
  /** Installations of the same parent, or all other roots of the namespace. */
  readonly siblings: readonly View<Installation>[];
  /** Siblings that export what this one imports. */
  readonly predecessors: readonly View<Installation>[];
  /** Last finished job of each predecessor, by name. */
  readonly predecessorJobs: Readonly<Record<string, string>>;
  readonly imports: FoundImports;
  readonly importsHash: string;
  /** Imports whose targets are not those any more that the job began with, though the hash is the same. */
  readonly replacedTargets: readonly string[];
  /** Installations whose controlling owner this is, those under deletion included. */
  readonly children: readonly View<Installation>[];
  /** The execution of the same name, whoever owns it. */
  readonly execution: View<Execution> | undefined;
  readonly rendered: Rendered;
  readonly stateUpserts: readonly StateUpsert[];
  readonly importUpserts: readonly Upsert[];
  /** Everything that this installation has exported. */
  readonly ownExports: readonly DataOrTarget[];
  /** Exports that an earlier job of this installation wrote. */
  readonly oldExports: readonly DataOrTarget[];
  /** Objects in the own scope that an earlier job left there. */
  readonly staleObjects: readonly DataOrTarget[];
  readonly renderedExports: RenderedExports;
  /** What the installation exports now. */
  readonly exportUpserts: readonly Upsert[];
  readonly exportStateUpserts: readonly StateUpsert[];
}

export type Answer<Next extends string> = Decision<Next, InstStatus>;
export const phase = phaseOf<Snapshot>();
export const steps = phaseInSteps<Snapshot>();
export const step = stepOf<Snapshot>();
