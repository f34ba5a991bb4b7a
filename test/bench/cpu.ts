/** Processor time of processes, from /proc. */
import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, on every architecture that Node.js runs on. */
const MS_PER_TICK = 10;

/** Processor time of a process and of those it has started, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return (user + system) * MS_PER_TICK + children.reduce((sum, child) => sum + cpuMsOf(Number(child)), 0);
}
