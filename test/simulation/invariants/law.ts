/** An invariant, and what happens when it is broken. */
import type { Change, Server } from '../cluster/server.ts';

export interface Law {
  /** A sentence that always holds. */
  readonly name: string;
  /** Looks at a change right after it was made. @returns what is wrong with it */
  broken(change: Change, server: Server): string | undefined;
}

export class Violation extends Error {
  readonly law: string;

  constructor(law: string, what: string) {
    super(what);
    this.law = law;
  }
}

/** Holds every change against the laws. */
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
