/**
 * Dependent resources: their interface, and the reconcile of one of them. Methods are optional: an object is never
 * created, updated or deleted if the dependent has no method for it.
 *
 *     desired · actual → absent: create · present and different: update · equal: nothing
 */
import { keyOf } from '../runtime/keys.ts';
import type { Source } from '../runtime/sources/sources.ts';
import type { Caches, Context, ControllerFacts, Kind, Obj, View } from '../runtime/types.ts';
import { DependentError } from './errors.ts';

/** What a dependent can use to create its source. */
export interface Setup<P extends Obj> {
  readonly controller: ControllerFacts<P>;
  readonly caches: Caches;
  /**
   * Whether the source has an activation condition and needs its own cache, which is not shared and ends with the
   * source.
   */
  readonly isSeparate: boolean;
}

/** A source to attach to the controller, and a function to call when it is detached. */
export interface CreatedSource<P extends Obj> {
  readonly source: Source<P>;
  readonly release?: () => void;
}

/** Whether the actual object matches the desired one. */
export interface Match {
  readonly matched: boolean;
  /** The differences, for logs; never a value of a secret. */
  readonly diff?: string;
}

/** Decides whether the actual object matches the desired one. */
export interface Matcher<R, P extends Obj> {
  match(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Match;
}

/** The result of a reconcile. `parts` are the results of a bulk dependent. */
export interface Done<R = unknown> {
  readonly did: 'created' | 'updated' | 'noop';
  readonly value?: View<R>;
  readonly parts?: ReadonlyMap<string, Done<R>>;
}

/** Fields of single and bulk dependents. */
export interface Common<R, P extends Obj> {
  /** Unique within a workflow. */
  readonly name: string;
  /** The cluster's garbage collector deletes it with the primary, so cleanup does not have to. */
  readonly gc?: boolean;
  /** Name of its source; dependents with the same name share the source. Absent: it has none. */
  readonly source?: string;
  /** Dependents with the same value read the same objects, although their sources differ. Default: the source. */
  readonly reads?: string;
  /** Kind of the objects of its source, if they are objects of a cluster. */
  readonly kind?: Pick<Kind, 'group' | 'version' | 'kind'>;
  /** Creates the source, unless the controller has one of that name. */
  createSource?(setup: Setup<P>): CreatedSource<P>;
  /** Called once when the controller is created. @throws DefinitionError when dependent and source do not match */
  check?(setup: Setup<P>, source: Source<P> | undefined): void;
  /** @param id of the object, for a bulk dependent */
  create?(desired: R, p: View<P>, ctx: Context<P>, id?: string): Promise<R>;
  /** @param id of the object, for a bulk dependent */
  update?(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>, id?: string): Promise<R>;
  /** The primary is gone, with or without cleanup: drops what is remembered about it. */
  forget?(p: View<P>): void;
  /** Absent: differences are unknown, so the object is always updated. */
  readonly matcher?: Matcher<R, P>;
}

/** One dependent resource: its actual and its desired state, and what can be done with it. */
export interface Dependent<R, P extends Obj> extends Common<R, P> {
  actual(p: View<P>, ctx: Context<P>): Promise<View<R> | undefined>;
  /** Absent in dependents that are only read. */
  desired?(p: View<P>, ctx: Context<P>): R | Promise<R>;
  delete?(p: View<P>, ctx: Context<P>): Promise<void>;
  /** Replaces the default reconcile. */
  reconcile?(p: View<P>, ctx: Context<P>): Promise<Done<R>>;
}

/** Several objects of one kind, identified by ids. */
export interface Bulk<R, P extends Obj> extends Common<R, P> {
  actualAll(p: View<P>, ctx: Context<P>): Promise<ReadonlyMap<string, View<R>>>;
  /** Absent in dependents that are only read. */
  desiredAll?(p: View<P>, ctx: Context<P>): ReadonlyMap<string, R> | Promise<ReadonlyMap<string, R>>;
  deleteOne?(id: string, actual: View<R>, p: View<P>, ctx: Context<P>): Promise<void>;
  /**
   * All objects of its source that belong to the primary count as its own, so no other dependent may create objects
   * there.
   */
  readonly takesAll?: boolean;
}

/** A single or a bulk dependent. */
export type AnyDependent<P extends Obj> = Dependent<unknown, P> | Bulk<unknown, P>;

export const isBulk = <P extends Obj>(dependent: AnyDependent<P>): dependent is Bulk<unknown, P> =>
  'actualAll' in dependent;

/** Whether the dependent can delete. */
export const hasDeleter = <P extends Obj>(dependent: AnyDependent<P>): boolean =>
  isBulk(dependent) ? dependent.deleteOne !== undefined : dependent.delete !== undefined;

/** `Widget ns/a` */
const describePrimary = <P extends Obj>(p: View<P>, ctx: Pick<Context<P>, 'controller'>): string =>
  `${ctx.controller.kind.kind} ${keyOf(p)}`;

/** The error about a dependent. */
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

/** The result of `compute`, called at most once per reconcile and dependent. */
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

/** The desired state, computed at most once per reconcile. @throws DependentError when it is undefined */
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
 * Reconciles one dependent.
 * @throws DependentError, and errors of the dependent
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
  return createOrUpdate(dependent, { actual, desired: await desiredOf(dependent, p, ctx) }, p, ctx);
}

/** Deletes the object, if the dependent can delete. A missing object is not an error. */
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

/** Creates or updates one object, or leaves it unchanged. */
export async function createOrUpdate<R, P extends Obj>(
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
