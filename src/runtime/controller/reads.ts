/** What can be read about a primary without a request: the objects and values of its sources. */
import { compareVersions } from '../cache/versions.ts';
import { NotWatchedError } from '../errors.ts';
import { isSameKind } from '../keys.ts';
import type { AttachedSource, Source } from '../sources/sources.ts';
import type { CacheReads, Kind, Obj, View } from '../types.ts';

export type LiveSources<P extends Obj> = Iterable<{
  readonly source: Source<P>;
  readonly attached: AttachedSource<P>;
}>;

/** @param controller its name, for errors */
export function createReads<P extends Obj>(
  controller: string,
  primary: View<P>,
  sources: () => LiveSources<P>,
): CacheReads {
  const secondaries = <R extends Obj>(kind: Kind<R>, name?: string): readonly View<R>[] => {
    const fitting = [...sources()].filter(
      ({ source }) =>
        source.kind && isSameKind(source.kind, kind) && (name === undefined || source.name === name),
    );
    if (fitting.length === 0) {
      const which = name === undefined ? '' : ` named ${name}`;
      throw new NotWatchedError({
        message: `controller ${controller} has no source${which} for ${kind.kind}`,
      });
    }
    const found = fitting.flatMap(({ attached }) => attached.of(primary)) as View<R>[];
    return fitting.length === 1 ? found : distinct(found);
  };
  return {
    secondaries,
    secondary: (kind, name) => secondaries(kind, name)[0],
    valuesOf(name) {
      for (const { source, attached } of sources()) if (source.name === name) return attached.of(primary);
      throw new NotWatchedError({ message: `controller ${controller} has no source named ${name}` });
    },
  };
}

/**
 * Overlapping sources deliver the same object more than once, perhaps in different versions: the newest wins; if versions
 * cannot be compared, that of the last source.
 */
function distinct<R extends Obj>(objects: readonly View<R>[]): View<R>[] {
  const newest = new Map<string, View<R>>();
  for (const obj of objects) {
    const id = obj.metadata.uid ?? obj.metadata.name;
    const order = compareVersions(obj.metadata.resourceVersion, newest.get(id)?.metadata.resourceVersion);
    if (order === undefined || order >= 0) newest.set(id, obj);
  }
  return [...newest.values()];
}
