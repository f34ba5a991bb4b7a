/** Files that the configuration names and that may change, such as mounted secrets. */
import { WatchedFile, type FileState } from '../lib/watched-file.ts';

export interface ConfiguredFile {
  readonly path: string;
  /** Its key in the configuration, for messages. */
  readonly key: string;
}

/** Receives each problem once, until the file changes. */
export type ReportFile = (file: ConfiguredFile, problem: string) => void;

/** What a file contains, and what cannot be used of it. */
export interface Parsed<T> {
  readonly value: T;
  readonly problems: readonly string[];
}

interface Entry<T> {
  readonly file: ConfiguredFile;
  readonly watched: WatchedFile;
  known: { readonly state: FileState; readonly value: T } | undefined;
}

/** Parses each file again when it has changed. A problem with one file does not affect the others. */
export class ConfiguredFiles<T> {
  readonly #entries: readonly Entry<T>[];
  readonly #parse: (file: ConfiguredFile, state: FileState) => Parsed<T>;
  readonly #report: ReportFile;

  /** @param parse must not throw */
  constructor(
    files: readonly ConfiguredFile[],
    parse: (file: ConfiguredFile, state: FileState) => Parsed<T>,
    report: ReportFile,
  ) {
    this.#entries = files.map((file) => ({ file, watched: new WatchedFile(file.path), known: undefined }));
    this.#parse = parse;
    this.#report = report;
  }

  /** The values of all files at this moment; the same value as long as a file does not change. */
  current(): readonly T[] {
    return this.#entries.map((entry) => {
      const state = entry.watched.current();
      if (entry.known?.state === state) return entry.known.value;
      const { value, problems } = this.#parse(entry.file, state);
      entry.known = { state, value };
      for (const problem of problems) this.#report(entry.file, problem);
      return value;
    });
  }
}

/** The file at the beginning of a message. */
export const nameOf = ({ key, path }: ConfiguredFile): string => `${key}, file ${path},`;
