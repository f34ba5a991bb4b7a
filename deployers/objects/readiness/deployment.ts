/** A Deployment is ready if all its replicas are updated and available. */
import { numberAt, observed } from './fields.ts';
import { allOf, notReady, ready, type Verdict } from './verdict.ts';

export function deployment(object: unknown): Verdict {
  const wanted = numberAt(object, ['spec', 'replicas'], 1);
  const counts = ['replicas', 'updatedReplicas', 'availableReplicas'].map((field) =>
    numberAt(object, ['status', field]),
  );
  const missing = counts.find((count) => count !== wanted);
  return allOf(
    observed(object),
    missing === undefined
      ? ready
      : notReady(`not enough ready replicas (${String(missing)}/${String(wanted)})`),
  );
}
