/**
 * Field ownership over the versions of a kind. Each entry of managedFields names fields of its own version, so a change is
 * also computed in that version: both states of the object are converted to it.
 *
 * The computation is pure, and conversions are requests to a webhook. So it is repeated until it has all conversions that it
 * needs: each time, one that is missing ends it, and is requested.
 */
import type { Kind } from '../kinds/kinds.ts';
import { ApiError, plainFailure } from '../status.ts';
import type { JsonObject, KubeObject } from '../types.ts';
import type { ObjectType } from './managed-fields.ts';

/** A version of a kind. */
export interface Version {
  readonly type: ObjectType;
  /** Which top-level members the endpoint of the request may write. */
  readonly owns: (member: string) => boolean;
  /** The object, without managedFields, in this version. @throws ApiError when it cannot be converted */
  readonly convert: (object: JsonObject) => JsonObject;
}

/** The version of an entry. @throws ApiError if the kind does not have it */
export type VersionOf = (apiVersion: string) => Version;

/** A conversion that is not known yet. */
class Unconverted extends Error {
  readonly object: KubeObject;
  readonly kind: Kind;

  constructor(object: KubeObject, kind: Kind) {
    super('a conversion is needed');
    this.object = object;
    this.kind = kind;
  }
}

/** The version of a kind in which an entry names fields. @throws ApiError if the kind does not have it */
export function kindIn(kind: Kind, apiVersion: string): Kind {
  if (apiVersion === kind.apiVersion) return kind;
  const found = kind.versions?.(apiVersion);
  if (!found) throw plainFailure(`request to convert CR to an invalid group/version: ${apiVersion}`);
  return found;
}

/** The conversions of one object that a computation needs. */
export class Conversions {
  /** By version and object. */
  readonly #known = new Map<string, KubeObject | ApiError>();

  /** @throws Unconverted, which `run` handles; ApiError of the webhook */
  readonly convert = (object: JsonObject, kind: Kind): JsonObject => {
    if (object['apiVersion'] === kind.apiVersion) return object;
    if (!kind.webhook) return { ...object, apiVersion: kind.apiVersion };
    const known = this.#known.get(keyOf(object, kind));
    if (known instanceof ApiError) throw known;
    if (!known) throw new Unconverted(object as unknown as KubeObject, kind);
    return known;
  };

  /** Repeats a computation until it has all conversions. It is synchronous if it needs none. */
  run<T>(compute: () => T): T | Promise<T> {
    try {
      return compute();
    } catch (error) {
      if (!(error instanceof Unconverted)) throw error;
      return this.#request(error).then(() => this.run(compute));
    }
  }

  async #request({ object, kind }: Unconverted): Promise<void> {
    this.#known.set(keyOf(object, kind), await converted(object, kind));
  }
}

const keyOf = (object: JsonObject, { apiVersion }: Kind): string => `${apiVersion} ${JSON.stringify(object)}`;

async function converted(object: KubeObject, kind: Kind): Promise<KubeObject | ApiError> {
  try {
    const [result = object] = (await kind.webhook?.([object], kind.apiVersion)) ?? [];
    return kind.schema ? kind.schema.prune(result) : result;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
