/**
 * Dependents that are objects in a cluster. The author provides the desired object; source, mapping, matching,
 * create, update and delete are implemented here.
 */
import { parseYaml } from '../lib/yaml.ts';
import { DefinitionError } from '../runtime/errors.ts';
import { apiVersionOf, keyOf } from '../runtime/keys.ts';
import type { Client, Context, Kind, Obj, View } from '../runtime/types.ts';
import {
  accessTo,
  isConflict,
  readLive,
  sendCreate,
  sendDelete,
  sendUpdate,
  type SendOptions,
} from './access.ts';
import { boundedReaderOf, boundedSource } from './bounded-reader.ts';
import { desiredCheck } from './check-desired.ts';
import { dependentError, desiredOf, type Dependent } from './dependent.ts';
import { readTogether } from './live.ts';
import { matcherOf, type KubernetesDefaults, type MatchChoice } from './matching.ts';
import { ANNOTATION_PREFIX, withOwner, toPrimaryOf } from './ownership.ts';
import { kubernetesSource, type SourceChoice } from './source.ts';
import { keyOfId, targetAmong, type Discriminator, type ObjectId } from './target.ts';

/** Operations that a dependent may perform on its object. */
export type Trait = 'create' | 'update' | 'delete';

/** Fields of single and bulk dependents in a cluster. */
export interface KubernetesCommon<R extends Obj, P extends Obj>
  extends SourceChoice<R, P>, MatchChoice<R, P> {
  readonly kind: Kind<R>;
  /** Default: all three if there is a desired state, otherwise none. */
  readonly can?: readonly Trait[];
  /**
   * `true`, the default: the primary is the owner, and the garbage collector deletes the object. `false`: the
   * workflow deletes it.
   */
  readonly gc?: boolean;
  /** Prefix of the annotations that name the primary if it is not the owner of the object. Default `espalier.dev`. */
  readonly annotationPrefix?: string;
  /** Takes over an existing object, even of another owner. */
  readonly adopt?: boolean;
  /** Another cluster; its objects are read as with the reader `live`, and raise no events. */
  client?(p: View<P>, ctx: Context<P>): Client;
}

/** An object without apiVersion and kind, which the dependent adds; the default namespace is that of the primary. */
export type Desired<R extends Obj> = Omit<R, 'apiVersion' | 'kind'> & Partial<Pick<R, 'apiVersion' | 'kind'>>;

/** It may contain parts of the primary, which are read-only. */
export type Wanted<R extends Obj> = Desired<R> | View<Desired<R>>;

/** One object in a cluster for each primary; only kind and `desired` are required. */
export interface KubernetesSpec<R extends Obj, P extends Obj> extends KubernetesCommon<R, P> {
  /** Default: the kind, with a lower-case first letter. */
  readonly name?: string;
  /** The desired object, or its YAML. Absent in dependents that are only read. */
  desired?(p: View<P>, ctx: Context<P>): Wanted<R> | string | Promise<Wanted<R> | string>;
  /** The name of the object, if it is cheaper to compute than `desired`. */
  targetId?(p: View<P>, ctx: Context<P>): ObjectId;
  select?(candidates: readonly View<R>[], p: View<P>, ctx: Context<P>): View<R> | undefined;
  actual?(p: View<P>, ctx: Context<P>): Promise<View<R> | undefined>;
  readonly discriminator?: Discriminator<R, P>;
}

/** A dependent in a cluster, created by `kubernetes`. */
export type KubernetesDependent<R extends Obj, P extends Obj> = Dependent<R, P> & { readonly kind: Kind<R> };

export const nameOfKind = ({ kind }: Kind<never> | Kind): string =>
  kind.charAt(0).toLowerCase() + kind.slice(1);

/**
 * Creates a dependent for a kind of the cluster.
 * @throws DefinitionError when the spec is inconsistent
 */
