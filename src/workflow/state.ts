/**
 * Storage for values that only the dependent knows, such as an id assigned by an external service: one ConfigMap or
 * Secret for each resource, owned by the primary, and read again after a restart.
 */
import { sha1Name } from '../lib/hash.ts';
import { ConfigMap, Secret } from '../runtime/core-kinds.ts';
import { AlreadyExists, NotFound } from '../runtime/errors.ts';
import { apiVersionOf, joinKey, keyOf } from '../runtime/keys.ts';
import { byOwner } from '../runtime/sources/mappers.ts';
import { getIfThere } from '../runtime/transport/read.ts';
import { watchSource } from '../runtime/sources/sources.ts';
import type { Context, Kind, Obj, View } from '../runtime/types.ts';
import { dependentError, type Common, type Setup } from './dependent.ts';
import { ANNOTATION_PREFIX, withOwner, STATE_LABEL } from './ownership.ts';

/** The stored values of one resource. */
export type State = Readonly<Record<string, string>>;

/** Where the ids of external dependents are stored. */
export interface StateChoice {
  /** Default `ConfigMap`. */
  readonly kind?: 'ConfigMap' | 'Secret';
  /** Namespace for primaries without a namespace. */
  readonly namespace?: string;
}

interface StateObject extends Obj {
  data?: Record<string, string>;
}

/** A stored state; `isPending`: the resource is being created, or was when the process ended. */
export interface Stored {
  readonly item: string;
  readonly state: State;
  readonly isPending: boolean;
  readonly object: View<StateObject>;
}

const DEPENDENT = `${ANNOTATION_PREFIX}/state-of`;
const ITEM = `${ANNOTATION_PREFIX}/state-item`;
const PENDING = `${ANNOTATION_PREFIX}/pending`;

const kinds: Readonly<Record<'ConfigMap' | 'Secret', Kind<StateObject>>> = {
  ConfigMap: ConfigMap,
  Secret: Secret,
};

export class StateStore<P extends Obj> {
  readonly #name: string;
  readonly #kind: Kind<StateObject>;
  readonly #namespace: string | undefined;
  readonly source: string;

  constructor(dependent: string, choice: StateChoice) {
    this.#name = dependent;
    this.#kind = kinds[choice.kind ?? 'ConfigMap'];
    this.#namespace = choice.namespace;
    this.source = `state in ${this.#kind.plural}`;
  }

  /** The source, which is synced before those of stage `normal` start. */
  readonly parts: Required<Pick<Common<unknown, P>, 'createSource'>> = {
    createSource: ({ controller, caches }: Setup<P>) => ({
      source: watchSource<StateObject, P>({
        name: this.source,
        cache: caches.of(this.#kind, { labels: STATE_LABEL }),
        toPrimary: byOwner(controller.kind),
        stage: 'state',
      }),
    }),
  };

  /** The stored states for the primary, by item. */
  all(ctx: Context<P>): ReadonlyMap<string, Stored> {
    const mine = ctx
      .secondaries(this.#kind, this.source)
      .filter(({ metadata }) => metadata.annotations?.[DEPENDENT] === this.#name);
    return new Map(mine.map((object) => this.#stored(object)).map((stored) => [stored.item, stored]));
  }

  /** `ConfigMap ns/a-bucket` */
  describe({ object }: Stored): string {
    return `${this.#kind.kind} ${keyOf(object)}`;
  }

  /** Stores `state`; undefined marks that the resource is about to be created, an empty state that there is none. */
  async keep(item: string, state: State | undefined, p: View<P>, ctx: Context<P>): Promise<void> {
    const wanted = this.#objectFor(item, state, p, ctx);
    const present = this.all(ctx).get(item)?.object;
    if (present) return this.#overwrite(present, wanted, ctx);
    try {
      await ctx.write({ verb: 'create', kind: this.#kind, object: wanted });
    } catch (error) {
      if (!(error instanceof AlreadyExists)) throw error;
      const found = await getIfThere(ctx.live, this.#kind, keyOf(wanted as View<Obj>), ctx.signal);
      if (!found || !this.#isOurs(found, item, p)) {
        const what = `${this.#kind.kind} ${keyOf(wanted)}, which should store its state, belongs to another owner; rename one of them`;
        throw dependentError({ name: this.#name }, p, ctx, what, { cause: error });
      }
      await this.#overwrite(found, wanted, ctx);
    }
  }

  async drop({ object }: Stored, ctx: Context<P>): Promise<void> {
    const { uid } = object.metadata;
    try {
      await ctx.write({ verb: 'delete', kind: this.#kind, key: keyOf(object), ...(uid && { uid }) });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  /** Another dependent of the same primary may use the same name: `a-b` with item `c`, and `a` with `b-c`. */
  #isOurs({ metadata }: View<StateObject>, item: string, p: View<P>): boolean {
    const { ownerReferences = [], annotations = {} } = metadata;
    const isOwned = ownerReferences.some(({ uid }) => uid === p.metadata.uid);
    return isOwned && annotations[DEPENDENT] === this.#name && (annotations[ITEM] ?? '') === item;
  }

  async #overwrite(present: View<StateObject>, wanted: StateObject, ctx: Context<P>): Promise<void> {
    const { resourceVersion } = present.metadata;
    const gone = Object.keys(present.data ?? {}).filter((key) => !(key in (wanted.data ?? {})));
    const body = {
      metadata: { resourceVersion, annotations: { [PENDING]: null, ...wanted.metadata.annotations } },
      data: { ...Object.fromEntries(gone.map((key) => [key, null])), ...wanted.data },
    };
    await ctx.write({ verb: 'merge', kind: this.#kind, key: keyOf(present), body, lock: true });
  }

  #stored(object: View<StateObject>): Stored {
    const { annotations = {} } = object.metadata;
    const decode = (value: string): string =>
      this.#kind.kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value;
    return {
      item: annotations[ITEM] ?? '',
      isPending: annotations[PENDING] !== undefined,
      state: Object.fromEntries(
        Object.entries(object.data ?? {}).map(([key, value]) => [key, decode(value)]),
      ),
      object,
    };
  }

  #objectFor(item: string, state: State | undefined, p: View<P>, ctx: Context<P>): StateObject {
    const namespace = p.metadata.namespace ?? this.#namespace;
    if (!namespace) {
      const what = 'a cluster-scoped primary needs a namespace for its state; set the namespace of the state';
      throw dependentError({ name: this.#name }, p, ctx, what);
    }
    const encode = (value: string): string =>
      this.#kind.kind === 'Secret' ? Buffer.from(value).toString('base64') : value;
    const object: StateObject = {
      apiVersion: apiVersionOf(this.#kind),
      kind: this.#kind.kind,
      metadata: {
        namespace,
        name: nameFor([p.metadata.name, this.#name, item]),
        labels: { [STATE_LABEL]: 'kept' },
        annotations: { [DEPENDENT]: this.#name, [ITEM]: item, ...(!state && { [PENDING]: 'yes' }) },
      },
      data: Object.fromEntries(Object.entries(state ?? {}).map(([key, value]) => [key, encode(value)])),
    };
    return withOwner(object, { name: this.#name, gc: true, prefix: ANNOTATION_PREFIX }, p, ctx);
  }
}

const VALID_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_NAME = 200;

/** `a-bucket-1`, or with a hash if that is not a valid object name. */
function nameFor(parts: readonly string[]): string {
  const plain = parts.filter((part) => part !== '').join('-');
  if (VALID_NAME.test(plain) && plain.length <= MAX_NAME) return plain;
  return `state-${sha1Name(joinKey(parts[0], parts.slice(1).join('/')))}`;
}
