/** Options of a fleet: the identity of the replica, which objects belong together, and time limits. */
import type { LeasePorts } from '../manager/lease.ts';
import type { Kind, Obj, View } from '../types.ts';

/** Assigns objects to places: objects with the same place are handled by the same replica. */
export interface Places {
  /** Undefined: not known yet; `onMoved` reports it later. */
  placeOf(object: View<Obj>, signal: AbortSignal): string | undefined | Promise<string | undefined>;
  /** The place, if it is known without a request. */
  guess(object: View<Obj>): string | undefined;
  /** @param moved called with objects whose place may have changed, or has become known */
  onMoved(moved: (kind: Kind<never>, object: View<Obj>) => void): () => void;
  /** Whether an update of the object itself changed its place. Default: an update never does. */
  hasMoved?(old: View<Obj>, object: View<Obj>): boolean;
}

export interface FleetOptions extends LeasePorts {
  /** Replicas with the same name share the work; they must all run the same controllers. */
  readonly name: string;
  /** What this replica runs, for users; replicas of the same name with other parts are reported. Default: not compared. */
  readonly parts?: string | undefined;
  /** For users; does not have to be unique. */
  readonly identity: string;
  readonly places: Places;
  /** Called before this replica joins for the first time. @throws why it cannot */
  readonly beforeJoin?: (signal: AbortSignal) => Promise<void>;
  /** Brings the caches up to date, before work starts that another replica may have begun. */
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  /** After this time without a renewal, the work of a replica is assigned to others. Default 15 s. */
  readonly durationMs?: number;
  /** How long a replica works without a successful renewal. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** Time between renewals. Default 3 s. */
  readonly renewMs?: number;
}