export function kubernetes<R extends Obj, P extends Obj>(
  spec: KubernetesSpec<R, P>,
  defaults: KubernetesDefaults = {},
): KubernetesDependent<R, P> {
  const { kind } = spec;
  const name = spec.name ?? nameOfKind(kind);
  const wanted = spec.desired?.bind(spec);
  const verbs = kubernetesVerbs({ ...spec, name }, defaults, wanted !== undefined);
  const targetKey = async (p: View<P>, ctx: Context<P>): Promise<string | undefined> => {
    if (spec.targetId) return keyOfId(spec.targetId(p, ctx), p, kind.namespaced);
    return wanted ? keyOf(await desiredOf(dependent, p, ctx)) : undefined;
  };
  const actual = async (p: View<P>, ctx: Context<P>): Promise<View<R> | undefined> => {
    if (spec.actual) return spec.actual(p, ctx);
    if (!verbs.isLive) {
      const rules = {
        name,
        discriminator: spec.discriminator,
        select: spec.select?.bind(spec),
        keyOf: targetKey,
      };
      return targetAmong(await verbs.owned(p, ctx), rules, p, ctx);
    }
    const key = await targetKey(p, ctx);
    if (key === undefined) throw dependentError({ name }, p, ctx, 'its name is unknown; give it a targetId');
    return readTogether({ kind, key, selector: spec.selector }, verbs.sending(p, ctx), ctx);
  };
  const { delete: remove, ...rest } = verbs;
  const dependent: KubernetesDependent<R, P> = {
    ...rest.common,
    kind,
    actual,
    ...(wanted && {
      async desired(p: View<P>, ctx: Context<P>) {
        const object = asObject(await wanted(p, ctx), kind) as R | undefined | null;
        return object ? verbs.prepare(object, p, ctx) : (object as unknown as R);
      },
    }),
    ...(verbs.create && { create: verbs.create }),
    ...(verbs.update && { update: verbs.update }),
    ...(remove && {
      async delete(p: View<P>, ctx: Context<P>) {
        const there = await actual(p, ctx);
        if (there) await remove(there, p, ctx);
      },
    }),
  };
  return dependent;
}

/** An object of a cluster that is read and never written. */
export const readOnly = <R extends Obj, P extends Obj>(
  spec: Omit<KubernetesSpec<R, P>, 'desired' | 'can' | 'gc' | 'adopt'>,
): KubernetesDependent<R, P> => kubernetes<R, P>(spec);

function asObject<R extends Obj>(value: Wanted<R> | string, kind: Kind<R>): R {
  if (typeof value !== 'string') return value as unknown as R;
  const parsed = parseYaml(value) as R | null;
  if (parsed && typeof parsed === 'object') return parsed;
  throw new DefinitionError({ message: `the YAML of ${kind.kind} is not an object` });
}

// ---------------------------------------------------------------- operations on one object

interface Verbs<R extends Obj, P extends Obj> {
  readonly common: Pick<
    Dependent<R, P>,
    'name' | 'gc' | 'source' | 'reads' | 'kind' | 'createSource' | 'check' | 'matcher'
  >;
  readonly isLive: boolean;
  /** The objects of the primary; not for live readers. */
  readonly owned: (p: View<P>, ctx: Context<P>) => Promise<readonly View<R>[]>;
  /** Whether the object has the owner reference or annotations of the primary. */
  readonly isMarked: (found: View<R>, p: View<P>, ctx: Context<P>) => boolean;
  readonly sending: (p: View<P>, ctx: Context<P>) => SendOptions<R>;
  /** The desired object as it is sent: complete, and with the owner reference or annotations of the primary. */
  readonly prepare: (desired: R, p: View<P>, ctx: Context<P>) => R;
  readonly create?: (desired: R, p: View<P>, ctx: Context<P>) => Promise<R>;
  readonly update?: (actual: View<R>, desired: R, p: View<P>, ctx: Context<P>) => Promise<R>;
  readonly delete?: (actual: View<R>, p: View<P>, ctx: Context<P>) => Promise<void>;
}

/** Number of attempts after conflicts, each based on the then current object. */
const TRIES = 3;

