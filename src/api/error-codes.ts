/**
 * Catalogue of the error codes on the wire (`lastError.codes`, `conditions[].codes`). docs/errors.md shows the same
 * table.
 */

interface ErrorCodeEntry {
  /** Explanation for readers of the object. */
  readonly meaning: string;
  /** Reaction of the controllers to the code. */
  readonly effect: string;
  /** Whether a deployer gives up instead of retrying. */
  readonly unrecoverable: boolean;
}

export const errorCodes = {
  ERR_WEBHOOK: {
    meaning: 'The API server could not reach an admission webhook, or the webhook did not answer.',
    effect: 'The step is retried, even where its failure would otherwise end the job.',
    unrecoverable: false,
  },
  ERR_UNFINISHED: {
    meaning: 'Sub-installations, executions or deploy items of this object have not finished the job.',
    effect: 'None; the job continues when these objects finish.',
    unrecoverable: false,
  },
  ERR_FOR_INFO_ONLY: {
    meaning:
      'The message says what the job waits for, or that a user has interrupted it. Never set on any other failed job.',
    effect: 'Logged as information instead of as an error.',
    unrecoverable: false,
  },
  ERR_NO_RETRY: {
    meaning: 'A retry cannot succeed before another object changes.',
    effect: 'The object is not requeued; the next event triggers a reconcile.',
    unrecoverable: false,
  },
  ERR_TIMEOUT: {
    meaning: 'No deployer picked up the item in time, or the deployer did not finish it in time.',
    effect: 'The job of the item ends with a failure.',
    unrecoverable: true,
  },
  ERR_INTERNAL_PROBLEM: {
    meaning: 'An internal operation failed unexpectedly, such as listing objects.',
    effect: 'A deployer ends the job of the item with a failure; other controllers retry.',
    unrecoverable: true,
  },
  ERR_CONFIGURATION_PROBLEM: {
    meaning: 'A provider configuration, a template or a target is invalid.',
    effect: 'The job of the item ends with a failure.',
    unrecoverable: true,
  },
  ERR_UNAUTHORIZED: {
    meaning: 'A cluster or registry did not accept the credentials.',
    effect: 'The job of the item ends with a failure.',
    unrecoverable: true,
  },
  ERR_CYCLIC_DEPENDENCIES: {
    meaning: 'Installations or deploy items have cyclic dependencies.',
    effect: 'The job ends with a failure that names the cycle.',
    unrecoverable: true,
  },
  ERR_CLEANUP: {
    meaning: 'Objects that are no longer wanted could not be removed.',
    effect: 'None. Reserved by upstream; Espalier accepts the code but never writes it.',
    unrecoverable: false,
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

/** An error code; it says whether a retry can help. */
export type ErrorCode = keyof typeof errorCodes;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code);

/** Whether a deployer should give up because of these codes. Unknown codes do not count. */
export const isUnrecoverable = (codes: Iterable<string> | undefined): boolean =>
  [...(codes ?? [])].some((code) => isErrorCode(code) && errorCodes[code].unrecoverable);
