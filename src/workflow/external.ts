/**
 * Dependents outside of the cluster: a bucket, a DNS record, a user account. Their values are kept in memory by
 * primary and id, updated by own writes, and by polls if there are any.
 */
import { keyOf } from '../runtime/keys.ts';
import { checkPeriod, perResourceSource, pollSource, type Correctable } from '../runtime/sources/polling.ts';
import type { Source } from '../runtime/sources/sources.ts';
import type { Context, Key, Obj, View } from '../runtime/types.ts';
import { Values } from '../runtime/sources/values.ts';
import { dependentError, desiredOf, type Bulk, type Dependent, type Matcher } from './dependent.ts';
import { equalMatcher } from './match-generic.ts';

/** Fields of single and bulk external dependents. */
export interface ExternalCommon<R, P extends Obj> {
  readonly name: string;
  /** The id of a value within its primary. Default: one value per primary. */
  idOf?(value: View<R>): string;
  create?(desired: R, p: View<P>, ctx: Context<P>): Promise<R>;
  update?(actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Promise<R>;
  /** Deletes it; a missing one is not an error. */
  delete?(actual: View<R>, p: View<P>, ctx: Context<P>): Promise<void>;
  /** Default: deep equality. */
  readonly matcher?: Matcher<R, P>;
  readonly actualValues: ActualValues<R, P>;
}

/** One external resource per primary. */
export interface ExternalSpec<R, P extends Obj> extends ExternalCommon<R, P> {
  desired?(p: View<P>, ctx: Context<P>): R | View<R> | Promise<R | View<R>>;
}

/** Several external resources per primary, identified by ids. */
export interface ExternalBulkSpec<R, P extends Obj> extends ExternalCommon<R, P> {
  desiredAll?(
    p: View<P>,
    ctx: Context<P>,
  ): ReadonlyMap<string, R | View<R>> | Promise<ReadonlyMap<string, R | View<R>>>;
}

/** The source of the actual values of external resources. */
export interface ActualValues<R, P extends Obj> extends Correctable<R> {
  /** Undefined if nothing is polled: values are requested when they are needed. */
  readonly source: Source<P> | undefined;
  of(p: View<P>, ctx: Context<P>): Promise<readonly View<R>[]>;
  /**
   * The values of a primary may be wrong: a failed write may have taken effect; or the primary is gone, and the
   * values must be requested for a new one of the same name.
   */
  invalidate?(key: Key): void;
}

// ---------------------------------------------------------------- sources of values

/** How several values of one primary are identified. */
export interface Identified<R> {
  idOf?(value: R): string;
}

/** Requested once per primary, then kept; requested again after a deletion, and after a failed write. */
export function fetched<R, P extends Obj>(
  spec: Identified<R> & { fetch(p: View<P>, ctx: Context<P>): Promise<readonly R[]> },
): ActualValues<R, P> {
  const values = new Values<R>(shapeOf(spec));
  return {
    source: undefined,
    async of(p, ctx) {
      const key = keyOf(p);
      if (values.has(key)) return values.of(key) as readonly View<R>[];
      const found = await spec.fetch(p, ctx);
      if (!values.has(key)) values.set(key, found);
      return values.of(key) as readonly View<R>[];
    },
    // With several values per primary, one value is not the complete result.
    remember: (key, value) => void ((values.has(key) || !spec.idOf) && values.put(key, value)),
    forget: (key) => void values.remove(key),
    invalidate: (key) => void values.remove(key),
  };
}

/** Polled with one request for all primaries. */
export interface Polled<R> extends Identified<R> {
  /** Name of the source. */
  readonly name: string;
  /** Default 5 s. */
  readonly everyMs?: number;
  /** The values of all primaries, by primary; called periodically. */
  fetch(signal: AbortSignal): Promise<ReadonlyMap<Key, readonly R[]>>;
}

/** Polls with one request for all primaries. */
export function polled<R, P extends Obj>(spec: Polled<R>): ActualValues<R, P> {
  const source = pollSource<R>({
    name: spec.name,
    ...shapeOf(spec),
    ...(spec.everyMs !== undefined && { everyMs: spec.everyMs }),
    fetch: (signal) => spec.fetch(signal),
  });
  return known<R, P>(source, source);
}

/** Polled for each primary, while it exists. */
export interface PolledPerPrimary<R, P extends Obj> extends Identified<R> {
  readonly name: string;
  /** Default 5 s. */
  readonly everyMs?: number;
  fetch(p: View<P>, signal: AbortSignal): Promise<readonly R[]>;
  /** Which primaries to poll. Default: all. */
  when?(p: View<P>): boolean;
}

const DEFAULT_PERIOD_MS = 5_000;

/** Polls for each primary. */
export function polledPerPrimary<R, P extends Obj>(spec: PolledPerPrimary<R, P>): ActualValues<R, P> {
  checkPeriod(spec);
  const source = perResourceSource<R, P>({
    name: spec.name,
    ...shapeOf(spec),
    delayMs: () => spec.everyMs ?? DEFAULT_PERIOD_MS,
    fetch: (p, signal) => spec.fetch(p, signal),
    ...(spec.when && { when: (p) => spec.when?.(p) ?? true }),
  });
  return {
    ...known<R, P>(source, source),
    of: (p) => source.load(p) as Promise<readonly View<R>[]>,
    invalidate: (key) => source.forget(key),
  };
}

const shapeOf = <R>(spec: Identified<R>): { idOf?: (value: R) => string } =>
  spec.idOf ? { idOf: spec.idOf.bind(spec) } : {};

const known = <R, P extends Obj>(source: Source<P>, correctable: Correctable<R>): ActualValues<R, P> => ({
  source,
  of: (_, ctx) => Promise.resolve(ctx.valuesOf(source.name) as readonly View<R>[]),
  remember: (key, value) => {
    correctable.remember(key, value);
  },
  forget: (key, id) => {
    correctable.forget(key, id);
  },
});

// ---------------------------------------------------------------- dependents

/** One external resource per primary, or the one with the desired id. */
export function external<R, P extends Obj>(spec: ExternalSpec<R, P>): Dependent<R, P> {
  const actual = async (p: View<P>, ctx: Context<P>): Promise<View<R> | undefined> => {
    const candidates = await spec.actualValues.of(p, ctx);
    if (!spec.idOf || !spec.desired || candidates.length === 0) return onlyOne(candidates, spec, p, ctx);
    const id = spec.idOf((await desiredOf(dependent, p, ctx)) as View<R>);
    return candidates.find((candidate) => spec.idOf?.(candidate) === id);
  };
  const dependent: Dependent<R, P> = {
    ...commonOf(spec),
    actual,
    ...(spec.desired && {
      desired: (p: View<P>, ctx: Context<P>) => spec.desired?.(p, ctx) as R | Promise<R>,
    }),
    ...(spec.delete && {
      async delete(p: View<P>, ctx: Context<P>) {
        const there = await actual(p, ctx);
        if (there !== undefined) await remove(spec, there, p, ctx);
      },
    }),
  };
  return dependent;
}

/** Several external resources per primary. The compiler requires `idOf`. */
export function externalBulk<R, P extends Obj>(
  spec: ExternalBulkSpec<R, P> & Required<Pick<ExternalCommon<R, P>, 'idOf'>>,
): Bulk<R, P> {
  return {
    ...commonOf(spec),
    async actualAll(p, ctx) {
      return new Map((await spec.actualValues.of(p, ctx)).map((value) => [spec.idOf(value), value]));
    },
    ...(spec.desiredAll && {
      desiredAll: (p: View<P>, ctx: Context<P>) => spec.desiredAll?.(p, ctx) as ReadonlyMap<string, R>,
    }),
    ...(spec.delete && {
      deleteOne: (_: string, actual: View<R>, p: View<P>, ctx: Context<P>) => remove(spec, actual, p, ctx),
    }),
  };
}

const onlyOne = <R, P extends Obj>(
  candidates: readonly View<R>[],
  spec: { readonly name: string },
  p: View<P>,
  ctx: Context<P>,
): View<R> | undefined => {
  if (candidates.length <= 1) return candidates[0];
  throw dependentError(
    spec,
    p,
    ctx,
    `${String(candidates.length)} candidates exist; give the dependent an idOf and a desired that identify one`,
  );
};

async function remove<R, P extends Obj>(
  spec: ExternalCommon<R, P>,
  actual: View<R>,
  p: View<P>,
  ctx: Context<P>,
): Promise<void> {
  await spec.delete?.(actual, p, ctx);
  spec.actualValues.forget(keyOf(p), spec.idOf?.(actual));
}

/** Own writes are stored at once: the next read needs no poll, and the next poll finds no change. */
function commonOf<R, P extends Obj>(spec: ExternalCommon<R, P>): Omit<Dependent<R, P>, 'actual'> {
  const { actualValues, name } = spec;
  const { source } = actualValues;
  const remembered = (p: View<P>, value: R): R => {
    if ((value as R | undefined | null) != null) actualValues.remember(keyOf(p), value);
    return value;
  };
  const written = async (p: View<P>, write: () => Promise<R> | undefined): Promise<R> => {
    try {
      return remembered(p, (await write()) as R);
    } catch (error) {
      actualValues.invalidate?.(keyOf(p));
      throw error;
    }
  };
  return {
    name,
    gc: false,
    matcher: spec.matcher ?? equalMatcher,
    ...(source && { source: source.name, createSource: () => ({ source }) }),
    ...(spec.create && {
      create: (desired, p, ctx) => written(p, () => spec.create?.(desired, p, ctx)),
    }),
    ...(spec.update && {
      async update(actual, desired, p, ctx) {
        const updated = await written(p, () => spec.update?.(actual, desired, p, ctx));
        const before = spec.idOf?.(actual);
        const isAnother =
          (updated as R | undefined | null) != null && before !== spec.idOf?.(updated as View<R>);
        if (isAnother) actualValues.forget(keyOf(p), before);
        return updated;
      },
    }),
    forget: (p) => actualValues.invalidate?.(keyOf(p)),
  };
}
