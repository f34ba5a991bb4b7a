/**
 * The conditions of an external resource, and which steps change them (pure). They inform users and other programs;
 * the runtime makes no decision based on them.
 */
import type { StatusCondition } from '../controller/status-condition.ts';
import type { View } from '../types.ts';
import type { ExternalState } from './types.ts';

/** Types of conditions of an external resource. */
export type ConditionType = 'Creating' | 'Updating' | 'Deleting' | 'Ready' | 'Failed' | 'Paused' | 'Synced';

/** Steps that change conditions. */
export type StepEvent = `begin ${'create' | 'update' | 'delete'}` | `observe ${ExternalState}` | Ending;
type Ending = 'in step' | 'succeed' | 'fail' | 'give up creating' | 'pause' | 'resume';

type Effect = Readonly<Partial<Record<ConditionType, boolean>>>;

/** Which conditions each step sets to true and false; the others stay unchanged. */
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
  /** Shows why the condition is false, even if it was never true. */
  isExplained?: boolean;
  /** Set in this reconcile, also to the same as before. */
  isNew?: boolean;
}

/** The conditions during one reconcile: the stored ones, and the changes since. */
export class Conditions {
  readonly #stored: readonly View<StatusCondition>[];
  readonly #flags = new Map<string, Flag>();

  constructor(stored: readonly View<StatusCondition>[]) {
    this.#stored = stored;
    for (const { type, status, reason, message } of stored) {
      this.#flags.set(type, { isActive: status === 'True', reason, message });
    }
  }

  /**
   * @param reason one word in CamelCase, for the conditions that become true
   * @param message a sentence without secrets
   */
  note(event: StepEvent, reason: string, message = ''): void {
    for (const [type, isActive] of Object.entries(effects[event])) {
      const flag = this.#flags.get(type);
      if (isActive) this.#flags.set(type, { isActive, reason, message, isNew: true });
      // A condition that was never true is not added with status False.
      else if (flag?.isActive) this.#flags.set(type, { isActive, reason, message: '', isNew: true });
    }
  }

  /** Sets a condition that is also shown, with its reason, if it is false and never was true. */
  set(type: ConditionType, isActive: boolean, reason: string, message = ''): void {
    this.#flags.set(type, { isActive, reason, message, isExplained: true, isNew: true });
  }

  /**
   * The conditions to store. An unchanged condition keeps its time, even if it changed in between.
   * @param now RFC 3339
   * @param generation of the object, for the conditions that this reconcile has set
   */
  render(now: string, generation?: number): StatusCondition[] {
    return [...this.#flags].map(([type, { isActive, reason, message, isExplained, isNew }]) => {
      const before = this.#stored.find((condition) => condition.type === type);
      const status = isActive ? 'True' : 'False';
      // A condition with status False keeps the reason for which it became false.
      if (before && !isActive && !isExplained && before.status !== 'True') return { ...before };
      const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
      const observed = isNew ? generation : before?.observedGeneration;
      return {
        type,
        status,
        ...(observed === undefined ? {} : { observedGeneration: observed }),
        lastTransitionTime,
        reason,
        message,
      };
    });
  }
}

/** Whether the object has the condition with status True. For tests and readers of objects. */
export const isActive = (
  object: View<{ status?: { conditions?: StatusCondition[] } }>,
  type: ConditionType,
): boolean =>
  object.status?.conditions?.some((each) => each.type === type && each.status === 'True') ?? false;
