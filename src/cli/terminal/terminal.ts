/** The terminal or other output of a command, and its capabilities. */
import { createInterface } from 'node:readline';
import pico from 'picocolors';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { printableLines } from '../../lib/printable.ts';

export type Paint = ReturnType<typeof pico.createColors>;

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time that the user waits. */
  readonly clock: Clock;
  /** Whether standard output is a terminal that can be redrawn. */
  readonly isLive: boolean;
  /** Size in characters; 120 by 40 if the output is not a terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** Colours for standard error. */
  readonly paintError: Paint;
  /** Writes to standard output, unchanged: control sequences, and text that is safe. */
  control(text: string): void;
  /** Writes to standard output, without a line break at the end. */
  write(text: string): void;
  /** Writes one or more lines to standard output. */
  print(text: string): void;
  /** Writes one or more lines to standard error. */
  warn(text: string): void;
  /** The user's answer to the question; undefined without a terminal for input. */
  ask(question: string): Promise<string | undefined>;
  /** Whether errors are shown with their stack. */
  isVerbose: boolean;
}

const DEFAULT_COLUMNS = 120;
const DEFAULT_ROWS = 40;

export function systemTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  const shown = (text: string, stream: { readonly isTTY?: boolean }): string =>
    stream.isTTY ? printableLines(text) : text;
  return {
    env,
    clock: systemClock,
    isLive: stdout.isTTY && env['TERM'] !== 'dumb',
    get columns() {
      return stdout.columns || DEFAULT_COLUMNS;
    },
    get rows() {
      return stdout.rows || DEFAULT_ROWS;
    },
    paint: pico.createColors(hasColours(stdout.isTTY, env)),
    paintError: pico.createColors(hasColours(stderr.isTTY, env)),
    control: (text) => void stdout.write(text),
    write: (text) => void stdout.write(shown(text, stdout)),
    print: (text) => void stdout.write(`${shown(text, stdout)}\n`),
    warn: (text) => void stderr.write(`${shown(text, stderr)}\n`),
    ask: async (question) => {
      if (!process.stdin.isTTY) return undefined;
      const lines = createInterface({ input: process.stdin, output: stderr });
      try {
        return await new Promise((resolve) => {
          lines.once('close', () => {
            stderr.write('\n'); // After Ctrl-D or Ctrl-C, the next output starts on a new line
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
 * Whether to write colours: NO_COLOR disables them, FORCE_COLOR enables them, otherwise terminals except dumb ones
 * get them.
 * @param isTerminal isTTY of a stream, which is undefined for pipes and files
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
 * The same terminal for commands with progress and results: if standard output is not a terminal, only results go
 * there, and progress goes to standard error.
 */
export const withProgressOnStderr = (terminal: Terminal): Terminal =>
  terminal.isLive
    ? terminal
    : Object.assign(Object.create(terminal) as Terminal, {
        print: (text: string) => {
          terminal.warn(text);
        },
      });
