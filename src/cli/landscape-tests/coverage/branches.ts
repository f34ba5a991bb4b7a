/** Learns which branches of templates the jobs of a case take. */
import { work, type RenderJob, type RunnerOf } from '../../../blueprint/work.ts';
import { systemClock } from '../../../lib/clock.ts';
import { systemRng } from '../../../lib/rng.ts';
import { branchId, templateId } from '../../../templating/branches.ts';
import { RenderError, TemplateStopped } from '../../../templating/errors.ts';
import type { WayListener } from '../../../templating/fork.ts';

/**
 * The same runners, but each execution that a worker could finish is rendered again in this process, which adds the
 * ids of its branches to `taken`. An execution that fails has taken branches too.
 */
export const recordingBranches =
  (runnerOf: RunnerOf, taken: Set<string>): RunnerOf =>
  (namespace) => {
    const runner = runnerOf(namespace);
    return {
      ...runner,
      render: async (job) => {
        try {
          const rendering = await runner.render(job);
          renderAgain(job, taken);
          return rendering;
        } catch (error) {
          if (error instanceof RenderError && !(error instanceof TemplateStopped)) renderAgain(job, taken);
          throw error;
        }
      },
    };
  };

function renderAgain(job: RenderJob, taken: Set<string>): void {
  // A loop takes the same branch many times; hashing the whole template each time would be slow.
  const templates = new Map<string, string>();
  const onWay: WayListener = (source, pos, way) => {
    const template = templates.get(source) ?? templateId(source);
    templates.set(source, template);
    taken.add(branchId(template, pos, way));
  };
  try {
    work.render(job, { clock: systemClock, rng: systemRng, onWay });
  } catch (error) {
    if (!(error instanceof RenderError)) throw error;
  }
}
