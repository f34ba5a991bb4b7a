/**
 * How much processor time a worker has used: its main thread, without what V8 does beside it. A worker that others keep
 * from running uses none, so a limit of it ends only what takes long by itself. Linux tells in /proc; elsewhere a share of
 * the time that has passed stands for it.
 */
import { openSync, readFileSync, readlinkSync, readSync } from 'node:fs';

/** Where the system does not tell, a worker counts as having run a third of the time. */
const SHARE_ELSEWHERE = 1 / 3;

/** The unit of /proc/PID/stat for programs, whatever the kernel counts in. */
const TICK_MS = 10;

/** The thread that asks, as the others may ask for it; undefined where the system does not tell. */
export function ownThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1);
  } catch {
    return undefined;
  }
}

/** Milliseconds of processor time since the start of a thread; undefined when it cannot be told. @param thread its id, of the system */
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

/** What stands for processor time where it cannot be told. @param passedMs time that has passed */
export const estimatedCpuMs = (passedMs: number): number => passedMs * SHARE_ELSEWHERE;

/** A clock of the processor time of the thread that asks, for use by this thread alone. */
export function ownCpuClock(): () => number {
  const read = ownReader();
  if (!read) return () => estimatedCpuMs(performance.now());
  let at = -Infinity;
  let cpuMs = 0;
  // Limits ask often. A look costs microseconds, and time that has hardly passed has hardly been used.
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
      // The next one may be there.
    }
  }
  return undefined;
}

/** Nanoseconds on the processor come first; kernels that do not count say 0. */
export function fromSchedstat(text: string): number | undefined {
  const ms = Number(text.split(' ', 1)[0]) / 1e6;
  return ms > 0 ? ms : undefined;
}

/** Time in user mode and in the kernel are fields 14 and 15; the second one, in parentheses, may hold anything. */
export function fromStat(text: string): number | undefined {
  const [, , , , , , , , , , , user, system] = text
    .slice(text.lastIndexOf(')') + 1)
    .trim()
    .split(' ');
  const ms = (Number(user) + Number(system)) * TICK_MS;
  return Number.isFinite(ms) ? ms : undefined;
}
