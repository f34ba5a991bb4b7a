/** What a simulated process takes from its machine: time, which ends with the process, and a log that reports bugs. */
import type { Clock } from '../../lib/clock.ts';
import { programmingErrorIn } from '../../lib/programming-error.ts';
import { silentLogger, type Logger } from '../../observability/log.ts';
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

const LOST_STATUS = 'writing the status of a failed reconcile failed';
const FORESEEN = new Set(['some reconciles did not end in time and were abandoned']);

/** Reports errors in the log that indicate a bug of the program, not a failed request, and lost error statuses. */
export const bugReporter = (
  onBug: (description: string) => void,
  onFailure?: (description: string) => void,
): Logger =>
  loggerOf({
    error(fields, message) {
      const { err } = fields as { err?: unknown };
      if (!FORESEEN.has(message) && isBug(err)) onBug(`${message}: ${describeError(err)}`);
    },
    warn(fields, message) {
      const { err } = fields as { err?: unknown };
      if (message === LOST_STATUS) onFailure?.(`${message}: ${String(err)}`);
    },
  });

/** A log for some levels; the others are dropped. */
export function loggerOf(levels: Partial<Omit<Logger, 'child'>>): Logger {
  const log: Logger = { ...silentLogger, ...levels, child: () => log };
  return log;
}

/** The log for the author of an operator: passes everything on, and shows it in the trace. */
export function tracedLog(log: Logger, note: (line: () => string) => void, fields: object = {}): Logger {
  const level =
    (name: Exclude<keyof Logger, 'child'>) =>
    (more: object, message: string): void => {
      log[name](more, message);
      note(() => `${name}: ${message}${shown({ ...fields, ...more })}`);
    };
  return {
    trace: level('trace'),
    debug: level('debug'),
    info: level('info'),
    warn: level('warn'),
    error: level('error'),
    child: (more) => tracedLog(log.child(more), note, { ...fields, ...more }),
  };
}

function shown(fields: object): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `${name}=${value instanceof Error ? value.message : JSON.stringify(value)}`,
  );
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`;
}

/** Whether an error, or its cause, is a mistake of the program, such as a change of a frozen object. */
export const isBug = (error: unknown): boolean => programmingErrorIn(error) !== undefined;

export const describeError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
