/**
 * Results by file, so that several runs over parts of a folder can produce its row in docs/testing.md. A result is valid
 * while the code of its file is the measured one; comments and layout may change. They are stored in .cache/mutation,
 * outside of version control.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import type { FileResult } from './report.ts';

interface Stored {
  /** Digest of the measured code. */
  readonly sha256: string;
  readonly result: FileResult;
}

export class StoredResults {
  readonly #root: string;

  /** @param root of the tree; files are named relative to it */
  constructor(root: string) {
    this.#root = root;
  }

  /** @returns undefined if the file was never measured, or its code has changed since */
  read(file: string): FileResult | undefined {
    const path = this.#pathOf(file);
    if (!existsSync(path)) return undefined;
    const { sha256, result } = JSON.parse(readFileSync(path, 'utf8')) as Stored;
    return sha256 === this.#digestOf(file) ? result : undefined;
  }

  /** @param source the measured text; the file itself may have changed meanwhile */
  write(result: FileResult, source: string): void {
    const path = this.#pathOf(result.file);
    const stored: Stored = { sha256: digest(source), result };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(stored));
  }

  #pathOf(file: string): string {
    return join(this.#root, '.cache/mutation', `${file}.json`);
  }

  #digestOf(file: string): string {
    return digest(readFileSync(join(this.#root, file), 'utf8'));
  }
}

const printer = ts.createPrinter({ removeComments: true });

function digest(source: string): string {
  const code = printer.printFile(ts.createSourceFile('measured.ts', source, ts.ScriptTarget.Latest));
  return createHash('sha256').update(code).digest('hex');
}
