/** Several objects of one kind in a cluster, as one dependent. */
import { append } from '../lib/lists.ts';
import { keyOf } from '../runtime/keys.ts';
import type { Context, Obj, View } from '../runtime/types.ts';
import { dependentError, type Bulk } from './dependent.ts';
import { kubernetesVerbs, nameOfKind, type KubernetesCommon, type Wanted } from './kubernetes.ts';
import type { KubernetesDefaults } from './matching.ts';
import { STATE_LABEL } from './ownership.ts';

/** Several objects of one kind in a cluster for each primary. */
export interface KubernetesBulkSpec<R extends Obj, P extends Obj> extends KubernetesCommon<R, P> {
  /** Default: the kind, with a lower-case first letter. */
  readonly name?: string;
  /** The desired objects by id. Absent in dependents that are only read. */
  desiredAll?(
    p: View<P>,
    ctx: Context<P>,
  ): ReadonlyMap<string, Wanted<R>> | Promise<ReadonlyMap<string, Wanted<R>>>;
  /**
   * The id of an existing object; undefined if it does not belong to this dependent. Default: its name, so all
   * objects of the kind that belong to the primary are managed, and deleted if they are not desired.
   */
  idOf?(obj: View<R>, p: View<P>): string | undefined;
}

/**
 * Creates one dependent for several objects: unwanted ones are deleted first, then each of the others is created or
 * updated.
 * @throws DefinitionError when the spec is inconsistent
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
    if (!verbs.isLive) return verbs.owned(p, ctx);
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
