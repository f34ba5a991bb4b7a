/** Replays the stories of releases with the engine of Espalier, and compares with the recordings of helm. */
import { expect } from 'chai';
import { recordedSteps, summary } from './release-recordings.ts';
import { StoryRun, type StepResult } from './release-runs.ts';
import type { Story } from './release-stories.ts';

const NO_HELM = '';

/** Messages, objects and records must be those that helm was recorded with. */
export async function expectRecordedResults(story: Story): Promise<void> {
  const run = await StoryRun.start(NO_HELM, story);
  try {
    const results: StepResult[] = [];
    for (const step of story.steps) results.push(await run.step(step, 'ours'));
    const wanted = recordedSteps(story.title);
    for (const [i, step] of summary(results).entries())
      expect(step, `step ${String(i + 1)}: ${JSON.stringify(story.steps[i])}`).to.deep.equal(wanted?.[i]);
  } finally {
    await run.close();
  }
}
