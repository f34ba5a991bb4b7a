/**
 * Results by file, so that a row of docs/testing.md can be put together from runs over parts of its folder. A result
 * counts as long as its file has the content that was measured. They lie in .cache/mutation, outside of version control.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileResult } from './report.ts';

interface Stored {
  /** Of the content that was measured. */
  readonly sha256: string;
  readonly result: FileResult;
}

export class StoredResults {
  readonly #root: string;

  /** @param root of the tree; files are named relative to it */
  constructor(root: string) {
    this.#root = root;
  }

  /** @returns undefined when the file was never measured, or has changed since */
  read(file: string): FileResult | undefined {
    const path = this.#pathOf(file);
    if (!existsSync(path)) return undefined;
    const { sha256, result } = JSON.parse(readFileSync(path, 'utf8')) as Stored;
    return sha256 === this.#digestOf(file) ? result : undefined;
  }

  /** @param source that was measured; the file itself may have changed meanwhile */
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

const digest = (source: string): string => createHash('sha256').update(source).digest('hex');
