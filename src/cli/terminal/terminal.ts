/** Where commands write to, and what that place can show. */
import { createInterface } from 'node:readline';
import pico from 'picocolors';

export type Paint = ReturnType<typeof pico.createColors>;

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether standard output is a terminal that can be redrawn. */
  readonly isLive: boolean;
  /** Size in characters; 120 by 40 when the output is no terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** Colours for standard error. */
  readonly paintError: Paint;
  /** Writes to standard output as it is. */
  write(text: string): void;
  /** Writes one line, or several, to standard output. */
  print(text: string): void;
  /** Writes one line, or several, to standard error. */
  warn(text: string): void;
  /** The line that somebody types behind the question; undefined when nobody is there to ask. */
  ask(question: string): Promise<string | undefined>;
  /** Whether errors are shown with their stack. */
  isVerbose: boolean;
}

const DEFAULT_COLUMNS = 120;
const DEFAULT_ROWS = 40;

export function systemTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  return {
    env,
    isLive: stdout.isTTY && env['TERM'] !== 'dumb',
    get columns() {
      return stdout.columns || DEFAULT_COLUMNS;
    },
    get rows() {
      return stdout.rows || DEFAULT_ROWS;
    },
    paint: pico.createColors(hasColours(stdout.isTTY, env)),
    paintError: pico.createColors(hasColours(stderr.isTTY, env)),
    write: (text) => void stdout.write(text),
    print: (text) => void stdout.write(`${text}\n`),
    warn: (text) => void stderr.write(`${text}\n`),
    ask: async (question) => {
      if (!process.stdin.isTTY) return undefined;
      const lines = createInterface({ input: process.stdin, output: stderr });
      try {
        return await new Promise((resolve) => {
          lines.once('close', () => {
            stderr.write('\n'); // Ctrl-D, Ctrl-C: what follows begins on a line of its own
            resolve('');
          });
          lines.question(question, (answer) => {
            lines.removeAllListeners('close');
            resolve(answer);
          });
        });
      } finally {
        lines.close();
      }
    },
    isVerbose: false,
  };
}

/**
 * Whether to write colours: NO_COLOR forbids, FORCE_COLOR demands, else a terminal that is not dumb has them.
 * @param isTerminal what Node.js says of a stream, which is undefined for pipes and files
 * @see https://no-color.org
 */
export function hasColours(
  isTerminal: boolean | undefined,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false;
  if (env['FORCE_COLOR']) return env['FORCE_COLOR'] !== '0';
  return isTerminal === true && env['TERM'] !== 'dumb';
}

/**
 * The same terminal with progress out of the way of results: what is no terminal gets the results alone, and lines about
 * progress go to standard error.
 */
export const asideOf = (terminal: Terminal): Terminal =>
  terminal.isLive
    ? terminal
    : Object.assign(Object.create(terminal) as Terminal, {
        print: (text: string) => {
          terminal.warn(text);
        },
      });
