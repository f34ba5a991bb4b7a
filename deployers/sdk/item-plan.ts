/** The answer of a plug-in that was asked what a job would change. It is data: nothing in it has happened. */
import type { KubeObject, ResourceRef } from '../objects/manifests/model.ts';

/** `kept` is left as it is although the item knows of it: by its policy, or because it belongs to another owner. */
export type PlannedChange = 'create' | 'change' | 'delete' | 'unchanged' | 'kept';

/** One object of a plan, and what would become of it. */
export interface PlannedObject {
  readonly ref: ResourceRef;
  readonly change: PlannedChange;
  /** As it is on the cluster. Of secrets with all they hold: mask it before it is shown. */
  readonly before?: KubeObject | undefined;
  /** As the cluster would store it, or, when it could not be asked, as it would be sent. */
  readonly after?: KubeObject | undefined;
  /** Why, or what is not known of it. */
  readonly note?: string | undefined;
  /** Why the job would fail at it. */
  readonly problem?: string | undefined;
}

/** What a job would do to the target of an item, asked without doing it. */
export interface ItemPlan {
  readonly objects: readonly PlannedObject[];
  /** What objects do not tell. */
  readonly notes: readonly string[];
}

/** The plan of an item for which nothing would be done. */
export const nothingPlanned: ItemPlan = { objects: [], notes: [] };
