/** How the user started this program, so that suggested commands can be copied. */
import { basename, relative } from 'node:path';

/**
 * `espalier` if the program was started by that name, otherwise `node …/main.js` with the options of node.
 * @param argv as in `process.argv`
 * @param execArgv as in `process.execArgv`
 */
export function selfCommand(
  argv: readonly string[] = process.argv,
  execArgv: readonly string[] = process.execArgv,
  cwd = process.cwd(),
): string {
  const script = argv[1] ?? '';
  const name = basename(script);
  if (name === 'espalier') return name;
  if (name === 'kubectl-espalier') return 'kubectl espalier';
  const near = relative(cwd, script);
  const path = near.startsWith('..') ? script : near;
  return ['node', ...execArgv, path].map(quoted).join(' ');
}

/** Quotes a word for a shell. */
export const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
