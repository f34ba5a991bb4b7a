/** The context that a reconciler receives besides its primary. */
import type { Clock } from '../../lib/clock.ts';
import { copy } from '../../lib/json.ts';
import type { Logger } from '../../observability/log.ts';
import { compareVersions } from '../cache/versions.ts';
import { NotWatchedError } from '../errors.ts';
import { isSameKind } from '../keys.ts';
import type { Recorder } from './recorder.ts';
import type { AttachedSource, Source } from '../sources/sources.ts';
import type { Client, Context, ControllerFacts, Key, Kind, Obj, View, Writer } from '../types.ts';

interface ContextFacts<P extends Obj> {
  readonly controller: ControllerFacts<P>;
  readonly clock: Clock;
  readonly live: Pick<Client, 'get' | 'list'>;
  readonly key: Key;
  readonly primary: View<P>;
  /** Creates its signals when the reconciler reads them. */
  readonly reconcile: Signals;
  readonly attempt: number;
  readonly lastAttempt: boolean;
  readonly log: Logger;
  readonly write: Writer;
  readonly recorder: Recorder;
  sources(): Iterable<{ readonly source: Source<P>; readonly attached: AttachedSource<P> }>;
}

type Signals = Pick<Context<Obj>, 'signal' | 'interrupt'>;

const RECONCILE = Symbol('run');
interface OfReconcile {
  readonly [RECONCILE]: Signals;
}

/**
 * A property of the context itself, so that a copy of the context has it, too. All contexts share the function,
 * because creating functions for each context takes longer than the rest of a short reconcile.
 */
const reconcileSignal = (name: keyof Signals): PropertyDescriptor & ThisType<OfReconcile> => ({
  enumerable: true,
  get() {
    return this[RECONCILE][name];
  },
});
const SIGNAL = reconcileSignal('signal');
const INTERRUPT = reconcileSignal('interrupt');

export function createContext<P extends Obj>(facts: ContextFacts<P>): Context<P> {
  const { controller, primary, recorder, key, clock, live, log, write } = facts;
  const { attempt, lastAttempt } = facts;
  const secondaries = <R extends Obj>(kind: Kind<R>, name?: string): readonly View<R>[] => {
    const fitting = [...facts.sources()].filter(
      ({ source }) =>
        source.kind && isSameKind(source.kind, kind) && (name === undefined || source.name === name),
    );
    if (fitting.length === 0) {
      const which = name === undefined ? '' : ` named ${name}`;
      throw new NotWatchedError({
        message: `controller ${controller.name} has no source${which} for ${kind.kind}`,
      });
    }
    const found = fitting.flatMap(({ attached }) => attached.of(primary)) as View<R>[];
    return fitting.length === 1 ? found : distinct(found);
  };
  const context: Omit<Context<P>, keyof Signals> & OfReconcile = {
    [RECONCILE]: facts.reconcile,
    key,
    controller,
    clock,
    live,
    attempt,
    lastAttempt,
    log,
    write,
    draft: () => copy(primary) as P,
    secondaries,
    secondary: (kind, name) => secondaries(kind, name)[0],
    valuesOf(name) {
      for (const { source, attached } of facts.sources())
        if (source.name === name) return attached.of(primary);
      throw new NotWatchedError({ message: `controller ${controller.name} has no source named ${name}` });
    },
    event(type, reason, note) {
      recorder.record({ regarding: primary, component: controller.name, type, reason, note });
    },
  };
  Object.defineProperty(context, 'signal', SIGNAL);
  Object.defineProperty(context, 'interrupt', INTERRUPT);
  return context as typeof context & Signals;
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
