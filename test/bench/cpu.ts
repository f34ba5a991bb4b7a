/** Processor time and memory of processes, from /proc. */
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, on every architecture that Node.js runs on. */
const MS_PER_TICK = 10;

/** Processor time of a process and of those it has started, also of those that have ended, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Of the process, in user and in system mode, then the same of its children that have ended.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * MS_PER_TICK + childrenOf(pid).reduce((sum, child) => sum + cpuMsOf(child), 0);
}

/** Greatest resident memory of a process so far, in bytes. */
export function peakBytesOf(pid: number): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

/** The sum of the greatest resident memory of a process and of those it has started and that still run, in bytes. */
export const peakBytesWithChildrenOf = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + peakBytesWithChildrenOf(child), peakBytesOf(pid));

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
