/**
 * Conversions between the versions of a kind. One version is the hub: each other version is converted to it and from it,
 * so that n versions need 2 (n - 1) functions. Pure.
 */
import { DefinitionError } from '../errors.ts';
import { apiVersionOf } from '../keys.ts';
import type { Kind, Meta, Obj, View } from '../types.ts';

/**
 * The result of a conversion: all fields except for the identity, which stays. Without `metadata`, labels and annotations
 * stay as well.
 */
export type Converted<T extends Obj> = (
  Omit<T, 'apiVersion' | 'kind' | 'metadata'> | View<Omit<T, 'apiVersion' | 'kind' | 'metadata'>>
) & {
  readonly metadata?: View<Pick<Meta, 'labels' | 'annotations'>>;
};

/** The functions between a version and the hub. They must be pure, because they run in every replica. */
export interface SpokeFunctions<S extends Obj, H extends Obj> {
  toHub(object: View<S>): Converted<H>;
  fromHub(object: View<H>): Converted<S>;
}

/** The versions of one kind, and the functions between them. */
export interface Conversion<H extends Obj = Obj> {
  /** The kind in the version to and from which the others are converted. */
  readonly hub: Kind<H>;
  /** The names of all versions, first that of the hub. */
  readonly versions: readonly string[];
  /**
   * Adds a version.
   * @returns a new conversion
   * @throws DefinitionError for another kind, or a version that exists
   */
  spoke<S extends Obj>(kind: Kind<S>, functions: SpokeFunctions<S, H>): Conversion<H>;
  /**
   * The object in another version.
   * @param apiVersion such as `example.org/v1`
   * @throws ConversionError for a version without functions; errors of the functions
   */
  convert(object: View<Obj>, apiVersion: string): Obj;
}

/** Two versions cannot be converted. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

/** The conversion of a kind, to which other versions are added with `spoke`. */
export const conversionOf = <H extends Obj>(hub: Kind<H>): Conversion<H> => new HubConversion(hub, new Map());

/**
 * Labels and annotations for the result of a conversion, with one annotation changed. In it, a version keeps a value that it
 * cannot express otherwise.
 * @param value undefined removes the annotation
 */
export function withAnnotation(
  { labels, annotations }: View<Meta>,
  name: string,
  value: string | undefined,
): Pick<Meta, 'labels' | 'annotations'> {
  const { [name]: _, ...others } = annotations ?? {};
  const kept = value === undefined ? others : { ...others, [name]: value };
  return {
    ...(labels && { labels: { ...labels } }),
    ...(Object.keys(kept).length > 0 && { annotations: kept }),
  };
}

type Spokes<H extends Obj> = ReadonlyMap<string, SpokeFunctions<Obj, H>>;

class HubConversion<H extends Obj> implements Conversion<H> {
  readonly hub: Kind<H>;
  readonly #spokes: Spokes<H>;

  constructor(hub: Kind<H>, spokes: Spokes<H>) {
    this.hub = hub;
    this.#spokes = spokes;
  }

  get versions(): readonly string[] {
    return [this.hub.version, ...this.#spokes.keys()];
  }

  spoke<S extends Obj>(kind: Kind<S>, functions: SpokeFunctions<S, H>): Conversion<H> {
    const { hub } = this;
    if (kind.group !== hub.group || kind.kind !== hub.kind)
      throw new DefinitionError({
        message: `${kind.kind} of ${apiVersionOf(kind)} is not a version of ${hub.kind} of ${apiVersionOf(hub)}`,
      });
    if (this.versions.includes(kind.version))
      throw new DefinitionError({
        message: `the conversion of ${hub.kind} has version ${kind.version} more than once`,
      });
    return new HubConversion(hub, new Map([...this.#spokes, [kind.version, functions]]));
  }

  convert(object: View<Obj>, apiVersion: string): Obj {
    if (object.apiVersion === apiVersion) return object as Obj;
    const hub = apiVersionOf(this.hub);
    const inHub =
      object.apiVersion === hub
        ? object
        : inVersion(hub, object, this.#spoke(object.apiVersion).toHub(object));
    return apiVersion === hub
      ? (inHub as Obj)
      : inVersion(apiVersion, inHub, this.#spoke(apiVersion).fromHub(inHub as View<H>));
  }

  #spoke(apiVersion: string): SpokeFunctions<Obj, H> {
    const { group, kind } = this.hub;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    const found = apiVersionOf({ group, version, kind }) === apiVersion && this.#spokes.get(version);
    if (!found)
      throw new ConversionError(
        `${kind} has no version ${apiVersion}; it has ${this.versions.join(', ')} of ${group}`,
      );
    return found;
  }
}

/** The converted object with the identity of the original. */
function inVersion<T extends Obj>(apiVersion: string, original: View<Obj>, converted: Converted<T>): Obj {
  const { metadata, ...content } = converted;
  const { labels, annotations, ...identity } = original.metadata;
  const kept = metadata ?? { labels, annotations };
  return {
    apiVersion,
    kind: original.kind,
    metadata: {
      ...(identity as Meta),
      ...(kept.labels && { labels: { ...kept.labels } }),
      ...(kept.annotations && { annotations: { ...kept.annotations } }),
    },
    ...content,
  };
}
