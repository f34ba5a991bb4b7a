/** Which matcher, and which way of writing, a dependent on a cluster gets. */
import { DefinitionError } from '../runtime/errors.ts';
import type { Kind, Obj } from '../runtime/types.ts';
import type { Strategy } from './access.ts';
import type { Matcher } from './dependent.ts';
import { genericMatcher, neverMatcher, type GenericMatch } from './match-generic.ts';
import { ssaMatcher } from './match-ssa.ts';

/**
 * What dependents do that do not say it themselves. Hand the same ones to all dependents of a controller, or of a
 * process: `kubernetes(spec, defaults)`.
 */
export interface KubernetesDefaults {
  /** Server-side apply, or replacing whole objects; default `true`. */
  readonly ssa?: boolean;
  /** The same for single kinds, by their names. */
  readonly kinds?: Readonly<Record<string, boolean>>;
}

/** How a dependent on a cluster is written, and compared with what is wanted. */
export interface MatchChoice<R extends Obj, P extends Obj> {
  /** Writes by server-side apply, or by create and replace. Default: as the defaults say. */
  readonly ssa?: boolean;
  /**
   * `ssa`: compares the fields that our applies own; the default with server-side apply. `generic`: everything wanted
   * has to be there; the default without, and what a GenericMatch refines. `never`: sends every time.
   */
  readonly match?: 'ssa' | 'generic' | 'never' | GenericMatch | Matcher<R, P>;
}

interface Matching<R extends Obj, P extends Obj> {
  readonly strategy: Strategy;
  readonly matcher: Matcher<R, P>;
  /** The matcher looks at managed fields, so the source has to keep them. */
  readonly needsManagedFields: boolean;
  remember?(desired: R, answer: R, manager: string): void;
}

/** @throws DefinitionError when the choices contradict each other */
export function matcherOf<R extends Obj, P extends Obj>(
  { ssa, match }: MatchChoice<R, P>,
  kind: Kind<R>,
  defaults: KubernetesDefaults,
): Matching<R, P> {
  const applies = ssa ?? defaults.kinds?.[kind.kind] ?? defaults.ssa ?? true;
  const strategy: Strategy = applies ? 'apply' : 'replace';
  const choice = match ?? (applies ? 'ssa' : 'generic');
  if (choice === 'ssa') {
    if (!applies)
      throw new DefinitionError({
        message: `${kind.kind}: fields that are never applied cannot be compared; leave match out, or set ssa`,
      });
    const matcher = ssaMatcher<R, P>();
    return {
      strategy,
      matcher,
      needsManagedFields: true,
      remember: (desired, answer, manager) => matcher.remember(desired, answer, manager),
    };
  }
  return { strategy, matcher: chosen(choice), needsManagedFields: false };
}

function chosen<R extends Obj, P extends Obj>(
  choice: 'generic' | 'never' | GenericMatch | Matcher<R, P>,
): Matcher<R, P> {
  if (choice === 'never') return neverMatcher;
  if (choice === 'generic') return genericMatcher<R, P>();
  return 'match' in choice ? choice : genericMatcher<R, P>(choice);
}
