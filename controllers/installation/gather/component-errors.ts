/** Translates component errors to phase errors. */
import { isBeingDeleted } from '../../../src/api/job.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import { KubeconfigProblem } from '../../../src/blueprint/kubeconfigs/errors.ts';
import { ComponentProblem } from '../../../src/components/errors.ts';
import { PhaseError } from '../../../src/machine/decision.ts';
import { remoteTroubleOf } from '../../../src/machine/remote.ts';
import type { View } from '../../../src/runtime/types.ts';

/** A temporary failure: retried until a time limit. */
export class TemporarilyUnavailable extends PhaseError {
  override readonly outcome = 'retry';
}

export const problem = (reason: string, message: string, cause?: unknown): PhaseError =>
  new PhaseError('InitPrerequisites', reason, message, [], { cause });

/** A permanent error ends the job. A temporary error is shown in the status and retried until a time limit. */
export function asPhaseError(reason: string, error: unknown, operation = 'InitPrerequisites'): unknown {
  if (!(error instanceof ComponentProblem) && !(error instanceof KubeconfigProblem)) return error;
  const { message } = error;
  return error.isPassing
    ? new TemporarilyUnavailable(operation, reason, message, [], {
        cause: error,
        remote: remoteTroubleOf(error),
      })
    : new PhaseError(operation, reason, message, [], { cause: error });
}

/**
 * A job that is still looking for its component has started nothing, so it ends at once if the installation is
 * deleted.
 */
export async function unlessDeleted<T>({ metadata }: View<Installation>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TemporarilyUnavailable) || !isBeingDeleted(metadata)) throw error;
    throw new PhaseError(error.operation, error.reason, error.message, error.codes, { cause: error });
  }
}

export function withPhaseErrors<T>(reason: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asPhaseError(reason, error);
  }
}

export async function withPhaseErrorsAsync<T>(reason: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asPhaseError(reason, error);
  }
}
