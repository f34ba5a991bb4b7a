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

/** This process may work on an object. `onLost` is called at most once, when the right is lost involuntarily. */
export interface OurAdmission {
  readonly is: 'ours';
  begin(onLost: (reason: Error) => void): WorkPermit;
}

/** Whether this process may work on an object. */
export type Admission =
  | OurAdmission
  /**
   * Another process is responsible, or none at the moment: the process that becomes responsible queues the object
   * itself.
   */
  | { readonly is: 'foreign' }
  /** Not known yet; ask again when the object is queued, at the latest after this time. */
  | { readonly is: 'unclear'; readonly requeueAfterMs: number };

/** Objects that this process takes over. */
export interface TakeOver {
  readonly isTaken: (object: View<Obj>) => boolean;
  /** Whether this process handled the object before, so what it remembers may be outdated. */
  readonly isTakenAgain: (object: View<Obj>) => boolean;
}

/** What the controllers do when this process becomes responsible for objects. */
export interface Revisit {
  /**
   * Drops what this process remembers of the objects, and reads again what it has polled. Called before it is
   * responsible for them.
   * @throws the error of a poll; the signal's reason
   */
  prepare(objects: TakeOver, signal: AbortSignal): Promise<void>;
  /** Queues all objects of the controllers' kinds that `concerns` accepts. */
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
  /** Whether this process may work on the object now; true if only a request could answer that. */
  handles(object: View<Obj>): boolean;
  /** Whether an update may have made this process responsible for the object. */
  hasMoved(old: View<Obj>, object: View<Obj>): boolean;
  /**
   * Resolves when the caches contain what other processes have written before the call.
   * @throws the error of a request; the signal's reason
   */
  catchUp(signal: AbortSignal): Promise<void>;
  /**
   * Takes part in the work until `leave`.
   * @returns when this process takes part, with or without a share
   */
  join(revisit: Revisit, signal: AbortSignal): Promise<void>;
  /** Gives up the whole share. Never fails. @param isClean whether no request of this process can still be in flight */
  leave(isClean: boolean): Promise<void>;
}
