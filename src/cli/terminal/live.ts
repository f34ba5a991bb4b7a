/** A block of lines at the end of the terminal that is redrawn in place. */
import { printableLines } from '../../lib/printable.ts';
import type { Terminal } from './terminal.ts';

interface LiveBlock {
  /** Replaces the block. Lines must not be wider than the terminal. */
  draw(lines: readonly string[]): void;
  /** Writes permanent lines above the block. */
  above(text: string): void;
  /** Writes all lines permanently, and ends. */
  finish(lines: readonly string[]): void;
}

const CSI = '\u001b[';
const HIDE_CURSOR = `${CSI}?25l`;
const SHOW_CURSOR = `${CSI}?25h`;
const CLEAR_LINE = `${CSI}K`;
const CLEAR_BELOW = `${CSI}J`;

export function createLiveBlock(terminal: Terminal): LiveBlock {
  let drawn: readonly string[] = [];
  let isHidden = false;
  const toTop = (): string => (drawn.length > 0 ? `\r${CSI}${String(drawn.length)}A` : '');
  const paintLines = (lines: readonly string[]): string =>
    lines.map((line) => `${printableLines(line)}${CLEAR_LINE}\n`).join('');
  const replace = (lines: readonly string[]): void => {
    terminal.control(`${isHidden ? '' : HIDE_CURSOR}${toTop()}${paintLines(lines)}${CLEAR_BELOW}`);
    isHidden = true;
    drawn = lines;
  };
  return {
    draw(lines) {
      replace(fitToHeight(lines, terminal.rows - 1));
    },
    above(text) {
      const kept = drawn;
      terminal.control(`${toTop()}${CLEAR_BELOW}${printableLines(text.trimEnd())}\n`);
      drawn = [];
      if (kept.length > 0) replace(kept);
    },
    finish(lines) {
      replace(lines);
      terminal.control(SHOW_CURSOR);
      drawn = [];
      isHidden = false;
    },
  };
}

/** A block taller than the terminal cannot be redrawn, so only its first lines and a note are shown. */
export function fitToHeight(lines: readonly string[], rows: number): readonly string[] {
  if (lines.length <= rows) return lines;
  const shown = Math.max(0, rows - 1);
  return [...lines.slice(0, shown), `… ${String(lines.length - shown)} more`];
}
