/** What a reconciler gets to work with besides its primary. */
import { copy } from '../lib/json.ts';
import type { Logger } from '../observability/log.ts';
import { NotWatchedError } from './errors.ts';
import { isSameKind } from './keys.ts';
import type { Recorder } from './recorder.ts';
import type { AttachedSource, Source } from './sources.ts';
import type { Context, Key, Kind, Obj, View, Writer } from './types.ts';

export interface ContextFacts<P extends Obj> {
  readonly controller: string;
  readonly key: Key;
  readonly primary: View<P>;
  readonly signal: AbortSignal;
  readonly interrupt: AbortSignal;
  readonly attempt: number;
  readonly lastAttempt: boolean;
  readonly log: Logger;
  readonly write: Writer;
  readonly recorder: Recorder;
  sources(): Iterable<{ readonly source: Source<P>; readonly attached: AttachedSource<P> }>;
}

export function createContext<P extends Obj>(facts: ContextFacts<P>): Context<P> {
  const { controller, primary, recorder, key, signal, interrupt, attempt, lastAttempt, log, write } = facts;
  const secondaries = <R extends Obj>(kind: Kind<R>, name?: string): readonly View<R>[] => {
    const fitting = [...facts.sources()].filter(
      ({ source }) =>
        source.kind && isSameKind(source.kind, kind) && (name === undefined || source.name === name),
    );
    if (fitting.length === 0) {
      const which = name === undefined ? '' : ` named ${name}`;
      throw new NotWatchedError(`controller ${controller} has no source${which} for ${kind.kind}`);
    }
    const found = fitting.flatMap(({ attached }) => attached.of(primary)) as View<R>[];
    return fitting.length === 1 ? found : distinct(found);
  };
  return {
    key,
    signal,
    interrupt,
    attempt,
    lastAttempt,
    log,
    write,
    draft: () => copy(primary) as P,
    secondaries,
    secondary: (kind, name) => secondaries(kind, name)[0],
    event(type, reason, note) {
      recorder.record({ regarding: primary, component: controller, type, reason, note });
    },
  };
}

/** Overlapping sources deliver the same object more than once. */
function distinct<R extends Obj>(objects: readonly View<R>[]): View<R>[] {
  return [...new Map(objects.map((obj) => [obj.metadata.uid ?? obj.metadata.name, obj])).values()];
}
