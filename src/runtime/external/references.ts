/**
 * References to other objects: `spec.vpcIdRef` or `spec.vpcIdSelector` name an object, and the name of its resource is
 * stored in `spec.vpcId`.
 */
import { exactJson } from '../../lib/exact-json.ts';
import { isObject, ownField } from '../../lib/objects.ts';
import { joinKey } from '../keys.ts';
import type { Cache, Kind, Obj, View } from '../types.ts';
import { annotationOf } from './annotations.ts';

/** A field of the spec that users may set by reference. */
export interface Reference<R extends Obj = Obj> {
  /** The field of `spec` that is filled, such as `vpcId`. The reference is in `vpcIdRef` or `vpcIdSelector`. */
  readonly field: string;
  /** The kind of the objects that can be referenced. */
  readonly kind: Kind<R>;
  /** The value for the field; undefined while there is none. Default: the annotation with the name of its resource. */
  readonly value?: (object: View<R>) => string | undefined;
}

/** A reference, and the cache of its kind. */
export interface CachedReference {
  readonly reference: Reference;
  readonly cache: Pick<Cache<Obj>, 'get' | 'list'>;
}

type Resolved =
  | { readonly ok: true; readonly patch: Readonly<Record<string, unknown>> | undefined }
  | { readonly ok: false; readonly problem: string };

/** The fields of the spec that references resolve to. */
export function resolveReferences(object: View<Obj>, references: readonly CachedReference[]): Resolved {
  const patch: Record<string, unknown> = {};
  for (const reference of references) {
    const resolved = resolve(object, reference);
    if (!resolved.ok) return resolved;
    Object.assign(patch, resolved.patch);
  }
  return { ok: true, patch: Object.keys(patch).length > 0 ? patch : undefined };
}

const nothing: Resolved = { ok: true, patch: undefined };
const refuse = (problem: string): Resolved => ({ ok: false, problem });

interface Chosen {
  /** The reference or the selector. */
  readonly by: object;
  readonly isSelector: boolean;
  /** For messages. */
  readonly where: string;
}

/** A selector chooses once, and its choice is the reference, unless it is to choose each time. */
function choose(spec: unknown, field: string): Chosen | undefined {
  const ref = ownField(spec, `${field}Ref`);
  const selector = ownField(spec, `${field}Selector`);
  if (isObject(selector) && (!isObject(ref) || isAlways(selector)))
    return { by: selector, isSelector: true, where: `spec.${field}Selector` };
  return isObject(ref) ? { by: ref, isSelector: false, where: `spec.${field}Ref` } : undefined;
}

function resolve(object: View<Obj>, { reference, cache }: CachedReference): Resolved {
  const { field, kind } = reference;
  const spec = ownField(object, 'spec');
  const chosen = choose(spec, field);
  if (!chosen) return nothing;
  const { by, where, isSelector } = chosen;
  const problem = policyProblem(by, where);
  if (problem !== undefined) return refuse(problem);
  const present = ownField(spec, field);
  if (present !== undefined && !isAlways(by)) return nothing;
  const found = isSelector ? select(object, by, cache) : get(object, by, kind, cache);
  const value = found && (reference.value ?? externalNameOf)(found);
  if (found && value !== undefined) {
    const { name } = found.metadata;
    const isKnown =
      value === present && (!isSelector || ownField(ownField(spec, `${field}Ref`), 'name') === name);
    const patch = { [field]: value, ...(isSelector && { [`${field}Ref`]: { name } }) };
    return isKnown ? nothing : { ok: true, patch };
  }
  if (policyOf(by, 'resolution') === 'Optional') return nothing;
  return refuse(
    found
      ? `${kind.kind} ${found.metadata.name}, which ${where} refers to, has no value yet`
      : `${where} refers to no existing ${kind.kind}`,
  );
}

const externalNameOf = (object: View<Obj>): string | undefined => annotationOf(object, 'name');

/** The allowed values of a policy; the first one is the default. */
const POLICIES = { resolution: ['Required', 'Optional'], resolve: ['IfNotPresent', 'Always'] } as const;

const policyOf = (reference: object, name: keyof typeof POLICIES): unknown =>
  ownField(ownField(reference, 'policy'), name) ?? POLICIES[name][0];

const isAlways = (reference: object): boolean => policyOf(reference, 'resolve') === 'Always';

function policyProblem(reference: object, where: string): string | undefined {
  for (const name of ['resolution', 'resolve'] as const) {
    const value = policyOf(reference, name);
    if (!(POLICIES[name] as readonly unknown[]).includes(value))
      return `${where}.policy.${name} is ${exactJson(value)}; it can be "${POLICIES[name].join('" or "')}"`;
  }
  return undefined;
}

function get(
  object: View<Obj>,
  ref: object,
  kind: Kind,
  cache: CachedReference['cache'],
): View<Obj> | undefined {
  const name = ownField(ref, 'name');
  if (typeof name !== 'string') return undefined;
  return cache.get(joinKey(kind.namespaced ? object.metadata.namespace : undefined, name));
}

/** The first by name of the matching objects in the namespace of the object. */
function select(object: View<Obj>, selector: object, cache: CachedReference['cache']): View<Obj> | undefined {
  const labels = Object.entries(ownField(selector, 'matchLabels') ?? {});
  const mustShareController = ownField(selector, 'matchControllerRef') === true;
  const controller = controllerOf(object);
  const matching = [...cache.list(object.metadata.namespace)].filter(
    (candidate) =>
      labels.every(([label, value]) => candidate.metadata.labels?.[label] === value) &&
      (!mustShareController || (controller !== undefined && controllerOf(candidate) === controller)),
  );
  return matching.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
}

const controllerOf = ({ metadata }: View<Obj>): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
