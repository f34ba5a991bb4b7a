/** The outcomes that a plugin can return. They are data: the worker writes status, times and events. */
import type { ConditionChange, Problem } from '../../src/machine/decision.ts';

/** Fields of every outcome. */
export interface AnswerParts<S> {
  /** New provider status; absent: unchanged. */
  readonly status?: S | undefined;
  readonly conditions?: readonly ConditionChange[] | undefined;
}

/** The exported value, and the secret that stores it. */
export interface ExportOf {
  readonly value: unknown;
  /** Prefix of a generated secret name; default: `<item>-export`. */
  readonly generateName?: string;
  /** Whether the deploy item is the controller of the secret, not only an owner. */
  readonly isControlled?: boolean;
}

/**
 * The outcome of a reconcile of a deploy item. A plugin returns one of these; the SDK stores it. `S` is the provider
 * status of the plugin.
 */
export type Outcome<S = unknown> =
  /** Everything is deployed (or uninstalled, after a removal). */
  | (AnswerParts<S> & {
      readonly kind: 'done';
      readonly exports?: ExportOf | undefined;
      /** The final phase; default Succeeded. Only the mock deployer returns Failed without a problem. */
      readonly phase?: 'Succeeded' | 'Failed' | 'DeleteFailed';
    })
  /** Not an error, but the job must wait for something; the deploy item is reconciled again. */
  | (AnswerParts<S> & {
      readonly kind: 'wait';
      /** What the job waits for, for users; undefined: nothing is shown. */
      readonly why?: Problem | undefined;
      /** The problem of the job if it times out during this wait. */
      readonly onTimeout?: Problem | undefined;
      /** Milliseconds until the next reconcile; the default grows with the time waited. */
      readonly requeueAfterMs?: number | undefined;
      readonly exports?: ExportOf | undefined;
      /** Phase during the wait; default Progressing, or InitDelete for a removal. */
      readonly phase?: string | undefined;
    })
  /** It failed, and is retried. */
  | (AnswerParts<S> & {
      readonly kind: 'retry';
      readonly problem: Problem;
      readonly requeueAfterMs?: number | undefined;
    })
  /** It failed, and the job ends. */
  | (AnswerParts<S> & { readonly kind: 'fail'; readonly problem: Problem });

/** The fields of one kind of outcome, without its kind. */
export type AnswerOf<S, K extends Outcome['kind']> = Omit<Extract<Outcome<S>, { kind: K }>, 'kind'>;

/** The job is done: everything is deployed, or uninstalled. */
export const done = <S>(more: AnswerOf<S, 'done'> = {}): Outcome<S> => ({ kind: 'done', ...more });
/** The job must wait for something; the deploy item is reconciled again, and it does not count as an error. */
export const wait = <S>(more: AnswerOf<S, 'wait'> = {}): Outcome<S> => ({ kind: 'wait', ...more });
/**
 * A failure that is retried, by default after a growing delay.
 * @param problem shown in `status.lastError` meanwhile
 */
export const retry = <S>(problem: Problem, more: Partial<AnswerOf<S, 'retry'>> = {}): Outcome<S> => ({
  ...more,
  kind: 'retry',
  problem,
});
/**
 * The job fails.
 * @param problem shown in `status.lastError`
 */
export const fail = <S>(problem: Problem, more: Partial<AnswerOf<S, 'fail'>> = {}): Outcome<S> => ({
  ...more,
  kind: 'fail',
  problem,
});
