/** The program that reads an index: finds one chart in it, and answers. */
import { listenToParent, sendToParent } from '../../src/lib/child-channel.ts';
import { locationIn, RepositoryProblem } from './repository-index.ts';
import type { IndexAnswer, IndexQuestion } from './repository-aside.ts';

function answer({ index, wanted }: IndexQuestion): IndexAnswer {
  try {
    return { location: locationIn(index, wanted) };
  } catch (error) {
    if (error instanceof RepositoryProblem) return { problem: error.message };
    throw error;
  }
}

listenToParent((question) => {
  sendToParent(answer(question as IndexQuestion));
});
