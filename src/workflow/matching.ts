/** Chooses the matcher and the write strategy of a dependent in a cluster. */
import { DefinitionError } from '../runtime/errors.ts';
import type { Kind, Obj } from '../runtime/types.ts';
import type { Strategy } from './access.ts';
import type { Matcher } from './dependent.ts';
import { neverMatcher, rememberingMatcher, type GenericMatch } from './match-generic.ts';
import { ssaMatcher } from './match-ssa.ts';

/**
 * Defaults of dependents. Pass the same object to all dependents of a controller, or of a process: `kubernetes(spec,
 * defaults)`.
 */
export interface KubernetesDefaults {
  /** Whether to use server-side apply or to replace whole objects; default `true`. */
  readonly ssa?: boolean;
  /** The same for single kinds, by name. */
  readonly kinds?: Readonly<Record<string, boolean>>;
}

/** How a dependent in a cluster is written and compared. */
export interface MatchChoice<R extends Obj, P extends Obj> {
  /** Writes by server-side apply, or by create and replace. Default: that of KubernetesDefaults. */
  readonly ssa?: boolean;
  /**
   * `ssa`: compares the fields that our applies own; the default with server-side apply. `generic`: all desired
   * fields must match; the default without server-side apply, configured by a GenericMatch. `never`: updates in every
   * reconcile.
   */
  readonly match?: 'ssa' | 'generic' | 'never' | GenericMatch | Matcher<R, P>;
}

interface Matching<R extends Obj, P extends Obj> {
  readonly strategy: Strategy;
  readonly matcher: Matcher<R, P>;
  /** Whether the matcher reads managed fields, so the source must keep them. */
  readonly needsManagedFields: boolean;
  /** Whether labels and annotations of others are a difference, which a replace has to end. */
  readonly dropsOthers: boolean;
  remember?(desired: R, answer: R, manager: string): void;
}

/** @throws DefinitionError when the options contradict each other */
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
      dropsOthers: false,
      remember: (desired, answer, manager) => matcher.remember(desired, answer, manager),
    };
  }
  const dropsOthers = typeof choice === 'object' && 'metadata' in choice && choice.metadata === 'equal';
  return { strategy, ...chosen(choice), needsManagedFields: false, dropsOthers };
}

function chosen<R extends Obj, P extends Obj>(
  choice: 'generic' | 'never' | GenericMatch | Matcher<R, P>,
): Pick<Matching<R, P>, 'matcher' | 'remember'> {
  if (choice === 'never') return { matcher: neverMatcher };
  if (choice !== 'generic' && 'match' in choice) return { matcher: choice };
  const matcher = rememberingMatcher<R, P>(choice === 'generic' ? {} : choice);
  return { matcher, remember: (desired, answer) => matcher.remember(desired, answer) };
}
