/** Sources of dependents in the controller's own cluster: watches, shared by dependents that read the same objects. */
import { DefinitionError } from '../runtime/errors.ts';
import { apiVersionOf } from '../runtime/keys.ts';
import type { Predicate } from '../runtime/sources/filters.ts';
import type { Mapper } from '../runtime/sources/mappers.ts';
import { watchSource, type Source, type WatchSource } from '../runtime/sources/sources.ts';
import { keepAppliedBy } from '../runtime/cache/transforms.ts';
import { namespaceText } from '../runtime/cache/source-name.ts';
import type { CacheOptions, Key, Kind, Obj, View } from '../runtime/types.ts';
import type { BoundedReader } from './bounded-reader.ts';
import type { Common, CreatedSource, Setup } from './dependent.ts';
import { toPrimaryOf } from './ownership.ts';

/** The source of a dependent in a cluster. */
export interface SourceChoice<R extends Obj, P extends Obj> {
  readonly kind: Kind<R>;
  /**
   * Name of the source. Dependents with the same name share it; if the controller has a source of that name, it is
   * used. `from` requires a source that the controller or another dependent provides: without it the controller does
   * not start. Default: one source for each kind, selector and mapping.
   */
  readonly source?: string | { readonly from: string };
  /** Label selector of the watched objects. */
  readonly selector?: string;
  readonly namespaces?: CacheOptions<R>['namespaces'];
  /**
   * Which events of the watched objects queue their primaries; all by default. The objects are read from the cache in any
   * case. A dependent with a filter has its own source.
   */
  readonly filter?: Predicate<R>;
  /**
   * The primaries of an object. Default: its owners, or those that its annotations name; with `toSecondary`, the primaries
   * that name it.
   */
  toPrimary?: Mapper<R>;
  /** The keys of the objects of a primary, if they do not name the primary, such as a name in its spec. */
  toSecondary?(primary: View<P>): readonly Key[];
  /**
   * `cache`, the default: watched. `live`: one request for each read, and no events; three or more reads with the
   * same selector at the same time share one list. A bounded reader: the metadata is watched, and complete objects are
   * requested if they are not in memory.
   */
  readonly reader?: 'cache' | 'live' | BoundedReader<R>;
  /** Phantom field for the type of the primary. */
  readonly primaryType?: P;
}

export type SourceParts<P extends Obj> = Required<Pick<Common<unknown, P>, 'source' | 'kind' | 'check'>> &
  Pick<Common<unknown, P>, 'createSource' | 'reads'>;

export function kubernetesSource<R extends Obj, P extends Obj>(
  choice: SourceChoice<R, P> & { readonly name: string },
  prefix: string,
  needsManagedFields: boolean,
): SourceParts<P> {
  const { kind, selector, namespaces } = choice;
  const isCreated = typeof choice.source !== 'object';
  const source = typeof choice.source === 'object' ? choice.source.from : (choice.source ?? nameOf(choice));
  const created = new WeakSet<Source<P>>();
  return {
    source,
    kind,
    ...(isCreated && { createSource }),
    // Both read all objects of the cache that belong to the primary.
    ...(choice.filter && choice.source === undefined && { reads: nameOf({ ...choice, filter: undefined }) }),
    check,
  };

  function createSource({ controller, caches, isSeparate }: Setup<P>): CreatedSource<P> {
    const options: CacheOptions<R> = {
      ...(selector && { labels: selector }),
      ...(namespaces && { namespaces }),
      transform: keepAppliedBy(controller.fieldManager),
    };
    const { cache, release } = isSeparate
      ? caches.separate(kind, options)
      : { cache: caches.of(kind, options), release: undefined };
    const watch = watchSource<R, P>({ name: source, cache, ...mappersOf(choice, controller.kind, prefix) });
    created.add(watch);
    return { source: watch, ...(release && { release }) };
  }

  function check({ controller }: Setup<P>, attached: Source<P> | undefined): void {
    if (!attached) return;
    if (choice.filter && !created.has(attached)) {
      throw new DefinitionError({
        message: `dependent "${choice.name}" has a filter, but source ${source} was created without it; leave out "source", or give that source the filter`,
      });
    }
    if (attached.kind?.kind !== kind.kind || attached.kind.group !== kind.group) {
      const holds = attached.kind
        ? `${attached.kind.kind} of ${apiVersionOf(attached.kind)}`
        : 'no objects of a cluster';
      throw new DefinitionError({
        message: `dependent "${choice.name}" reads ${kind.kind} of ${apiVersionOf(kind)} from source ${source}, which holds ${holds}`,
      });
    }
    if (needsManagedFields && attached.cache && !attached.cache.showsFieldsOf(controller.fieldManager)) {
      throw new DefinitionError({
        message: `dependent "${choice.name}" compares by managed fields, which source ${source} drops; give its cache the transform keepAppliedBy("${controller.fieldManager}"), or the dependent another match`,
      });
    }
  }
}

function mappersOf<R extends Obj, P extends Obj>(
  choice: SourceChoice<R, P>,
  kind: Kind<P>,
  prefix: string,
): Pick<WatchSource<R, P>, 'toPrimary' | 'toSecondary' | 'filter'> {
  const { filter } = choice;
  const toSecondary = choice.toSecondary?.bind(choice);
  const toPrimary = choice.toPrimary?.bind(choice) ?? (toSecondary ? undefined : toPrimaryOf(kind, prefix));
  return { ...(toPrimary && { toPrimary }), ...(toSecondary && { toSecondary }), ...(filter && { filter }) };
}

/** Dependents that read the same objects have the same default name, so they share a source. */
function nameOf<R extends Obj, P extends Obj>(
  choice: Omit<SourceChoice<R, P>, 'filter'> & {
    readonly name: string;
    readonly filter?: object | undefined;
  },
): string {
  const { kind, selector, namespaces, name } = choice;
  const base = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
  const parts = [
    namespaces && namespaceText(namespaces),
    selector,
    (choice.toPrimary ?? choice.toSecondary) && `by ${name}`,
    choice.filter !== undefined && `filter of ${name}`,
  ];
  return base + parts.map((part) => (part ? `[${part}]` : '')).join('');
}
