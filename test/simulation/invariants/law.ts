/** An invariant, and what happens if it is violated. */
import { Violation } from '../../../src/testing/violation.ts';
import type { Change, Server } from '../cluster/server.ts';

export interface Law {
  /** A sentence that is always true. */
  readonly name: string;
  /** Checks a change right after it was made. @returns the violation */
  broken(change: Change, server: Server): string | undefined;
}

/** Checks every change against the invariants. */
export function enforce(
  laws: readonly Law[],
  server: Server,
  onViolation: (violation: Violation) => void,
): void {
  server.onChange((change) => {
    for (const law of laws) {
      const what = law.broken(change, server);
      if (what !== undefined) onViolation(new Violation(law.name, `${what} (written by ${change.actor})`));
    }
  });
}
