/** A Deployment is ready when all its replicas are of the present generation and available. */
import { numberAt, observed } from './fields.ts';
import { allOf, notReady, ready, type Verdict } from './verdict.ts';

export function deployment(object: unknown): Verdict {
  const wanted = numberAt(object, ['spec', 'replicas'], 1);
  const counts = ['replicas', 'updatedReplicas', 'availableReplicas'].map((field) =>
    numberAt(object, ['status', field]),
  );
  const off = counts.find((count) => count !== wanted);
  return allOf(
    observed(object),
    off === undefined ? ready : notReady(`not enough ready replicas (${String(off)}/${String(wanted)})`),
  );
}
