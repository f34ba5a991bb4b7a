/** An APIService is ready if its server answers. */
import { conditionOf, isTrue, messageIn } from './fields.ts';
import { notReady, ready, type Verdict } from './verdict.ts';

export function apiService(object: unknown): Verdict {
  const available = conditionOf(object, 'Available');
  if (isTrue(available)) return ready;
  const why = available ? `: ${messageIn(available)}` : '';
  return notReady(`the API service is not available${why}`);
}
