/** A CustomResourceDefinition is ready if its kind is served. Names that another definition has are never accepted. */
import { conditionOf, isTrue, messageIn } from './fields.ts';
import { failed, notReady, ready, type Verdict } from './verdict.ts';

export function definition(object: unknown): Verdict {
  const names = conditionOf(object, 'NamesAccepted');
  if (names?.status === 'False') return failed(`the names are not accepted: ${messageIn(names)}`);
  return isTrue(conditionOf(object, 'Established')) ? ready : notReady('the definition is not established');
}
