/**
 * Sources of the lint. A template can be in a blueprint that is in an Installation: a position in the innermost text is
 * reported as line and column of the file on disk.
 */

/** A position in a file. */
export interface Place {
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in characters. */
  readonly column: number;
  /** Characters to underline: at least 1, never beyond the line. */
  readonly length: number;
  /** The whole line. */
  readonly sourceLine: string;
}

/** The position of a string within another one: an offset in the outer string for each offset of the inner one. */
export interface Embedding {
  readonly outer: Source;
  /** @param line 0-based @param column 0-based. @returns offset in the outer text */
  offset(line: number, column: number): number;
}

export class Source {
  readonly file: string;
  readonly text: string;
  readonly #embedding: Embedding | undefined;
  readonly #starts: readonly number[];

  /** @param file path for messages */
  constructor(file: string, text: string, embedding?: Embedding) {
    this.file = file;
    this.text = text;
    this.#embedding = embedding;
    this.#starts = [0, ...[...text.matchAll(/\r?\n/g)].map((found) => found.index + found[0].length)];
  }

  /** @param offset in this text */
  place(offset: number, length = 1): Place {
    const line = this.lineAt(offset);
    const column = Math.max(0, offset - this.lineStart(line));
    if (this.#embedding) {
      return this.#embedding.outer.place(this.#embedding.offset(line, column), length);
    }
    const sourceLine = this.lineText(line);
    const room = Math.max(1, sourceLine.length - column);
    return {
      file: this.file,
      line: line + 1,
      column: column + 1,
      length: Math.min(Math.max(1, length), room),
      sourceLine,
    };
  }

  /** @param line 0-based. The first character of the line that is not white space. */
  placeOfLine(line: number): Place {
    const text = this.lineText(line);
    const indent = text.length - text.trimStart().length;
    return this.place(this.lineStart(line) + indent, text.trim().length);
  }

  /** 0-based. */
  lineAt(offset: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? Infinity) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Offset of the beginning of a line; the end of the text if the line does not exist. */
  lineStart(line: number): number {
    return this.#starts[line] ?? this.text.length;
  }

  /** Without its line break. */
  lineText(line: number): string {
    return this.text.slice(this.lineStart(line), this.lineStart(line + 1)).replace(/\r?\n$/, '');
  }
}
