/** Many objects of one kind in a cluster, as one dependent. */
import { append } from '../lib/lists.ts';
import { keyOf } from '../runtime/keys.ts';
import type { Context, Obj, View } from '../runtime/types.ts';
import { dependentError, type Bulk } from './dependent.ts';
import { kubernetesVerbs, nameOfKind, type KubernetesCommon, type Desired } from './kubernetes.ts';
import type { KubernetesDefaults } from './matching.ts';
import { STATE_LABEL } from './ownership.ts';

/** Many objects of one kind on a cluster for each primary. */
export interface KubernetesBulkSpec<R extends Obj, P extends Obj> extends KubernetesCommon<R, P> {
  /** Default: the kind, beginning with a small letter. */
  readonly name?: string;
  /** What is wanted, by ids. Absent in dependents that are only read. */
  desiredAll?(
    p: View<P>,
    ctx: Context<P>,
  ): ReadonlyMap<string, Desired<R>> | Promise<ReadonlyMap<string, Desired<R>>>;
  /**
   * The id of an object that is there; undefined when it is none of these. Default: its name, so all objects of the kind
   * that belong to the primary are taken for these, and deleted when they are not wanted.
   */
  idOf?(obj: View<R>, p: View<P>): string | undefined;
}

/**
 * Makes one dependent of many objects: what is not wanted goes first, then each of the others is brought in line.
 * @throws DefinitionError when parts of the description do not go together
 */
export function kubernetesBulk<R extends Obj, P extends Obj>(
  spec: KubernetesBulkSpec<R, P>,
  defaults: KubernetesDefaults = {},
): Bulk<R, P> {
  const { kind } = spec;
  const name = spec.name ?? nameOfKind(kind);
  const wanted = spec.desiredAll?.bind(spec);
  const verbs = kubernetesVerbs<R, P>({ ...spec, name }, defaults, wanted !== undefined);
  const idOf = (obj: View<R>, p: View<P>): string | undefined =>
    spec.idOf
      ? spec.idOf(obj, p)
      : obj.metadata.labels?.[STATE_LABEL] === undefined
        ? obj.metadata.name
        : undefined;

  const found = async (p: View<P>, ctx: Context<P>): Promise<readonly View<R>[]> => {
    if (!verbs.isLive) return ctx.secondaries(kind, verbs.common.source);
    const { access, signal } = verbs.sending(p, ctx);
    const namespace = kind.namespaced ? p.metadata.namespace : undefined;
    const query = { ...(namespace && { namespace }), ...(spec.selector && { labels: spec.selector }) };
    const all: View<R>[] = [];
    for await (const page of access.live.list(kind, query, signal)) append(all, page.items as View<R>[]);
    return all.filter((obj) => verbs.isMarked(obj, p, ctx));
  };
  const { delete: remove, create, update } = verbs;
  return {
    ...verbs.common,
    async actualAll(p, ctx) {
      const all = new Map<string, View<R>>();
      for (const obj of await found(p, ctx)) {
        const id = idOf(obj, p);
        const other = id === undefined ? undefined : all.get(id);
        if (other)
          throw dependentError(
            { name },
            p,
            ctx,
            `${keyOf(other)} and ${keyOf(obj)} have the same id "${String(id)}"`,
          );
        if (id !== undefined) all.set(id, obj);
      }
      return all;
    },
    ...(wanted && {
      async desiredAll(p: View<P>, ctx: Context<P>) {
        const prepared = new Map<string, R>();
        for (const [id, desired] of await wanted(p, ctx)) {
          const object = desired as unknown as R | undefined | null;
          prepared.set(id, object ? verbs.prepare(object, p, ctx) : (object as unknown as R));
        }
        return prepared;
      },
    }),
    ...(create && { create }),
    ...(update && { update }),
    ...(remove && {
      takesAll: !spec.idOf,
      deleteOne: (_id: string, actual: View<R>, p: View<P>, ctx: Context<P>) => remove(actual, p, ctx),
    }),
  };
}
