/** Credentials from Docker's configuration files that the operator mounts; they are read again when they change. */
import { dirname, resolve } from 'node:path';
import { WatchedFile, type FileState } from '../lib/watched-file.ts';
import { certificatesIn } from './authorities.ts';
import {
  ConfiguredFiles,
  nameOf,
  type ConfiguredFile,
  type Parsed,
  type ReportFile,
} from './configured-files.ts';
import { Credentials, dockerCredentials } from './credentials.ts';
import { RepositoryUnusable } from './errors.ts';

/** A problem with one file does not affect the others. */
export class CredentialFiles {
  readonly #files: ConfiguredFiles<Credentials>;
  #all: { readonly parts: readonly Credentials[]; readonly credentials: Credentials } | undefined;

  constructor(files: readonly ConfiguredFile[], report: ReportFile) {
    this.#files = new ConfiguredFiles(files, parsed, report);
  }

  /** Their credentials at this moment, and the problems with the files. */
  current(): Credentials {
    const parts = this.#files.current();
    if (!this.#all || parts.some((part, i) => part !== this.#all?.parts[i])) {
      const problems = parts.flatMap((part) => part.problems);
      this.#all = { parts, credentials: Credentials.all(parts, problems) };
    }
    return this.#all.credentials;
  }
}

/**
 * The credentials of a file, with the problems that tenants may see, and all problems for the log. Entries may name
 * registries of others.
 */
function parsed(file: ConfiguredFile, state: FileState): Parsed<Credentials> {
  const where = nameOf(file);
  const unusable = (problem: string) => ({
    value: new Credentials([], { problems: [problem] }),
    problems: [problem],
  });
  if ('problem' in state) return unusable(`${where} ${state.problem}`);
  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(problem);
  try {
    const found = dockerCredentials(state.text, where, { report, caFile: authorityReader(file) });
    const shown =
      problems.length > 0 ? [`${where} has entries that cannot be used, which the log names`] : [];
    return { value: Credentials.all([found], shown), problems };
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
