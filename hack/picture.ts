/**
 * Draws docs/images/demo.svg: runs the demo on an emulated terminal and records its frames.
 *
 *     node --import tsx hack/picture.ts
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pico from 'picocolors';
import { runProgram } from '../src/cli/program.ts';
import type { Terminal } from '../src/cli/terminal/terminal.ts';
import { Screen, type Cell } from './picture/screen.ts';
import { svgOf, type Frame } from './picture/svg.ts';
import { systemClock } from '../src/lib/clock.ts';

const FILE = join(import.meta.dirname, '..', 'docs/images/demo.svg');
const COLUMNS = 100;
const SHORTEST_SECONDS = 0.5;
const LAST_SECONDS = 6;

const screen = new Screen();
const shots: { readonly at: number; readonly rows: readonly (readonly Cell[])[] }[] = [];

function show(text: string): void {
  screen.write(text);
  shots.push({ at: performance.now(), rows: screen.rows() });
}

const terminal: Terminal = {
  env: {},
  clock: systemClock,
  isLive: true,
  columns: COLUMNS,
  rows: 40,
  paint: pico.createColors(true),
  paintError: pico.createColors(true),
  isVerbose: false,
  ask: () => Promise.resolve(undefined),
  control: show,
  write: show,
  print: (line) => {
    show(`${line}\n`);
  },
  warn: (line) => {
    show(`${line}\n`);
  },
};

/** The content of a frame without spinners and times; consecutive frames with the same content are merged. */
const content = (rows: readonly (readonly Cell[])[]): string =>
  rows
    .map((row) => row.map(({ text }) => (/[\d.\u2800-\u28ff]/.test(text) ? ' ' : text)).join(''))
    .join('\n');

function framesOf(): Frame[] {
  const changes = shots.filter(({ rows }, i) => content(rows) !== content(shots[i - 1]?.rows ?? []));
  return changes.map(({ at, rows }, i) => {
    const next = changes[i + 1];
    // The last of the merged frames has the final times.
    const latest = shots.findLast((shot) => next === undefined || shot.at < next.at) ?? { rows };
    const seconds = next ? Math.max(SHORTEST_SECONDS, (next.at - at) / 1000) : LAST_SECONDS;
    return { rows: latest.rows, seconds };
  });
}

// Makes the program print its commands as an installed one does.
process.argv[1] = join(import.meta.dirname, '..', 'dist/src/cli/main.js');
process.execArgv.length = 0;

const PROMPT = '\u001b[32m$\u001b[39m ';
show(`${PROMPT}make run\n`);
const code = await runProgram(['demo', '--exit'], terminal);
if (code !== 0) throw new Error(`the demo ended with exit code ${String(code)}`);
const frames = framesOf();
mkdirSync(dirname(FILE), { recursive: true });
writeFileSync(FILE, svgOf(frames, COLUMNS, 'make run: a sample landscape is installed, shown as a tree'));
process.stdout.write(`${FILE}: ${String(frames.length)} frames\n`);
