/** Ends a command that has found mistakes in files. */
import { CommandError } from '../../errors.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/**
 * Prints the problems first if there are several.
 * @param consequence such as `nothing was changed`
 * @throws CommandError if there are problems
 */
export function refuse(problems: readonly string[], terminal: Terminal, consequence: string): void {
  const [first] = problems;
  if (first === undefined) return;
  if (problems.length === 1) throw new CommandError(`${first}; ${consequence}`);
  for (const problem of problems) terminal.warn(problem);
  throw new CommandError(`${String(problems.length)} mistakes in the files; ${consequence}`);
}
