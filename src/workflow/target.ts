/** Selects the object of a dependent among several candidates. */
import { keyOf, joinKey } from '../runtime/keys.ts';
import type { Context, Key, Obj, View } from '../runtime/types.ts';
import { dependentError } from './dependent.ts';

/** Distinguishes the dependent's object from those of other dependents. */
export type Discriminator<R extends Obj, P extends Obj> = (
  candidate: View<R>,
  p: View<P>,
  ctx: Context<P>,
) => boolean;

/** By the end of the name. */
export const nameEndsWith =
  (suffix: string): Discriminator<Obj, Obj> =>
  ({ metadata }) =>
    metadata.name.endsWith(suffix);

/** By a label. */
export const hasLabel =
  (label: string, value: string): Discriminator<Obj, Obj> =>
  ({ metadata }) =>
    metadata.labels?.[label] === value;

/** Name of an object. */
export interface ObjectId {
  readonly name: string;
  /** Default: that of the primary. */
  readonly namespace?: string;
}

export const keyOfId = (id: ObjectId, p: View<Obj>, isNamespaced: boolean): Key =>
  joinKey(isNamespaced ? (id.namespace ?? p.metadata.namespace) : undefined, id.name);

/** How the object is identified. The cheaper ways come first: `desired` is computed only if none of them is given. */
export interface TargetRules<R extends Obj, P extends Obj> {
  readonly name: string;
  readonly discriminator?: Discriminator<R, P> | undefined;
  select?: ((candidates: readonly View<R>[], p: View<P>, ctx: Context<P>) => View<R> | undefined) | undefined;
  /** Undefined: the key is unknown, so there must be only one candidate. */
  keyOf(p: View<P>, ctx: Context<P>): Promise<Key | undefined>;
}

/** @throws DependentError when there are several candidates */
export async function targetAmong<R extends Obj, P extends Obj>(
  candidates: readonly View<R>[],
  rules: TargetRules<R, P>,
  p: View<P>,
  ctx: Context<P>,
): Promise<View<R> | undefined> {
  if (rules.select) return rules.select(candidates, p, ctx);
  const { discriminator } = rules;
  if (discriminator)
    return only(
      candidates.filter((candidate) => discriminator(candidate, p, ctx)),
      rules,
      p,
      ctx,
    );
  if (candidates.length === 0) return undefined;
  const key = await rules.keyOf(p, ctx);
  if (key === undefined) return only(candidates, rules, p, ctx);
  return candidates.find((candidate) => keyOf(candidate) === key);
}

function only<R extends Obj, P extends Obj>(
  found: readonly View<R>[],
  rules: Pick<TargetRules<R, P>, 'name'>,
  p: View<P>,
  ctx: Context<P>,
): View<R> | undefined {
  if (found.length <= 1) return found[0];
  const names = found.map(keyOf).sort().join(', ');
  throw dependentError(
    rules,
    p,
    ctx,
    `${names} all match; set a targetId, a select or a discriminator that matches one`,
  );
}
