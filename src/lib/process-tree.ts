/** A process with all that it has started, found in /proc. Where there is no /proc, a tree is the process alone. */
import { readdirSync, readFileSync } from 'node:fs';

/** The process itself comes first. A process whose parent has ended belongs to no tree. */
function processesBelow(pid: number): readonly number[] {
  const parents = new Map(runningProcesses().map((each) => [each, parentOf(each)]));
  const found = new Set([pid]);
  // An iteration over a set also reaches what is added meanwhile.
  for (const parent of found)
    for (const [each, itsParent] of parents) if (itsParent === parent) found.add(each);
  return [...found];
}

/** Memory in bytes that the processes of the tree do not share with files; 0 if it is unknown. */
export const memoryOfTree = (pid: number): number =>
  processesBelow(pid).reduce((sum, each) => sum + anonymousBytes(each), 0);

/** Kills the tree, and the process groups that its processes lead. */
export function killTree(pid: number): void {
  // A stopped process starts no others while its tree is read.
  signalIfRunning(pid, 'SIGSTOP');
  for (const each of processesBelow(pid).toReversed()) {
    killGroup(each);
    signalIfRunning(each, 'SIGKILL');
  }
}

/** Kills a process group, which can contain what its ended leader left behind. */
export function killGroup(leader: number): void {
  signalIfRunning(-leader, 'SIGKILL');
}

function runningProcesses(): readonly number[] {
  try {
    return readdirSync('/proc').filter(isNumber).map(Number);
  } catch {
    return [];
  }
}

const isNumber = (name: string): boolean => /^\d+$/.test(name);

/** 0 if the process has ended. */
const parentOf = (pid: number): number => numberIn(pid, /^PPid:\s+(\d+)$/m);

const anonymousBytes = (pid: number): number => numberIn(pid, /^RssAnon:\s+(\d+) kB$/m) * 1024;

function numberIn(pid: number, pattern: RegExp): number {
  try {
    return Number(pattern.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** @param id a process, or with a minus sign a process group */
function signalIfRunning(id: number, signal: NodeJS.Signals): void {
  try {
    process.kill(id, signal);
  } catch {
    // It has ended.
  }
}