export function kubernetesVerbs<R extends Obj, P extends Obj>(
  spec: KubernetesCommon<R, P> & { readonly name: string },
  defaults: KubernetesDefaults,
  hasDesired: boolean,
): Verbs<R, P> {
  const { kind, name } = spec;
  const gc = hasDesired && (spec.gc ?? true);
  const mark = { name, gc, prefix: spec.annotationPrefix ?? ANNOTATION_PREFIX };
  const matching = matcherOf(spec, kind, defaults);
  const bounded = boundedReaderOf(spec);
  const isLive = spec.reader === 'live' || spec.client !== undefined;
  const problemOf = desiredCheck(spec);
  const can = new Set<Trait>(hasDesired ? (spec.can ?? ['create', 'update', 'delete']) : []);

  const isMarked = (found: View<R>, p: View<P>, ctx: Context<P>): boolean =>
    (found.metadata.ownerReferences ?? []).some(({ uid }) => uid === p.metadata.uid) ||
    (!gc && toPrimaryOf(ctx.controller.kind, mark.prefix)(found).includes(keyOf(p)));
  const { sending, create, update } = writesOf(spec, matching, isMarked);
  const needsManagedFields = matching.needsManagedFields && can.has('update');
  const source = bounded
    ? boundedSource<R, P>(bounded, spec, mark.prefix, needsManagedFields)
    : kubernetesSource<R, P>(spec, mark.prefix, needsManagedFields);
  return {
    common: {
      name,
      gc,
      matcher: matching.matcher,
      ...(!isLive && source),
    },
    isLive,
    async owned(_, ctx) {
      const known = ctx.secondaries(kind, source.source);
      if (!bounded) return known;
      const complete = await Promise.all(known.map((obj) => bounded.cache.read(keyOf(obj), ctx.signal)));
      return complete.filter((obj) => obj !== undefined);
    },
    isMarked,
    sending,
    prepare(desired, p, ctx) {
      const problem = problemOf(desired, p);
      if (problem !== undefined) throw dependentError({ name }, p, ctx, problem);
      return withOwner(complete(desired, kind, p), mark, p, ctx);
    },
    ...(can.has('create') && { create }),
    ...(can.has('update') && { update }),
    ...(can.has('delete') && {
      async delete(actual: View<R>, p: View<P>, ctx: Context<P>) {
        await sendDelete(actual, sending(p, ctx));
      },
    }),
  };
}

/** The writes of one object; after a conflict they are repeated, based on the current object. */
function writesOf<R extends Obj, P extends Obj>(
  spec: KubernetesCommon<R, P> & { readonly name: string },
  matching: ReturnType<typeof matcherOf<R, P>>,
  isMarked: Verbs<R, P>['isMarked'],
) {
  const { kind, name } = spec;
  const sending = (p: View<P>, ctx: Context<P>): SendOptions<R> => ({
    kind,
    strategy: matching.strategy,
    dropsOthers: matching.dropsOthers,
    manager: ctx.controller.fieldManager,
    access: accessTo(ctx, spec.client?.(p, ctx)),
    signal: ctx.signal,
  });
  const sent = (desired: R, answer: R, ctx: Context<P>): R => {
    matching.remember?.(desired, answer, ctx.controller.fieldManager);
    return answer;
  };

  /**
   * @param first the failure that caused the retry, which is thrown if retries fail
   * @param uid of the object to be written, if known
   * @throws DependentError when an object of this name exists that does not belong to this primary
   */
  const retryWrite = async (
    { first, uid }: { readonly first: unknown; readonly uid?: string | undefined },
    desired: R,
    p: View<P>,
    ctx: Context<P>,
  ): Promise<R> => {
    const how = sending(p, ctx);
    let error = first;
    for (let tries = 1; tries < TRIES && isConflict(error); tries++) {
      const found = await readLive(kind, keyOf(desired as View<R>), how);
      const isKnown = uid !== undefined && found?.metadata.uid === uid;
      // An object with our mark is ours: the cache did not contain it yet.
      if (found && !isKnown && !spec.adopt && !isMarked(found, p, ctx)) {
        const what = `${kind.kind} ${keyOf(found)} already exists and does not belong to this primary; set adopt to take it over, or use another name`;
        throw dependentError({ name }, p, ctx, what, { cause: error });
      }
      try {
        if (!found) return sent(desired, await sendCreate(desired, how), ctx);
        if (matching.matcher.match(found, desired, p, ctx).matched) return found as R;
        return sent(desired, await sendUpdate(found, desired, how), ctx);
      } catch (next) {
        error = next;
      }
    }
    throw error;
  };
  const create = async (desired: R, p: View<P>, ctx: Context<P>): Promise<R> => {
    try {
      return sent(desired, await sendCreate(desired, sending(p, ctx)), ctx);
    } catch (first) {
      return retryWrite({ first }, desired, p, ctx);
    }
  };
  const update = async (actual: View<R>, desired: R, p: View<P>, ctx: Context<P>): Promise<R> => {
    try {
      return sent(desired, await sendUpdate(actual, desired, sending(p, ctx)), ctx);
    } catch (first) {
      return retryWrite({ first, uid: actual.metadata.uid }, desired, p, ctx);
    }
  };
  return { sending, create, update };
}

/** Adds apiVersion, kind and the namespace of the primary to the desired object. */
function complete<R extends Obj>(desired: R, kind: Kind<R>, p: View<Obj>): R {
  const namespace = kind.namespaced ? (desired.metadata.namespace ?? p.metadata.namespace) : undefined;
  return {
    ...desired,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { ...desired.metadata, ...(namespace && { namespace }) },
  };
}
