/**
 * Notices that another process handles the same deploy items. Two such processes both see a new job and try to start it;
 * the API server accepts one of the writes. So the process whose write was refused, and which then finds the job started
 * under another identity, has a rival. A process that continues the job of one that has ended never tried to start it.
 * Replicas that share a lease never try both, because only the holder of an item's shard writes.
 */
import { isFinished } from '../../src/api/job.ts';
import type { Logger } from '../../src/observability/log.ts';
import type { Context, Key, View } from '../../src/runtime/types.ts';
import { isJobNew } from './intake.ts';
import type { DeployItem } from './kinds.ts';

/** Reason of the Event; `espalier doctor` looks for it. */
export const ANOTHER_DEPLOYER = 'AnotherDeployer';

interface Rivals {
  /** The item was changed by another client during a reconcile that started with this state. */
  refused(key: Key, before: View<DeployItem>): void;
  /** Called at the start of each reconcile: an Event, and a line in the log for each rival. */
  report(item: View<DeployItem>, ctx: Pick<Context<DeployItem>, 'key' | 'event'>): void;
  /** Number of refused writes whose reason is not known yet. */
  readonly size: number;
}

/** More refused writes than that have other reasons. */
const MAX_REFUSED = 1_000;

export function createRivals(identity: string, log: Logger): Rivals {
  const jobs = new Map<Key, string>();
  const logged = new Set<string>();
  return {
    refused(key, before) {
      const jobID = before.status?.jobID;
      if (jobID === undefined || isFinished(before) || !isJobNew(before)) return;
      if (jobs.size >= MAX_REFUSED) jobs.clear();
      jobs.set(key, jobID);
    },
    report(item, { key, event }) {
      const jobID = jobs.get(key);
      const isSameJob = jobID !== undefined && item.status?.jobID === jobID;
      if (isSameJob && !isFinished(item) && isJobNew(item)) return; // not started yet
      jobs.delete(key);
      const other = item.status?.deployer?.identity;
      if (!isSameJob || other === undefined || other === identity) return;
      if (!logged.has(other) && logged.size < MAX_REFUSED) {
        logged.add(other);
        log.error({ identity, other, key }, 'another deployer handles the same deploy items');
      }
      event(
        'Warning',
        ANOTHER_DEPLOYER,
        `deployers "${identity}" and "${other}" handle the same deploy items, so they interrupt each other; ` +
          'start both with the same --lease, give them different target selectors, or stop one',
      );
    },
    get size() {
      return jobs.size;
    },
  };
}
