/**
 * References to other objects: `spec.vpcIdRef` or `spec.vpcIdSelector` name an object, and the name of its resource is
 * stored in `spec.vpcId`. A field that is a list has `spec.subnetIdsRefs`, and its selector chooses all that match.
 */
import { equal } from '../../lib/json.ts';
import { ownField } from '../../lib/objects.ts';
import type { Cache, Kind, Obj, View } from '../types.ts';
import { annotationOf } from './annotations.ts';
import {
  isMatch,
  keyOfReference,
  namesOf,
  namespaceOfChoice,
  policyOf,
  policyProblem,
  readChoice,
  type Choice,
} from './reference-choice.ts';

/** A field of the spec that users may set by reference. */
export interface Reference<R extends Obj = Obj> {
  /** The field of `spec` that is filled, such as `vpcId`. The reference is in `vpcIdRef` or `vpcIdSelector`. */
  readonly field: string;
  /**
   * The field is a list, such as `subnetIds`, with the values of several objects. The references are in `subnetIdsRefs` or
   * `subnetIdsSelector`. Default `false`.
   */
  readonly list?: boolean;
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

/** The value of a referenced object. */
export const valueOf = ({ value = externalNameOf }: Reference, object: View<Obj>): string | undefined =>
  value(object);

const externalNameOf = (object: View<Obj>): string | undefined => annotationOf(object, 'name');

const nothing: Resolved = { ok: true, patch: undefined };
const refuse = (problem: string): Resolved => ({ ok: false, problem });

function resolve(object: View<Obj>, { reference, cache }: CachedReference): Resolved {
  const choice = readChoice(object, reference);
  if (!choice) return nothing;
  for (const { by, where } of choice.references) {
    const problem = policyProblem(by, where);
    if (problem !== undefined) return refuse(problem);
  }
  if (!choice.isOpen) return nothing;
  const candidates = candidatesOf(object, choice, { reference, cache });
  const values: string[] = [];
  const names: string[] = [];
  for (const { found, by, where } of candidates) {
    const value = found && valueOf(reference, found);
    if (found && value !== undefined) {
      values.push(value);
      names.push(found.metadata.name);
    } else if (policyOf(by, 'resolution') === 'Required') {
      const { kind } = reference.kind;
      return refuse(
        found
          ? `${kind} ${found.metadata.name}, which ${where} refers to, has no value yet`
          : `${where} refers to no existing ${kind}`,
      );
    }
  }
  return values.length > 0 ? patchOf(object, choice, { values, names }) : nothing;
}

interface Candidate {
  readonly found: View<Obj> | undefined;
  /** The reference or the selector that chose it. */
  readonly by: object;
  /** For messages. */
  readonly where: string;
}

function candidatesOf(
  object: View<Obj>,
  choice: Choice,
  { reference: { kind }, cache }: CachedReference,
): readonly Candidate[] {
  return choice.references.flatMap(({ by, where }): Candidate | Candidate[] => {
    if (!choice.isSelector) {
      const key = keyOfReference(object, by, kind);
      return { found: key === undefined ? undefined : cache.get(key), by, where };
    }
    const matching = select(object, by, { kind, cache });
    const chosen = choice.isList ? matching : matching.slice(0, 1);
    return chosen.length > 0
      ? chosen.map((found) => ({ found, by, where }))
      : { found: undefined, by, where };
  });
}

/** A selector also stores its choice. */
function patchOf(
  object: View<Obj>,
  { field, refField, isList, isSelector }: Choice,
  { values, names }: { readonly values: readonly string[]; readonly names: readonly string[] },
): Resolved {
  const spec = ownField(object, 'spec');
  const value = isList ? values : values[0];
  const refs = names.map((name) => ({ name }));
  const isKnown =
    equal(ownField(spec, field), value) &&
    (!isSelector || equal(namesOf(ownField(spec, refField), isList), names));
  if (isKnown) return nothing;
  return { ok: true, patch: { [field]: value, ...(isSelector && { [refField]: isList ? refs : refs[0] }) } };
}

/** The matching objects, by name. */
function select(
  object: View<Obj>,
  selector: object,
  { kind, cache }: { readonly kind: Kind; readonly cache: CachedReference['cache'] },
): View<Obj>[] {
  const namespace = namespaceOfChoice(object, kind);
  const candidates = namespace === '' ? cache.list() : cache.list(namespace);
  const matching = [...candidates].filter((candidate) => isMatch(object, selector, candidate));
  return matching.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}
