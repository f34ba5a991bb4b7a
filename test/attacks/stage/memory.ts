/**
 * The memory limit of a process of the product and its workers: that of its Deployment, enforced by the kernel or by
 * us.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MemoryLimit {
  /** Who enforces it, for the report. */
  readonly held: 'cgroup v2' | 'sums of /proc';
  readonly bytes: number;
  /** Peak memory since the last call, in bytes. */
  takePeak(): number;
  /** Stops the watcher after the process has ended. */
  release(): void;
}

const CGROUPS = '/sys/fs/cgroup';
const WATCH_EVERY_MS = 25;
const KIB = 1024;

/** Puts a process that has just started under a limit. A process that exceeds it is killed, as in a pod. */
export const limitMemory = (pid: number, bytes: number): MemoryLimit =>
  cgroupLimit(pid, bytes) ?? watchedLimit(pid, bytes);

/** undefined without a writable cgroup v2 with the memory controller */
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
  const { takePeak, release } = watch(pid);
  return {
    held: 'cgroup v2',
    bytes,
    takePeak,
    release: () => {
      release();
      rmdirSync(folder);
    },
  };
}

const watchedLimit = (pid: number, bytes: number): MemoryLimit => ({
  held: 'sums of /proc',
  bytes,
  ...watch(pid, (now) => {
    if (now > bytes) kill(pid);
  }),
});

/** Polls the memory of a process and its children. */
function watch(
  pid: number,
  onLook: (bytes: number) => void = () => undefined,
): Pick<MemoryLimit, 'takePeak' | 'release'> {
  let highest = 0;
  const look = (): void => {
    const now = memoryOfFamily(pid);
    highest = Math.max(highest, now);
    onLook(now);
  };
  const timer = setInterval(look, WATCH_EVERY_MS);
  return {
    takePeak() {
      look();
      const peak = highest;
      highest = 0;
      return peak;
    },
    release: () => {
      clearInterval(timer);
    },
  };
}

/** What a cgroup would count: shared code of Node.js only once. */
const memoryOfFamily = (pid: number): number =>
  (statusField(pid, 'VmRSS') ?? 0) +
  childrenOf(pid).reduce((sum, child) => sum + (statusField(child, 'RssAnon') ?? 0), 0);

function childrenOf(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1');
    return children.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** A line of /proc/PID/status in bytes; undefined after the process has ended. */
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
