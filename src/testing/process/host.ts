/** What a simulated process takes from its machine: time, which ends with the process, and a log that reports bugs. */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/log.ts';
import type { Host } from '../network/exchange.ts';

/** A clock whose timers fire only while the process lives. */
interface HostClock {
  readonly clock: Clock;
  /** While it is true, new timers are ignored: for probes that tick forever and cannot measure virtual time. */
  isMuted: boolean;
}

export function hostClock(time: Clock, host: Host): HostClock {
  const state: HostClock = {
    isMuted: false,
    clock: {
      now: () => time.now(),
      wall: () => time.wall(),
      at(when, fn) {
        if (state.isMuted) return () => undefined;
        return time.at(when, () => {
          if (host.isAlive) fn();
        });
      },
    },
  };
  return state;
}

const FORESEEN = new Set(['some reconciles did not end in time and were abandoned']);

/** Reports errors in the log that indicate a bug of the program, not a failed request. */
export function bugReporter(onBug: (description: string) => void): Logger {
  const log: Logger = {
    trace() {},
    debug() {},
    info() {},
    warn() {},
    error(fields, message) {
      const { err } = fields as { err?: unknown };
      if (!FORESEEN.has(message) && isBug(err)) onBug(`${message}: ${describeError(err)}`);
    },
    child: () => log,
  };
  return log;
}

/** Whether an error, or its cause, is a mistake of the program, such as a change of a frozen object. */
export const isBug = (error: unknown): boolean =>
  error instanceof TypeError ||
  error instanceof RangeError ||
  error instanceof ReferenceError ||
  (error instanceof Error && error.cause !== undefined && isBug(error.cause));

export const describeError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
