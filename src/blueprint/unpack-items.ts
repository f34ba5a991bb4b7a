/**
 * Large lists of deploy items, which executions contain in compressed form: a few kilobytes can contain a very long
 * list.
 */
import type { InstallationLimits } from '../api/limits.ts';
import { readDeployItems } from '../api/kinds/execution.ts';
import { templateProblems } from '../api/validation/execution.ts';
import { aggregate } from '../api/validation/fields.ts';
import { exactJson } from '../lib/exact-json.ts';

export interface UnpackJob {
  /** `spec.deployItemsCompressed` */
  readonly packed: string;
  /** Default: the limits of an empty configuration. */
  readonly limits?: InstallationLimits | undefined;
  /** Whether only the check is needed, not the items. */
  readonly isOnlyChecked?: boolean;
}

/** A list that has been read and checked. */
export interface UnpackedItems {
  /** One JSON string for each item, so they can be parsed with pauses. */
  readonly items: readonly string[];
  /** Findings of the validation. */
  readonly problem: string | undefined;
}

export interface ItemsUnpacker {
  /** @throws UnreadableDeployItems */
  unpackItems(job: UnpackJob): Promise<UnpackedItems>;
}

/** @throws UnreadableDeployItems */
export function unpackItems({ packed, limits, isOnlyChecked = false }: UnpackJob): UnpackedItems {
  const templates = readDeployItems({ deployItemsCompressed: packed }, limits);
  return {
    items: isOnlyChecked ? [] : templates.map((template) => exactJson(template)),
    problem: aggregate(templateProblems(templates, 'spec.deployItems')),
  };
}
