/** How a secondary refers to its primary: by an owner reference, so that it is garbage collected, or by annotations. */
import { apiVersionOf, joinKey } from '../runtime/keys.ts';
import { anyOf, byOwner, type Mapper } from '../runtime/sources/mappers.ts';
import { controllerReference } from '../lib/objects.ts';
import type { Context, Kind, Obj, OwnerReference, View } from '../runtime/types.ts';
import { dependentError } from './dependent.ts';

/** Default prefix of the annotations. */
export const ANNOTATION_PREFIX = 'espalier.dev';

/** Label of objects in which dependents store their state; they do not count as secondaries. */
export const STATE_LABEL = `${ANNOTATION_PREFIX}/state`;

/** `Widget.example.io`, or `ConfigMap` of the core group */
const typeOf = ({ kind, group }: { readonly kind: string; readonly group: string }): string =>
  group ? `${kind}.${group}` : kind;

/** Finds the primary of an object that `withOwner` returned. */
export function toPrimaryOf(kind: Kind<never> | Kind, prefix: string): Mapper {
  return anyOf(byOwner(kind), (obj) => {
    const { annotations } = obj.metadata;
    const name = annotations?.[`${prefix}/primary-name`];
    if (!name || annotations?.[`${prefix}/primary-type`] !== typeOf(kind)) return [];
    return [joinKey(annotations[`${prefix}/primary-namespace`] || undefined, name)];
  });
}

export interface OwnerMark {
  readonly name: string;
  readonly gc: boolean;
  readonly prefix: string;
}

/**
 * `desired` with the owner reference or annotations of its primary.
 * @throws DependentError if the cluster would delete it at once, because its owner is in another namespace
 */
export function withOwner<R extends Obj, P extends Obj>(
  desired: R,
  mark: OwnerMark,
  p: View<P>,
  ctx: Pick<Context<P>, 'controller'>,
): R {
  const { metadata } = desired;
  if (!mark.gc) {
    const { name, namespace } = p.metadata;
    const annotations = {
      ...metadata.annotations,
      [`${mark.prefix}/primary-name`]: name,
      [`${mark.prefix}/primary-type`]: typeOf(ctx.controller.kind),
      ...(namespace && { [`${mark.prefix}/primary-namespace`]: namespace }),
    };
    return { ...desired, metadata: { ...metadata, annotations } };
  }
  if (p.metadata.namespace !== undefined && metadata.namespace !== p.metadata.namespace) {
    const where = metadata.namespace ? `in namespace ${metadata.namespace}` : 'in no namespace';
    const what = `${desired.kind} ${metadata.name} is ${where}, so ${p.metadata.namespace}/${p.metadata.name} cannot own it; set gc: false`;
    throw dependentError(mark, p, ctx, what);
  }
  const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== p.metadata.uid);
  return {
    ...desired,
    metadata: { ...metadata, ownerReferences: [...others, ownerOf(p, ctx.controller.kind, others)] },
  };
}

/** An object has one controller at most: if another owner is it, the primary becomes an owner beside it. */
function ownerOf<P extends Obj>(
  { metadata }: View<P>,
  kind: Kind<P>,
  others: readonly OwnerReference[],
): OwnerReference {
  const reference = controllerReference({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata });
  if (!others.some(({ controller }) => controller === true)) return reference;
  const { controller: _, ...plain } = reference;
  return plain;
}
