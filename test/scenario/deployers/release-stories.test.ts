/** The stories of releases without helm: messages, objects and records are those that helm was recorded with. */
import { expect } from 'chai';
import { recordedSteps, summary } from '../../support/release-recordings.ts';
import { StoryRun, type StepResult } from '../../support/release-runs.ts';
import { releaseStories } from '../../support/release-stories.ts';

const NO_HELM = '';

describe('a release has the same result as with helm if', function () {
  this.timeout(120_000);
  for (const story of releaseStories) {
    it(story.title, async () => {
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
    });
  }
});
