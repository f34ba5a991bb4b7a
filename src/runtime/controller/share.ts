/**
 * The share of the work that belongs to this process. A controller asks before each reconcile, and is notified when
 * the answer changes. fleet/fleet.ts decides how processes divide the work.
 */
import type { Fence } from './writer.ts';
import type { Kind, Obj, View, Writer } from '../types.ts';

/** The right to work on an object, for the duration of a reconcile. */
export interface WorkPermit {
  /** @throws ShareLostError after the right was lost */
  readonly fence: Fence;
  /** The same writer, but a write with an unknown result delays the hand-over of the object. */
  around(write: Writer): Writer;
  /** Must be called once. */
  end(): void;
}

/** Whether this process may work on an object. */
export type Admission =
  /** `onLost` is called at most once, when the right is lost involuntarily. */
  | { readonly is: 'ours'; begin(onLost: (reason: Error) => void): WorkPermit }
  /**
   * Another process is responsible, or none at the moment: the process that becomes responsible queues the object
   * itself.
   */
  | { readonly is: 'foreign' }
  /** Not known yet; ask again when the object is queued, at the latest after this time. */
  | { readonly is: 'unclear'; readonly requeueAfterMs: number };

/** Queues objects for which this process has become responsible, as if they had just been listed. */
export interface Revisit {
  /** All objects of the controllers' kinds that `concerns` accepts. */
  all(concerns: (object: View<Obj>) => boolean): void;
  one(kind: Kind<never>, object: View<Obj>): void;
}

/** Decides for which objects this process is responsible, and reports changes. */
export interface Share {
  /** Whether this process may work on the object now. Never rejects. */
  admit(object: View<Obj>, signal: AbortSignal): Admission | Promise<Admission>;
  /** @throws ShareLostError unless this process may write at all */
  readonly fence: Fence;
  /** Whether this process is responsible for a name that does not belong to an object. */
  holds(place: string): boolean;
  /**
   * Takes part in the work until `leave`.
   * @returns when this process takes part, with or without a share
   */
  join(revisit: Revisit, signal: AbortSignal): Promise<void>;
  /** Gives up the whole share. Never fails. @param isClean whether no request of this process can still be in flight */
  leave(isClean: boolean): Promise<void>;
}
