/** What a fleet is told: who it is, what belongs together, and how long silence may last. */
import type { LeasePorts } from '../manager/lease.ts';
import type { Kind, Obj, View } from '../types.ts';

/** To what an object belongs: everything with the same answer stays together. */
export interface Places {
  /** Undefined: not to be told yet; `onMoved` will bring it up. */
  placeOf(object: View<Obj>, signal: AbortSignal): string | undefined | Promise<string | undefined>;
  /** The place as far as it is known without asking anybody. */
  guess(object: View<Obj>): string | undefined;
  /** @param moved called with what may belong elsewhere than before, or has become known to belong anywhere */
  onMoved(moved: (kind: Kind<never>, object: View<Obj>) => void): () => void;
}

export interface FleetOptions extends LeasePorts {
  /** Replicas that name the same share the work; they must all do the same work. */
  readonly name: string;
  /** For people; need not be unique. */
  readonly identity: string;
  readonly places: Places;
  /** Brings the caches of what is worked at up to date; before anything is done that another replica may have begun. */
  readonly catchUp: (signal: AbortSignal) => Promise<void>;
  /** How long a replica may be silent before its work goes to others. Default 15 s. */
  readonly durationMs?: number;
  /** How long a replica works without a renewal. Default 10 s. */
  readonly renewDeadlineMs?: number;
  /** Default 3 s. */
  readonly renewMs?: number;
}
