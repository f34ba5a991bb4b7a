/** Dependents that read from a bounded cache: the metadata is watched, complete objects are read when they are needed. */
import { DefinitionError } from '../runtime/errors.ts';
import { apiVersionOf, isSameKind } from '../runtime/keys.ts';
import type { Predicate } from '../runtime/sources/filters.ts';
import type { Mapper } from '../runtime/sources/mappers.ts';
import { watchSource } from '../runtime/sources/sources.ts';
import type { BoundedCache, Kind, Obj } from '../runtime/types.ts';
import { toPrimaryOf } from './ownership.ts';
import type { SourceChoice, SourceParts } from './source.ts';

/**
 * The objects of a bounded cache. Selectors and namespaces are those of the cache. Filters and mappers see the metadata
 * only; matchers, conditions and the other functions of the dependent receive complete objects. The watch belongs to the
 * cache, so it does not end with an activation condition.
 */
export interface BoundedReader<R extends Obj> {
  readonly cache: BoundedCache<R>;
  /** Which events of the objects queue their primaries. Default: all. */
  readonly filter?: Predicate<Obj>;
  /** The primaries of an object. Default: its owners, or those that its annotations name. */
  readonly toPrimary?: Mapper;
}

const nameOf = (kind: Kind<never> | Kind): string => `${kind.kind} of ${apiVersionOf(kind)}`;

/** The bounded reader of a dependent, if it has one. @throws DefinitionError when it contradicts other options */
export function boundedReaderOf<R extends Obj, P extends Obj>(
  choice: SourceChoice<R, P> & { readonly name: string; readonly client?: unknown },
): BoundedReader<R> | undefined {
  const { reader, kind, name } = choice;
  if (typeof reader !== 'object') return undefined;
  const refuse = (why: string): never => {
    throw new DefinitionError({ message: `dependent "${name}" reads from a bounded cache, ${why}` });
  };
  if (!isSameKind(reader.cache.kind, kind))
    refuse(`which holds ${nameOf(reader.cache.kind)}, not ${nameOf(kind)}`);
  for (const option of ['source', 'selector', 'namespaces', 'client'] as const)
    if (choice[option] !== undefined) refuse(`so it cannot have the option ${option}`);
  for (const option of ['filter', 'toPrimary'] as const)
    if (choice[option] !== undefined)
      refuse(`so its ${option} sees the metadata only; move it to the reader`);
  return reader;
}

/** Watches the metadata. */
export function boundedSource<R extends Obj, P extends Obj>(
  { cache, filter, toPrimary }: BoundedReader<R>,
  { name, kind }: { readonly name: string; readonly kind: Kind<R> },
  prefix: string,
  needsManagedFields: boolean,
): SourceParts<P> {
  const { metadata } = cache;
  const source = `${metadata.name}[bounded${filter || toPrimary ? ` for ${name}` : ''}]`;
  return {
    source,
    kind,
    reads: `${metadata.name}[bounded${toPrimary ? ` for ${name}` : ''}]`,
    createSource({ controller }) {
      const mapper = toPrimary ?? toPrimaryOf(controller.kind, prefix);
      const watched = { name: source, cache: metadata, toPrimary: mapper };
      return { source: watchSource<Obj, P>({ ...watched, ...(filter && { filter }) }) };
    },
    check({ controller: { fieldManager } }) {
      if (!needsManagedFields || cache.showsFieldsOf(fieldManager)) return;
      throw new DefinitionError({
        message: `dependent "${name}" compares by managed fields, which its bounded cache drops; give the cache the transform keepAppliedBy("${fieldManager}"), or the dependent another match`,
      });
    },
  };
}
