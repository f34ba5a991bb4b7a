/** The program that reads an index, finds one chart in it, and sends the result. */
import { listenToParent, sendToParent } from '../../src/lib/child-channel.ts';
import { ChartNotPublished, locationIn, RepositoryProblem } from './repository-index.ts';
import type { IndexResponse, IndexRequest } from './repository-process.ts';

function response({ index, wanted }: IndexRequest): IndexResponse {
  try {
    return { location: locationIn(index, wanted) };
  } catch (error) {
    if (error instanceof RepositoryProblem)
      return { problem: error.message, isNotPublished: error instanceof ChartNotPublished };
    throw error;
  }
}

listenToParent((request) => {
  sendToParent(response(request as IndexRequest));
});
