/** What one look of a plugin may answer. It is data: the worker alone turns it into status, time and events. */
import type { ConditionChange, Problem } from '../../src/machine/decision.ts';

/** Parts that every answer may bring along. */
export interface AnswerParts<S> {
  /** New provider status; absent keeps the old one. */
  readonly status?: S | undefined;
  readonly conditions?: readonly ConditionChange[] | undefined;
}

/** A value for those who import from the item, and where it is kept. */
export interface ExportOf {
  readonly value: unknown;
  /** Prefix of a generated secret name; absent means `<item>-export`. */
  readonly generateName?: string;
  /** Whether the item is the controller of the secret, and not only its owner. */
  readonly isControlled?: boolean;
}

/**
 * What one look at a deploy item came to. A plugin answers with one of these; the SDK writes it down. `S` is the
 * provider status of the plugin.
 */
export type Outcome<S = unknown> =
  /** All that was asked for is there (or gone, after a removal). */
  | (AnswerParts<S> & {
      readonly kind: 'done';
      readonly exports?: ExportOf | undefined;
      /** How the job ends; default Succeeded. Only a stand-in for a deployer says Failed without a problem. */
      readonly phase?: 'Succeeded' | 'Failed' | 'DeleteFailed';
    })
  /** Nothing is wrong, but something has to happen first; the worker comes back. */
  | (AnswerParts<S> & {
      readonly kind: 'wait';
      /** What is being waited for, for people; undefined shows nothing. */
      readonly why?: Problem | undefined;
      /** How the job fails when its time is used up while waiting for this. */
      readonly onTimeout?: Problem | undefined;
      /** Milliseconds until the next look; default grows with the time waited. */
      readonly requeueAfterMs?: number | undefined;
      readonly exports?: ExportOf | undefined;
      /** Phase to show meanwhile; default Progressing, or InitDelete for a removal. */
      readonly phase?: string | undefined;
    })
  /** It did not work; another attempt may. */
  | (AnswerParts<S> & {
      readonly kind: 'retry';
      readonly problem: Problem;
      readonly requeueAfterMs?: number | undefined;
    })
  /** It will not work; the job ends. */
  | (AnswerParts<S> & { readonly kind: 'fail'; readonly problem: Problem });

/** What an answer of one sort says besides its sort. */
export type AnswerOf<S, K extends Outcome['kind']> = Omit<Extract<Outcome<S>, { kind: K }>, 'kind'>;

/** The job is done: what was asked for is there, or gone. */
export const done = <S>(more: AnswerOf<S, 'done'> = {}): Outcome<S> => ({ kind: 'done', ...more });
/** Something has to happen first; the item is looked at again, and nothing counts as an error. */
export const wait = <S>(more: AnswerOf<S, 'wait'> = {}): Outcome<S> => ({ kind: 'wait', ...more });
/**
 * Something went wrong that may pass; the item is looked at again, by default after a growing delay.
 * @param problem shown in `status.lastError` meanwhile
 */
export const retry = <S>(problem: Problem, more: Partial<AnswerOf<S, 'retry'>> = {}): Outcome<S> => ({
  ...more,
  kind: 'retry',
  problem,
});
/**
 * The job has failed for good.
 * @param problem what `status.lastError` says
 */
export const fail = <S>(problem: Problem, more: Partial<AnswerOf<S, 'fail'>> = {}): Outcome<S> => ({
  ...more,
  kind: 'fail',
  problem,
});
