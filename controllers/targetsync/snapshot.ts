/** The facts that the decisions of a TargetSync are based on. */
import type { Target } from '../../src/api/kinds/target.ts';
import type { TargetSync } from '../../src/api/kinds/targetsync.ts';
import type { Secret } from '../../src/landscape/world.ts';
import type { Obj, View } from '../../src/runtime/types.ts';

export type Sync = View<TargetSync>;

export const byName = <T extends View<Obj>>(objects: Iterable<T>): ReadonlyMap<string, T> =>
  new Map([...objects].map((object) => [object.metadata.name, object]));

/** Desired content of a secret in the namespace of the TargetSync. */
export interface Content {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** A target that the source cluster defines. */
export type Wanted = {
  /** Name of the target, and of its secret if the controller creates one. */
  readonly name: string;
} & (
  | { readonly as: 'copy'; readonly content: Content; readonly renewedAt?: string }
  /** Existing objects stay as they are. */
  | { readonly as: 'kept' }
  /** Existing objects stay as they are, and the reason is reported. */
  | { readonly as: 'unavailable'; readonly why: string }
  /** The target for the source cluster itself. */
  | { readonly as: 'source' }
);

/** The objects in the namespace of the TargetSync, by name: there may be tens of thousands. */
export interface Host {
  readonly targets: ReadonlyMap<string, View<Target>>;
  /** Secrets with the label of the target sync. */
  readonly secrets: ReadonlyMap<string, View<Secret>>;
  /** Names of all other secrets. */
  readonly foreignSecrets: ReadonlySet<string>;
}
