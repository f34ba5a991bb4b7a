/** A minimal terminal emulator for our own output: text, styles, cursor up, erase. */

export interface Style {
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  /** ANSI colour number, 30 to 37. */
  readonly colour?: number;
}

export interface Cell {
  readonly text: string;
  readonly style: Style;
}

/** Control sequences with their parameters, line ends, single characters. */
const TOKENS = /\u001b\[(\??[\d;]*)([A-Za-z])|\r|\n|[^\u001b]/gu;

export class Screen {
  #rows: Cell[][] = [[]];
  #row = 0;
  #column = 0;
  #style: Style = {};

  write(text: string): void {
    for (const [token, parameters = '', command] of text.matchAll(TOKENS)) {
      if (command !== undefined) this.#control(command, parameters);
      else if (token === '\n') this.#goTo(this.#row + 1, 0);
      else if (token === '\r') this.#column = 0;
      else this.#put(token);
    }
  }

  /** The current rows. */
  rows(): Cell[][] {
    return this.#rows.map((row) => [...row]);
  }

  #control(command: string, parameters: string): void {
    const row = this.#rows[this.#row] ?? [];
    if (command === 'm') this.#style = restyled(this.#style, parameters.split(';').map(Number));
    else if (command === 'A') this.#goTo(Math.max(0, this.#row - Number(parameters || '1')), this.#column);
    else if (command === 'K') row.splice(this.#column);
    else if (command === 'J') {
      row.splice(this.#column);
      this.#rows.splice(this.#row + 1);
    }
  }

  #goTo(row: number, column: number): void {
    while (this.#rows.length <= row) this.#rows.push([]);
    this.#row = row;
    this.#column = column;
  }

  #put(text: string): void {
    const row = this.#rows[this.#row] ?? [];
    while (row.length < this.#column) row.push({ text: ' ', style: {} });
    row[this.#column] = { text, style: this.#style };
    this.#column++;
  }
}

function restyled(style: Style, codes: readonly number[]): Style {
  return codes.reduce<Style>((now, code) => {
    const { isBold = false, isDim = false, colour } = now;
    const rest = colour === undefined ? {} : { colour };
    if (code === 0) return {};
    if (code === 1) return { ...now, isBold: true };
    if (code === 2) return { ...now, isDim: true };
    if (code === 22) return rest;
    if (code === 39) return { isBold, isDim };
    return code >= 30 && code <= 37 ? { isBold, isDim, colour: code } : now;
  }, style);
}
