/** A terminal that records its output. */
import pico from 'picocolors';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';

export interface FakeTerminal extends Terminal {
  /** Standard output so far. */
  output: string;
  /** Standard error so far. */
  errors: string;
}

export function fakeTerminal(
  settings: Partial<Pick<Terminal, 'env' | 'isLive' | 'columns' | 'rows' | 'ask'>> = {},
): FakeTerminal {
  const terminal: FakeTerminal = {
    env: {},
    isLive: false,
    columns: 80,
    rows: 24,
    ask: () => Promise.resolve(undefined),
    ...settings,
    paint: pico.createColors(false),
    paintError: pico.createColors(false),
    isVerbose: false,
    output: '',
    errors: '',
    control(text) {
      terminal.output += text;
    },
    write(text) {
      terminal.output += text;
    },
    print(text) {
      terminal.output += `${text}\n`;
    },
    warn(text) {
      terminal.errors += `${text}\n`;
    },
  };
  return terminal;
}
