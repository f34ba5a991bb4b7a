/**
 * The conditions of an external resource: what they are, and which change when (pure). They tell people and other
 * programs how things stand; no decision here reads them.
 */
import type { View } from '../types.ts';
import type { ExternalState } from './types.ts';

/** What can be the case with an external resource. */
export type ConditionType = 'Creating' | 'Updating' | 'Deleting' | 'Ready' | 'Failed' | 'Paused';

/** In the form of Kubernetes' `metav1.Condition`; each type is there at most once. */
export interface Condition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  /** When the status last changed, RFC 3339. */
  lastTransitionTime: string;
  /** One word in CamelCase. */
  reason: string;
  message: string;
}

/** What happens to an external resource, as far as conditions are concerned. */
export type StepEvent = `begin ${'create' | 'update' | 'delete'}` | `observe ${ExternalState}` | Ending;
type Ending = 'in step' | 'succeed' | 'fail' | 'give up creating' | 'pause' | 'resume';

type Effect = Readonly<Partial<Record<ConditionType, boolean>>>;

/** What each happening switches on and off; what it does not name stays as it is. */
const effects: Readonly<Record<StepEvent, Effect>> = {
  'begin create': { Creating: true, Updating: false, Ready: false },
  'begin update': { Updating: true },
  'begin delete': { Deleting: true, Creating: false, Updating: false, Ready: false },
  'observe creating': { Creating: true, Ready: false },
  'observe ready': { Ready: true, Creating: false },
  'observe updating': { Updating: true, Creating: false, Ready: false },
  'observe deleting': { Creating: false, Updating: false, Ready: false },
  'observe failed': { Failed: true, Creating: false, Ready: false },
  'observe unknown': { Ready: false },
  'in step': { Updating: false },
  succeed: { Failed: false },
  fail: { Failed: true },
  'give up creating': { Failed: true, Creating: false },
  pause: { Paused: true },
  resume: { Paused: false },
};

interface Flag {
  isActive: boolean;
  reason: string;
  message: string;
}

/** The conditions of one run: what was stored, and what has happened since. */
export class Conditions {
  readonly #stored: readonly View<Condition>[];
  readonly #flags = new Map<string, Flag>();

  constructor(stored: readonly View<Condition>[]) {
    this.#stored = stored;
    for (const { type, status, reason, message } of stored) {
      this.#flags.set(type, { isActive: status === 'True', reason, message });
    }
  }

  /**
   * @param reason one word in CamelCase for the conditions that this switches on
   * @param message a sentence without secrets
   */
  note(event: StepEvent, reason: string, message = ''): void {
    for (const [type, isActive] of Object.entries(effects[event])) {
      const flag = this.#flags.get(type);
      if (isActive) this.#flags.set(type, { isActive, reason, message });
      // What was never the case needs no entry that says so.
      else if (flag?.isActive) this.#flags.set(type, { isActive, reason, message: '' });
    }
  }

  /**
   * As they are to be stored. What is as it was keeps its time, whatever happened in between.
   * @param now RFC 3339
   */
  render(now: string): Condition[] {
    return [...this.#flags].map(([type, { isActive, reason, message }]) => {
      const before = this.#stored.find((condition) => condition.type === type);
      const status = isActive ? 'True' : 'False';
      // An inactive condition keeps the reason for which it ended.
      if (before && !isActive && before.status !== 'True') return { ...before };
      const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
      return { type, status, lastTransitionTime, reason, message };
    });
  }
}

/** Whether the object carries the condition and it is the case. For tests and for readers of objects. */
export const isActive = (
  object: View<{ status?: { conditions?: Condition[] } }>,
  type: ConditionType,
): boolean =>
  object.status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
