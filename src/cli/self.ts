/** How the user called us, so that the commands we suggest can be copied as they are. */
import { basename, relative } from 'node:path';

/**
 * `espalier` when it was called by that name, else `node …/main.js` with the options of node.
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

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
