/**
 * Measures the processor time of a worker's main thread, without V8's background threads. A worker that gets no
 * processor uses no time, so a limit only stops work that is expensive itself. On Linux, /proc provides the time;
 * on other systems it is estimated as a share of the elapsed time.
 */
import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** On other systems, a worker counts as running for a third of the time. */
const SHARE_ELSEWHERE = 1 / 3;

/** The unit of /proc/PID/stat, whatever the kernel's clock rate. */
const TICK_MS = 10;

/** The id of the current thread, for other threads; undefined if the system does not provide it. */
export function ownThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/**
 * Milliseconds of processor time since the start of a thread; undefined if it cannot be determined.
 * @param thread its system id
 */
export function cpuTimeOf(thread: string): number | undefined {
  try {
    const folder = `/proc/${thread}/task/${thread}`;
    return (
      fromSchedstat(readFileSync(`${folder}/schedstat`, 'latin1')) ??
      fromStat(readFileSync(`${folder}/stat`, 'latin1'))
    );
  } catch {
    return undefined;
  }
}

/** Estimate for systems without /proc. @param passedMs elapsed time */
export const estimatedCpuMs = (passedMs: number): number => passedMs * SHARE_ELSEWHERE;

/** A clock of the current thread's processor time, for use by this thread only. */
export function ownCpuClock(): () => number {
  const read = ownReader();
  if (!read) return () => estimatedCpuMs(performance.now());
  let at = -Infinity;
  let cpuMs = 0;
  // Limits check the clock often, and reading /proc takes microseconds. After little elapsed time, the value has
  // hardly changed.
  return () => {
    const now = performance.now();
    if (now - at < FRESH_MS) return cpuMs;
    at = now;
    cpuMs = read() ?? cpuMs;
    return cpuMs;
  };
}

const FRESH_MS = 2;

function ownReader(): (() => number | undefined) | undefined {
  const files = [
    ['schedstat', fromSchedstat],
    ['stat', fromStat],
  ] as const;
  for (const [name, parse] of files) {
    try {
      const file = openSync(`/proc/thread-self/${name}`, 'r');
      const buffer = Buffer.alloc(1024);
      const read = (): number | undefined =>
        parse(buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0)));
      if (read() !== undefined) return read;
    } catch {
      // try the next file
    }
  }
  return undefined;
}

/** The first field is the time on the processor in nanoseconds; kernels that do not count it report 0. */
export function fromSchedstat(text: string): number | undefined {
  const ms = Number(text.split(' ', 1)[0]) / 1e6;
  return ms > 0 ? ms : undefined;
}

/** User and kernel time are fields 14 and 15; the second field, in parentheses, may contain any characters. */
export function fromStat(text: string): number | undefined {
  const [, , , , , , , , , , , user, system] = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(' ');
  const ms = (Number(user) + Number(system)) * TICK_MS;
  return Number.isFinite(ms) ? ms : undefined;
}
