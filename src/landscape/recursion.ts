/** Blueprints that render themselves as their own sub-installations, directly or through others. */
import { isDeepStrictEqual } from 'node:util';

/** Default for how often the blueprint of an installation may occur above it: a tree that doubles has at most 255 installations. */
export const DEFAULT_TREE_RECURSION = 5;

/** Installations and their executions, which have no blueprint. */
export interface Rendered {
  readonly spec: {
    readonly context?: unknown;
    readonly blueprint?: unknown;
    readonly componentDescriptor?: unknown;
  };
}

/** How many of the ancestors have the blueprint of the installation. */
export const recursionOf = ({ spec }: Rendered, ancestors: readonly Rendered[]): number =>
  ancestors.filter(
    (other) =>
      isDeepStrictEqual(other.spec.blueprint, spec.blueprint) &&
      isDeepStrictEqual(other.spec.componentDescriptor, spec.componentDescriptor),
  ).length;
