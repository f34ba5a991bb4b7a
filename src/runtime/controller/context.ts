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
  readonly reconcile: Signals;
  readonly attempt: number;
  readonly lastAttempt: boolean;
  readonly log: Logger;
  readonly write: Writer;
  readonly recorder: Recorder;
  readonly expectations: ExpectationManager<P>;
  sources(): LiveSources<P>;
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
  const { attempt, lastAttempt, expectations } = facts;
  const { secondaries, secondary, valuesOf } = createReads(controller.name, primary, () => facts.sources());
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
    secondary,
    valuesOf,
    expectations,
    event(type, reason, note) {
      recorder.record({ regarding: primary, component: controller.name, type, reason, note });
    },
  };
  Object.defineProperty(context, 'signal', SIGNAL);
  Object.defineProperty(context, 'interrupt', INTERRUPT);
  return context as typeof context & Signals;
}
