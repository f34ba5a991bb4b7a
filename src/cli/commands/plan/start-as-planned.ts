/** `espalier installations reconcile --plan`: checks that a job would do only what a saved plan lists. */
import { hasOperation, isFinished, isSuspended } from '../../../api/job.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import { annotations, operations } from '../../../api/labels.ts';
import type { Cluster } from '../../cluster.ts';
import { CommandError } from '../../errors.ts';
import { selfCommand } from '../../self-command.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { unlisted } from './compare-plans.ts';
import { makePlan, type PlanSettings } from './make-plan.ts';
import { comparablePlan, type SavedPlan } from './saved-plan.ts';

/**
 * Plans the job again, and compares the plans.
 * @returns the resource version of the installation that was planned
 * @throws CommandError if the job would do something that the saved plan does not list
 */
export async function checkAgainstPlan(
  installation: Installation,
  saved: SavedPlan,
  settings: PlanSettings,
  cluster: Cluster,
  terminal: Terminal,
): Promise<string> {
  const { name, namespace = '', uid } = installation.metadata;
  const planned = saved.installation;
  const again = `save a new plan with: ${selfCommand()} plan ${name} -n ${namespace} --out FILE`;
  if (planned.name !== name || planned.namespace !== namespace)
    throw new CommandError(
      `the plan was saved for installation ${planned.name} in namespace ${planned.namespace}, not for ${name} in ${namespace}; no job was started`,
    );
  if (planned.uid !== uid)
    throw new CommandError(
      `installation ${name} was deleted and recreated since the plan was saved, or it is on another cluster; no job was started; ${again}`,
    );
  if (!isFinished(installation) || hasOperation(installation.metadata, operations.reconcile))
    throw new CommandError(
      `a job of ${name} is running or about to start, so another one cannot be compared with the plan; wait until it has ended: ${selfCommand()} inst inspect ${name} -n ${namespace} --watch`,
    );
  if (isSuspended(installation.metadata))
    throw new CommandError(
      `${name} is suspended, so its job would start at an unknown time after the comparison; remove the annotation ${annotations.suspended} first`,
    );
  const made = await makePlan(name, { ...settings, isDelete: false }, cluster);
  const differences = unlisted(comparablePlan(made), saved);
  if (differences.length > 0) {
    for (const line of differences) terminal.warn(line);
    throw new CommandError(
      `the job of ${name} would do what the plan of ${saved.savedAt} does not list, see above; no job was started; ${again}`,
    );
  }
  return made.installation?.metadata.resourceVersion ?? '';
}
