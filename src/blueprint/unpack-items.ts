/** Large lists of deploy items, which executions hold compressed: a few kilobytes may stand for any amount of work. */
import type { InstallationLimits } from '../api/limits.ts';
import { readDeployItems } from '../api/kinds/execution.ts';
import { templateProblems } from '../api/validation/execution.ts';
import { aggregate } from '../api/validation/fields.ts';
import { exactJson } from '../lib/exact-json.ts';

export interface UnpackJob {
  /** `spec.deployItemsCompressed` */
  readonly packed: string;
  /** Default: those of a configuration that says nothing. */
  readonly limits?: InstallationLimits | undefined;
  /** Whether nobody wants to have the items themselves. */
  readonly isOnlyChecked?: boolean;
}

/** A list that has been read and checked. */
export interface UnpackedItems {
  /** One by one as JSON, so that whoever reads them can do something else in between. */
  readonly items: readonly string[];
  /** What validation finds wrong with them. */
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
