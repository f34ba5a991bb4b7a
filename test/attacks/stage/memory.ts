/** The memory that a process of the product gets: that of its Deployment, held by the kernel or by us. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MemoryLimit {
  /** Who holds it, for the report. */
  readonly held: 'cgroup v2' | 'VmHWM and RSS in /proc';
  readonly bytes: number;
  /** The most that was used since the last call, in bytes. */
  takePeak(): number;
  /** Ends what watches; the process has ended. */
  release(): void;
}

const CGROUPS = '/sys/fs/cgroup';
const WATCH_EVERY_MS = 50;
const KIB = 1024;

/** Puts a process that has just started under a limit. Beyond it the process is killed, as in a pod. */
export const limitMemory = (pid: number, bytes: number): MemoryLimit =>
  cgroupLimit(pid, bytes) ?? watchedLimit(pid, bytes);

/** undefined where there is no cgroup v2 with the memory controller that we may write to */
function cgroupLimit(pid: number, bytes: number, root = CGROUPS): MemoryLimit | undefined {
  const folder = join(root, `espalier-attacks-${String(pid)}`);
  try {
    const controllers = readFileSync(join(root, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
    if (!controllers.includes('memory')) return undefined;
    mkdirSync(folder);
    writeFileSync(join(folder, 'memory.max'), String(bytes));
    const swap = join(folder, 'memory.swap.max');
    if (existsSync(swap)) writeFileSync(swap, '0');
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  } catch {
    if (existsSync(folder)) rmdirSync(folder);
    return undefined;
  }
  return {
    held: 'cgroup v2',
    bytes,
    takePeak: () => takeHighest(pid),
    release: () => {
      rmdirSync(folder);
    },
  };
}

function watchedLimit(pid: number, bytes: number): MemoryLimit {
  let highest = 0;
  const look = (): void => {
    const now = statusField(pid, 'VmHWM') ?? 0;
    highest = Math.max(highest, now);
    if (now > bytes) kill(pid);
  };
  const timer = setInterval(look, WATCH_EVERY_MS);
  return {
    held: 'VmHWM and RSS in /proc',
    bytes,
    takePeak() {
      look();
      const peak = highest;
      highest = 0;
      takeHighest(pid);
      return peak;
    },
    release: () => {
      clearInterval(timer);
    },
  };
}

/** The highest resident size since the last call, which the kernel then counts from the present one on. */
function takeHighest(pid: number): number {
  const peak = statusField(pid, 'VmHWM') ?? 0;
  try {
    writeFileSync(`/proc/${String(pid)}/clear_refs`, '5');
  } catch {
    // It has ended, or we may not: then the peak is that of its life.
  }
  return peak;
}

/** A line of /proc/PID/status in bytes; undefined when the process has ended. */
export function statusField(pid: number, name: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
    return kib === undefined ? undefined : Number(kib) * KIB;
  } catch {
    return undefined;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
