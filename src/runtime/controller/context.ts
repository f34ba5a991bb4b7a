/** The context that a reconciler receives besides its primary. */
import type { Clock } from '../../lib/clock.ts';
import { copy } from '../../lib/json.ts';
import type { Logger } from '../../observability/log.ts';
import { createReads, type LiveSources } from './reads.ts';
import type { Recorder } from './recorder.ts';
import type {
  Client,
  Context,
  ControllerFacts,
  ExpectationManager,
  Key,
  Obj,
  View,
  Writer,
} from '../types.ts';

interface ContextFacts<P extends Obj> {
  readonly controller: ControllerFacts<P>;
  readonly clock: Clock;
  readonly live: Pick<Client, 'get' | 'list'>;
  readonly key: Key;
  readonly primary: View<P>;
  /** Creates its signals when the reconciler reads them. */
  readonly reconcile: OnDemand;
  readonly attempt: number;
  readonly lastAttempt: boolean;
  readonly log: Logger;
  readonly write: Writer;
  readonly recorder: Recorder;
  readonly expectations: ExpectationManager<P>;
  sources(): LiveSources<P>;
}

/** Read from the reconcile each time. */
type OnDemand = Pick<Context<Obj>, 'signal' | 'interrupt' | 'hasNewEvents'>;

const RECONCILE = Symbol('run');
interface OfReconcile {
  readonly [RECONCILE]: OnDemand;
}

/**
 * A property of the context itself, so that a copy of the context has it, too. All contexts share the function,
 * because creating functions for each context takes longer than the rest of a short reconcile.
 */
const ofReconcile = (name: keyof OnDemand): PropertyDescriptor & ThisType<OfReconcile> => ({
  enumerable: true,
  get() {
    return this[RECONCILE][name];
  },
});
const ON_DEMAND = {
  signal: ofReconcile('signal'),
  interrupt: ofReconcile('interrupt'),
  hasNewEvents: ofReconcile('hasNewEvents'),
};

export function createContext<P extends Obj>(facts: ContextFacts<P>): Context<P> {
  const { controller, primary, recorder, key, clock, live, log, write } = facts;
  const { attempt, lastAttempt, expectations } = facts;
  const { secondaries, secondary, valuesOf } = createReads(controller.name, primary, () => facts.sources());
  const context: Omit<Context<P>, keyof OnDemand> & OfReconcile = {
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
    secondary,
    valuesOf,
    expectations,
    event(type, reason, note, options) {
      recorder.record({ regarding: primary, component: controller.name, type, reason, note, ...options });
    },
  };
  Object.defineProperties(context, ON_DEMAND);
  return context as typeof context & OnDemand;
}
