/** Rules that run before the phases of an execution; the first rule that returns a result wins. Pure. */
import { operations } from '../../src/api/labels.ts';
import {
  hasFinalizer,
  hasFinishedJob,
  hasOperation,
  isBeingDeleted,
  isFinished,
  withFinalizer,
} from '../../src/api/job.ts';
import {
  executionKind,
  writeDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../src/api/kinds/execution.ts';
import { releaseObject } from '../../src/landscape/abandoned.ts';
import { patch } from '../../src/machine/decision.ts';
import { interruptAnnotations } from '../../src/landscape/item-end.ts';
import type { Intake } from '../../src/machine/reconcile.ts';
import { drift, updateIdleConditions } from '../../src/landscape/idle-conditions.ts';
import type { View } from '../../src/runtime/types.ts';
import { jobOf, withStoredDurations, type Item } from './classify.ts';
import { interruptItem } from './items.ts';

export interface Facts {
  readonly items: readonly Item[];
  readonly now: string;
  /** The parent that would start its job no longer exists. */
  readonly isAbandoned: boolean;
}

type Rule = (self: View<Execution>, facts: Facts) => Intake | undefined;

/** An object under deletion without our finalizer is released; another reconcile is not necessary. */
const alreadyReleased: Rule = (self) =>
  isBeingDeleted(self.metadata) && !hasFinalizer(self.metadata) ? { effects: [], then: 'stop' } : undefined;

const abandoned: Rule = (self, { items, isAbandoned }) =>
  isAbandoned && items.length === 0 ? releaseObject(executionKind, self) : undefined;

/** Also compresses plain deploy items, as all writers of executions do. Init checks whether there are too many. */
const finalizerMissing: Rule = (self) => {
  if (hasFinalizer(self.metadata)) return undefined;
  const isPlain = (self.spec.deployItems?.length ?? 0) > 0 && !self.spec.deployItemsCompressed;
  const spec = isPlain && {
    deployItems: null,
    ...writeDeployItems(withStoredDurations((self.spec.deployItems ?? []) as DeployItemTemplate[])),
  };
  const metadata = { finalizers: withFinalizer(self.metadata) };
  return { effects: [patch(executionKind, self, { metadata, ...(spec && { spec }) })], then: 'continue' };
};

/** Ends unfinished items. Removes the annotation last, so an interrupt that fails halfway is repeated. */
const interruptRequested: Rule = (self, { items, now }) => {
  if (!hasOperation(self.metadata, operations.interrupt)) return undefined;
  const unfinished = items.filter((item) => !hasFinishedJob(item, jobOf(self)));
  return {
    effects: [
      ...unfinished.map((item) => interruptItem({ self, now }, item)),
      patch(executionKind, self, { metadata: { annotations: interruptAnnotations(self) } }),
    ],
    then: 'continue',
  };
};

/** Reports items that failed in a job of their own after the execution's job. */
const idle: Rule = (self, { items, now }) =>
  isFinished(self) && !isBeingDeleted(self.metadata)
    ? updateIdleConditions(executionKind, self, drift(self, items), now)
    : undefined;

const rules: readonly Rule[] = [alreadyReleased, abandoned, finalizerMissing, interruptRequested, idle];

export function intake(self: View<Execution>, facts: Facts): Intake | undefined {
  for (const rule of rules) {
    const answer = rule(self, facts);
    if (answer) return answer;
  }
  return undefined;
}
