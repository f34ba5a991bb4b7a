/** Plays the core for deploy items without an execution: who may start, who may go, and when it is over. */
import { failedPhase, isFinished } from '../../../api/job.ts';
import { deployItemKind, type DeployItem } from '../../../api/kinds/deployitem.ts';
import { timestamp, type Clock } from '../../../lib/clock.ts';
import { INTERRUPTED } from '../../../landscape/item-end.ts';
import { Conflict, NotFound } from '../../../runtime/errors.ts';
import type { Client, View } from '../../../runtime/types.ts';
import { plan, type NodeState } from '../../../workflow/plan.ts';
import type { Dag } from '../../../workflow/dag.ts';

export type Item = View<DeployItem>;

export interface Work {
  readonly dag: Dag;
  readonly jobID: string;
  readonly direction: 'apply' | 'remove';
}

export interface NextSteps {
  /** Names of items that get the job now. */
  readonly trigger: readonly string[];
  readonly isOver: boolean;
}

/** @param items all that are there, by name. Pure */
export function nextSteps({ dag, jobID, direction }: Work, items: ReadonlyMap<string, Item>): NextSteps {
  const stateOf = (name: string): NodeState => {
    const item = items.get(name);
    if (!item) return direction === 'apply' ? 'failed' : 'removed';
    if (item.status?.jobID !== jobID) return direction === 'apply' ? 'idle' : 'doomed';
    if (!isFinished(item)) return direction === 'apply' ? 'running' : 'removing';
    if (direction === 'apply') return item.status.phase === 'Succeeded' ? 'ready' : 'failed';
    return item.status.phase === 'Succeeded' ? 'removing' : 'failed';
  };
  const { start, remove, settled } = plan(dag, stateOf, { gate: 'ready', failFast: true });
  return { trigger: [...start, ...remove], isOver: settled };
}

/** Gives an item the job; for a removal it is deleted first. */
export async function trigger(
  item: Item,
  { jobID, direction }: Work,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
): Promise<void> {
  const key = `${item.metadata.namespace ?? ''}/${item.metadata.name}`;
  if (direction === 'remove') await client.send({ verb: 'delete', kind: deployItemKind, key });
  const now = timestamp(clock);
  const status = {
    observedGeneration: item.status?.observedGeneration ?? 0,
    jobID,
    jobIDGenerationTime: now,
    transitionTimes: { triggerTime: now, initTime: null, waitTime: null, finishedTime: null },
  };
  await client.send({ verb: 'merge', kind: deployItemKind, key, body: { status }, sub: 'status' });
}

/** Ends the job of an item in the place of its deployer, which then lets go. */
export async function interrupt(
  item: Item,
  { client, clock }: { readonly client: Client; readonly clock: Clock },
): Promise<void> {
  const now = timestamp(clock);
  const status = {
    phase: failedPhase(item.metadata),
    jobIDFinished: item.status?.jobID,
    transitionTimes: { finishedTime: now },
    lastError: { ...INTERRUPTED, lastTransitionTime: now, lastUpdateTime: now },
  };
  const key = `${item.metadata.namespace ?? ''}/${item.metadata.name}`;
  try {
    await client.send({ verb: 'merge', kind: deployItemKind, key, body: { status }, sub: 'status' });
  } catch (error) {
    if (!(error instanceof NotFound || error instanceof Conflict)) throw error;
  }
}
