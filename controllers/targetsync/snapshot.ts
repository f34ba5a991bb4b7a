/** What the decisions of a target sync are made from. */
import type { Target } from '../../src/api/kinds/target.ts';
import type { TargetSync } from '../../src/api/kinds/targetsync.ts';
import type { Secret } from '../../src/landscape/world.ts';
import type { View } from '../../src/runtime/types.ts';

export type Sync = View<TargetSync>;

/** Content of a secret as it is to be in our namespace. */
export interface Content {
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

/** A target that the source cluster asks for. */
export type Wanted = {
  /** Name of the target, and of its secret where we make one. */
  readonly name: string;
} & (
  | { readonly as: 'copy'; readonly content: Content; readonly renewedAt?: string }
  /** Whatever we made before stays as it is. */
  | { readonly as: 'kept' }
  /** Whatever we made before stays, and the reason is told. */
  | { readonly as: 'unavailable'; readonly why: string }
  /** The target for the source cluster itself. */
  | { readonly as: 'source' }
);

/** What is in the namespace of the TargetSync. */
export interface Host {
  readonly targets: readonly View<Target>[];
  /** Secrets with the label of the target sync. */
  readonly secrets: readonly View<Secret>[];
  /** Names of all other secrets. */
  readonly foreignSecrets: ReadonlySet<string>;
}
