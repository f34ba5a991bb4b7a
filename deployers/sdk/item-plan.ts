/** A plugin's answer to what a job would change. It is data: nothing has been changed. */
import type { KubeObject, ResourceRef } from '../objects/manifests/model.ts';

/**
 * `kept` stays unchanged although it is in the item's status: because of its policy, or because it has another owner.
 */
export type PlannedChange = 'create' | 'change' | 'delete' | 'unchanged' | 'kept';

/** One object of a plan, and its change. */
export interface PlannedObject {
  readonly ref: ResourceRef;
  readonly change: PlannedChange;
  /** The object on the cluster. Secrets with their values: mask them before they are shown. */
  readonly before?: KubeObject | undefined;
  /** The object as the cluster would store it, or as it would be sent if the cluster could not be asked. */
  readonly after?: KubeObject | undefined;
  /** The reason, or what is unknown. */
  readonly note?: string | undefined;
  /** Why the job would fail. */
  readonly problem?: string | undefined;
}

/** What a job would do on the target of a deploy item. */
export interface ItemPlan {
  readonly objects: readonly PlannedObject[];
  /** Remarks that are not about a single object. */
  readonly notes: readonly string[];
}

/** A plan without changes. */
export const nothingPlanned: ItemPlan = { objects: [], notes: [] };

/** Thrown by a plugin's `plan` if it cannot determine the changes; the message says why. */
export class PlanUnknown extends Error {
  override readonly name = 'PlanUnknown';
}

/** Also if the plugin has its own copy of the SDK. */
export const isPlanUnknown = (error: unknown): boolean =>
  error instanceof Error && error.name === 'PlanUnknown';
