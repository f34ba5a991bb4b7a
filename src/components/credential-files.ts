/** Credentials from Docker's configuration files that the operator mounts; they are read again when they change. */
import { dirname, resolve } from 'node:path';
import { WatchedFile, type FileState } from '../lib/watched-file.ts';
import { certificatesIn } from './authorities.ts';
import { Credentials, dockerCredentials } from './credentials.ts';
import { RepositoryUnusable } from './errors.ts';

/** A file that the configuration names. */
export interface ConfiguredFile {
  readonly path: string;
  /** Its key in the configuration, for messages. */
  readonly key: string;
}

/** Receives each problem once, until the file changes. */
export type ReportFile = (file: ConfiguredFile, problem: string) => void;

interface Parsed {
  readonly state: FileState;
  readonly credentials: Credentials;
}

/** A problem with one file does not affect the others. */
export class CredentialFiles {
  readonly #files: readonly { readonly file: ConfiguredFile; readonly watched: WatchedFile }[];
  readonly #report: ReportFile;
  readonly #parsed = new Map<ConfiguredFile, Parsed>();
  #all: { readonly parts: readonly Credentials[]; readonly credentials: Credentials } | undefined;

  constructor(files: readonly ConfiguredFile[], report: ReportFile) {
    this.#files = files.map((file) => ({ file, watched: new WatchedFile(file.path) }));
    this.#report = report;
  }

  /** Their credentials at this moment, and the problems with the files. */
  current(): Credentials {
    const parts = this.#files.map(({ file, watched }) => this.#partOf(file, watched.current()));
    if (!this.#all || parts.some((part, i) => part !== this.#all?.parts[i])) {
      const problems = parts.flatMap((part) => part.problems);
      this.#all = { parts, credentials: Credentials.all(parts, problems) };
    }
    return this.#all.credentials;
  }

  #partOf(file: ConfiguredFile, state: FileState): Credentials {
    const known = this.#parsed.get(file);
    if (known?.state === state) return known.credentials;
    const { credentials, problems } = parsed(file, state);
    this.#parsed.set(file, { state, credentials });
    for (const problem of problems) this.#report(file, problem);
    return credentials;
  }
}

/**
 * The credentials of a file, with the problems that tenants may see, and all problems for the log. Entries may name
 * registries of others.
 */
function parsed(
  file: ConfiguredFile,
  state: FileState,
): { readonly credentials: Credentials; readonly problems: readonly string[] } {
  const where = nameOf(file);
  const unusable = (problem: string) => ({
    credentials: new Credentials([], { problems: [problem] }),
    problems: [problem],
  });
  if ('problem' in state) return unusable(`${where} ${state.problem}`);
  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(problem);
  try {
    const found = dockerCredentials(state.text, where, { report, caFile: authorityReader(file) });
    const shown =
      problems.length > 0 ? [`${where} has entries that cannot be used, which the log names`] : [];
    return { credentials: Credentials.all([found], shown), problems };
  } catch (error) {
    if (!(error instanceof RepositoryUnusable)) throw error;
    return unusable(error.message);
  }
}

/** Relative paths are relative to the file that names them. */
function authorityReader({ path }: ConfiguredFile) {
  const watched = new Map<string, WatchedFile>();
  return (named: string, where: string): string => {
    const file = watched.get(named) ?? new WatchedFile(resolve(dirname(path), named));
    watched.set(named, file);
    const state = file.current();
    if ('text' in state) return certificatesIn(state.text, `${where}, file ${file.path},`);
    throw new RepositoryUnusable(`${where}: file ${file.path} ${state.problem}`);
  };
}

export const nameOf = ({ key, path }: ConfiguredFile): string => `${key}, file ${path},`;
