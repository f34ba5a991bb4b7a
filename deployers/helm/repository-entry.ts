/** What the thread for an index runs: finds one chart in it, answers, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { locationIn, RepositoryProblem } from './repository-index.ts';
import type { IndexAnswer, IndexQuestion } from './repository-thread.ts';

function answer({ index, wanted }: IndexQuestion): IndexAnswer {
  try {
    return { location: locationIn(index, wanted) };
  } catch (error) {
    if (error instanceof RepositoryProblem) return { problem: error.message };
    throw error;
  }
}

parentPort?.postMessage(answer(workerData as IndexQuestion));
