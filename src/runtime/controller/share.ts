/**
 * Which part of the work is this process's. A controller asks before each run, and hears when the answer changes; how
 * processes come to an agreement is none of its business (fleet/fleet.ts).
 */
import type { Fence } from './writer.ts';
import type { Kind, Obj, View, Writer } from '../types.ts';

/** The right to work at one object, from the beginning of a run to its end. */
export interface WorkPermit {
  /** @throws ShareLostError when the right is gone */
  readonly fence: Fence;
  /** The same writer, watched: a write whose fate is unknown delays that the object is handed on. */
  around(write: Writer): Writer;
  /** Must be called once. */
  end(): void;
}

/** Whether an object may be worked at by this process. */
export type Admission =
  /** `onLost` is called at most once, when the right is lost against our will. */
  | { readonly is: 'ours'; begin(onLost: (reason: Error) => void): WorkPermit }
  /** Another process's, or nobody's at the moment: whoever gets it looks by itself. */
  | { readonly is: 'foreign' }
  /** Not to be told yet; ask again when woken, or after so long at the latest. */
  | { readonly is: 'unclear'; readonly requeueAfterMs: number };

/** Answers whether an object is to be looked at (again). */
export type Concerns = (object: View<Obj>) => boolean;

/** Says which part of the work is this process's, and when that changes. */
export interface Share {
  /** Whether an object may be worked at, now. Never rejects. */
  admit(object: View<Obj>, signal: AbortSignal): Admission | Promise<Admission>;
  /** @throws ShareLostError unless this process may write at all */
  readonly fence: Fence;
  /** Whether what belongs to no object but has a name is this process's. */
  holds(place: string): boolean;
  /**
   * Takes part in the work until `leave`.
   * @param revisit called with what has to be looked at because it has become ours; `kind` narrows it to one kind
   * @returns when this process takes part, with or without a share of its own
   */
  join(revisit: (concerns: Concerns, kind?: Kind<never>) => void, signal: AbortSignal): Promise<void>;
  /** Gives everything up. Never fails. @param isClean whether nothing of this process can be under way any more */
  leave(isClean: boolean): Promise<void>;
}
