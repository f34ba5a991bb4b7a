/** The settings of actions, and what a chart needs to become a revision. */
import type { Fields } from '../../../src/lib/objects.ts';
import type { Capabilities } from '../../../src/templating/helm/capabilities.ts';
import type { ReadLookup } from '../../../src/templating/helm/lookups.ts';
import type { KubeObject } from '../../objects/manifests/model.ts';
import type { PackedChart } from '../../../src/templating/helm/work.ts';

export interface ActionSettings {
  /** Replaces objects instead of patching them. */
  readonly force: boolean;
  /** Whether the action waits until all objects are ready. */
  readonly waits: boolean;
  /** Whether it also waits until jobs have completed. */
  readonly waitsForJobs?: boolean;
  /** Undoes an action that failed. */
  readonly isAtomic: boolean;
  /** Deletes objects that a failed upgrade has created. */
  readonly cleansUp?: boolean;
  /** Whether the release takes over objects of other owners. */
  readonly takesOwnership: boolean;
  /** For each hook, and for each wait. */
  readonly timeoutMs: number;
}

/** What is rendered. */
export interface ChartInput {
  readonly chart: PackedChart;
  readonly values: Fields;
  /** The facts about the target. */
  readonly capabilities: () => Promise<Capabilities>;
  /** @param definitions CRDs that are created before the objects */
  readonly lookup: (definitions: readonly KubeObject[]) => ReadLookup;
}
