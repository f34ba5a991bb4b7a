/** A terminal that records its output. */
import pico from 'picocolors';
import { systemClock } from '../../../src/lib/clock.ts';
import { runProgram } from '../../../src/cli/program.ts';
import type { Terminal } from '../../../src/cli/terminal/terminal.ts';
import { SkippingClock } from '../../support/skipping-clock.ts';
import { eventually } from '../../support/waiting.ts';

export interface FakeTerminal extends Terminal {
  /** Standard output so far. */
  output: string;
  /** Standard error so far. */
  errors: string;
}

export function fakeTerminal(
  settings: Partial<Pick<Terminal, 'env' | 'clock' | 'isLive' | 'columns' | 'rows' | 'ask'>> = {},
): FakeTerminal {
  const terminal: FakeTerminal = {
    env: {},
    clock: systemClock,
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

const TIMEOUT_MS = 600_000;

/** Runs a command with a timeout, which passes as soon as the output contains the text. */
export async function runUntilTimeout(
  args: readonly string[],
  shown: string,
  env: Terminal['env'],
): Promise<{ readonly code: number; readonly terminal: FakeTerminal }> {
  const clock = new SkippingClock();
  const terminal = fakeTerminal({ env, clock });
  const running = runProgram([...args, '--timeout', `${TIMEOUT_MS}ms`], terminal);
  const why = (): string => `; it is ${terminal.output}${terminal.errors}`;
  await eventually(`the output contains ${shown}`, () => terminal.output.includes(shown), { why });
  clock.advance(TIMEOUT_MS);
  return { code: await running, terminal };
}
