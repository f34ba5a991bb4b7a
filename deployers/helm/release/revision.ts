/** How a chart becomes a new revision, and how an action that failed or was interrupted is recorded. */
import type { RecordInfo } from '../../../src/templating/helm/record-content.ts';
import { ReleaseError, type ReleaseTarget } from './cluster.ts';
import { owned } from './ownership.ts';
import { resourcesOf, type Resource } from './resources.ts';
import type { ChartInput } from './settings.ts';
import { newRevision, setStatus, type Revision, type Working } from './storage.ts';

interface NewRevision {
  /** The revision that templates see. */
  readonly revision: number;
  /** The revision that is stored. */
  readonly version: number;
  readonly isUpgrade: boolean;
  readonly info: RecordInfo;
  /** Labels of the secret of the last revision. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Renders the chart; nothing is stored. @throws HelmError */
export async function render(
  { chart, values, capabilities, lookup }: ChartInput,
  { revision, version, isUpgrade, info, labels }: NewRevision,
  target: ReleaseTarget,
): Promise<Revision> {
  const { name, namespace, charts } = target;
  const release = { name, namespace, revision, isUpgrade };
  const inputs = { release, values, capabilities: await capabilities(), skipsSchema: true };
  const record = await charts.renderRelease({ chart, inputs, lookup, info, version });
  return newRevision(record, version, labels, target);
}

/** The objects of a revision as they are applied. @throws ReleaseError */
export const ownedResources = async (
  { view }: Revision,
  target: ReleaseTarget,
): Promise<readonly Resource[]> =>
  (await resourcesOf(view.documents, target)).map((resource) => owned(resource, target));

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 53;

export const isValidName = (name: string): boolean => name.length <= MAX_NAME && NAME.test(name);

export const NAME_RULE = `invalid release name, must match regex ${NAME.source} and the length must not be longer than ${String(MAX_NAME)}`;

/** Time to record that an action was interrupted. */
const GRACE_MS = 5000;

/**
 * Runs the part of an action that follows the creation of its record, and records how it failed.
 * @param describe the description of the failure
 * @param undo called after a failure, but not after an interruption
 * @throws the error of `work`, or that of `undo`
 */
export async function recorded(
  working: Working,
  target: ReleaseTarget,
  describe: (message: string) => string,
  work: () => Promise<void>,
  undo: (error: Error) => Promise<never>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!target.signal.aborted) return undo(error as Error);
    await withGrace(target, async (late) => {
      await setStatus(working.revision, 'failed', late, describe('context canceled'));
    });
    throw error;
  }
}

/** The work gets a few seconds although the action was interrupted; its errors are not reported. */
async function withGrace(target: ReleaseTarget, work: (late: ReleaseTarget) => Promise<void>): Promise<void> {
  const end = new AbortController();
  const cancel = target.clock.at(target.clock.now() + GRACE_MS, () => {
    end.abort(new ReleaseError('the time to record the interruption is over'));
  });
  try {
    await work({ ...target, signal: end.signal });
  } catch (error) {
    target.warn('interrupted action cannot be recorded', error);
  } finally {
    cancel();
  }
}
