/**
 * Dependent resources: the contract, and the standard procedure for one of them. Optional methods are the traits: what
 * a dependent has no method for is never done to it, even when the object is missing or differs.
 *
 *     desired · actual → absent: create · present and different: update · equal: nothing
 */
import { keyOf } from '../runtime/keys.ts';
import type { Source } from '../runtime/sources/sources.ts';
import type { Caches, Context, ControllerFacts, Obj, View } from '../runtime/types.ts';
import { DependentError } from './errors.ts';

/** What a dependent may use to make its source. */
export interface Setup<P extends Obj> {
  readonly controller: ControllerFacts<P>;
  readonly caches: Caches;
  /** A cache for a source that comes and goes with an activation condition: not shared, ends with its source. */
  readonly isSeparate: boolean;
}

/** A source to be attached to the controller, and what to do when it is detached. */
export interface CreatedSource<P extends Obj> {
  readonly source: Source<P>;
  readonly release?: () => void;
}

/** Whether what is there is what is wanted. */
export interface Match {
  readonly matched: boolean;
  /** Where they differ, for logs; never a value of a secret. */
  readonly diff?: string;
}

/** Judges whether what is there is what is wanted. */
export interface Matcher<R, P extends Obj> {
  match(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Match;
}

/** What was done. `parts` are those of a bulk dependent. */
export interface Done<R = unknown> {
  readonly did: 'created' | 'updated' | 'noop';
  readonly value?: View<R>;
  readonly parts?: ReadonlyMap<string, Done<R>>;
}

/** What single and bulk dependents have in common. */
export interface Common<R, P extends Obj> {
  /** Unique within a workflow. */
  readonly name: string;
  /** The cluster's garbage collection takes it away with the primary, so cleanup need not. */
  readonly gc?: boolean;
  /** Name of the source it reads; those that share one name it alike. Absent: it reads none. */
  readonly source?: string;
  /** Makes the source, unless the controller has one of that name. */
  createSource?(setup: Setup<P>): CreatedSource<P>;
  /** Called once when the controller is put together. @throws DefinitionError when the parts do not fit together */
  check?(setup: Setup<P>, source: Source<P> | undefined): void;
  /** @param id which one, of a bulk dependent */
  create?(desired: R, p: View<P>, ctx: Context<P>, id?: string): Promise<R>;
  /** @param id which one, of a bulk dependent */
  update?(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>, id?: string): Promise<R>;
  /** The primary has gone, cleaned up or not: lets go of what is remembered of it. */
  forget?(p: View<P>): void;
  /** Absent: what differs in nothing that is wanted is not known, so it is always updated. */
  readonly matcher?: Matcher<R, P>;
}

/** One dependent resource: what is there, what is wanted, and what can be done about it. */
export interface Dependent<R, P extends Obj> extends Common<R, P> {
  actual(p: View<P>, ctx: Context<P>): Promise<View<R> | undefined>;
  /** Absent in dependents that are only read. */
  desired?(p: View<P>, ctx: Context<P>): R | Promise<R>;
  delete?(p: View<P>, ctx: Context<P>): Promise<void>;
  /** Replaces the standard procedure. */
  reconcile?(p: View<P>, ctx: Context<P>): Promise<Done<R>>;
}

/** Many of one sort, told apart by ids. */
export interface Bulk<R, P extends Obj> extends Common<R, P> {
  actualAll(p: View<P>, ctx: Context<P>): Promise<ReadonlyMap<string, View<R>>>;
  /** Absent in dependents that are only read. */
  desiredAll?(p: View<P>, ctx: Context<P>): ReadonlyMap<string, R> | Promise<ReadonlyMap<string, R>>;
  deleteOne?(id: string, actual: View<R>, p: View<P>, ctx: Context<P>): Promise<void>;
  /** Whatever its source has of a primary it takes for its own, so nobody else may make anything that is read there. */
  readonly takesAll?: boolean;
}

/** A dependent resource, one or many. */
export type AnyDependent<P extends Obj> = Dependent<unknown, P> | Bulk<unknown, P>;

export const isBulk = <P extends Obj>(dependent: AnyDependent<P>): dependent is Bulk<unknown, P> =>
  'actualAll' in dependent;

/** Whether it can be deleted at all. */
export const hasDeleter = <P extends Obj>(dependent: AnyDependent<P>): boolean =>
  isBulk(dependent) ? dependent.deleteOne !== undefined : dependent.delete !== undefined;

/** `Widget ns/a` */
const describePrimary = <P extends Obj>(p: View<P>, ctx: Pick<Context<P>, 'controller'>): string =>
  `${ctx.controller.kind.kind} ${keyOf(p)}`;

/** The error for a dependent that is not as it should be. */
export const dependentError = <P extends Obj>(
  { name }: { readonly name: string },
  p: View<P>,
  ctx: Pick<Context<P>, 'controller'>,
  what: string,
  options?: ErrorOptions,
): DependentError =>
  new DependentError({ dependent: name, primary: describePrimary(p, ctx), message: what, ...options });

// ---------------------------------------------------------------- desired, once

const wanted = new WeakMap<object, Map<unknown, Promise<unknown>>>();

/** Answers with `compute`, asked at most once per run and dependent. */
export function oncePerReconcile<R>(
  ctx: object,
  dependent: object,
  compute: () => R | Promise<R>,
): Promise<R> {
  let answers = wanted.get(ctx);
  if (!answers) wanted.set(ctx, (answers = new Map<unknown, Promise<unknown>>()));
  let answer = answers.get(dependent) as Promise<R> | undefined;
  if (!answer) {
    answer = Promise.resolve().then(compute);
    answers.set(dependent, answer);
  }
  return answer;
}

/** What is wanted, computed at most once per run. @throws DependentError when it is nothing */
export async function desiredOf<R, P extends Obj>(
  dependent: Dependent<R, P>,
  p: View<P>,
  ctx: Context<P>,
): Promise<R> {
  const desired: R | undefined | null = await oncePerReconcile(
    ctx,
    dependent,
    () => dependent.desired?.(p, ctx) as R,
  );
  return present(desired, 'desired', dependent, p, ctx);
}

export function present<R, P extends Obj>(
  value: R | undefined | null,
  what: 'desired' | 'create' | 'update',
  dependent: Common<R, P>,
  p: View<P>,
  ctx: Context<P>,
): R {
  if (value !== undefined && value !== null) return value;
  const rule = what === 'desired' ? 'use a condition for an optional dependent' : 'return the current object';
  throw dependentError(dependent, p, ctx, `"${what}" returned ${String(value)}; ${rule}`);
}

// ---------------------------------------------------------------- the procedure

/**
 * Brings one dependent in line.
 * @throws DependentError, and whatever the dependent throws
 */
export async function reconcileDependent<R, P extends Obj>(
  dependent: Dependent<R, P>,
  p: View<P>,
  ctx: Context<P>,
): Promise<Done<R>> {
  if (dependent.reconcile) return dependent.reconcile(p, ctx);
  const actual = await dependent.actual(p, ctx);
  const isWritten = actual === undefined ? dependent.create !== undefined : dependent.update !== undefined;
  if (!dependent.desired || !isWritten) return noop<R>(actual);
  return bringInLine(dependent, { actual, desired: await desiredOf(dependent, p, ctx) }, p, ctx);
}

/** Deletes it, if it can be deleted; that nothing is there is success. */
export async function deleteDependent<R, P extends Obj>(
  dependent: Dependent<R, P>,
  p: View<P>,
  ctx: Context<P>,
): Promise<void> {
  await dependent.delete?.(p, ctx);
}

export const noop = <R>(value: View<R> | undefined): Done<R> => ({
  did: 'noop',
  ...(value !== undefined && { value }),
});

/** Creates, updates, or leaves alone: one object, whoever it belongs to. */
export async function bringInLine<R, P extends Obj>(
  dependent: Common<R, P>,
  it: { readonly actual: View<R> | undefined; readonly desired: R; readonly id?: string },
  p: View<P>,
  ctx: Context<P>,
): Promise<Done<R>> {
  const { actual, desired, id } = it;
  if (actual === undefined) {
    if (!dependent.create) return noop<R>(undefined);
    const created = await dependent.create(desired, p, ctx, id);
    return { did: 'created', value: present<R, P>(created, 'create', dependent, p, ctx) as View<R> };
  }
  if (!dependent.update) return noop<R>(actual);
  const { matched, diff } = dependent.matcher?.match(actual, desired, p, ctx) ?? { matched: false };
  if (matched) return noop<R>(actual);
  ctx.log.debug({ dependent: dependent.name, diff }, 'dependent differs from the desired state');
  const updated = await dependent.update(actual, desired, p, ctx, id);
  return { did: 'updated', value: present<R, P>(updated, 'update', dependent, p, ctx) as View<R> };
}
