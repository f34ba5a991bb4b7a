/** The stories of releases without helm. */
import { expectRecordedResults } from '../../support/release-replay.ts';
import { releaseStories } from '../../support/release-stories.ts';

describe('a release has the same result as with helm if', function () {
  this.timeout(120_000);
  for (const story of releaseStories.filter(({ isLong }) => !isLong))
    it(story.title, () => expectRecordedResults(story));
});
