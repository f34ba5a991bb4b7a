/** Reads, parses and writes files that options specify; errors contain the file name. */
import { textOfYaml } from '../lib/yaml-bytes.ts';
import { accessSync, constants, createReadStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseYaml, parseYamlAll, YamlError } from '../lib/yaml.ts';
import { STDIN } from './commands/blueprints/sources.ts';
import { CommandError, UsageError } from './errors.ts';

const OWNER_ONLY = 0o600;

/** The name of a file in messages. */
export const nameOf = (path: string): string => (path === STDIN ? 'standard input' : path);

/** @throws UsageError */
export function readTextFile(path: string): string {
  try {
    return textOfYaml(readFileSync(path === STDIN ? 0 : path));
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The content of a file, or of standard input while it is written, in parts. @throws UsageError */
export async function* fileParts(path: string): AsyncGenerator<Uint8Array> {
  const input = path === STDIN ? process.stdin : createReadStream(path);
  try {
    for await (const part of input) yield part as Uint8Array;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): UsageError {
  const { code = 'error' } = error as NodeJS.ErrnoException;
  return new UsageError(
    code === 'ENOENT' ? `there is no file ${path}` : `cannot read ${nameOf(path)} (${code})`,
  );
}

export const readYamlFile = (path: string): unknown => parsed(path, readTextFile(path), parseYaml);

/** All documents of a file, or of standard input. @throws UsageError */
export const readYamlDocuments = (path: string): readonly unknown[] =>
  parsed(path, readTextFile(path), parseYamlAll);

/** The message of the parser quotes lines, which may contain credentials, so only the line number is shown. */
function parsed<T>(path: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    const at = error.line === undefined ? '' : `; see line ${String(error.line)}`;
    throw new UsageError(`${nameOf(path)} is not valid YAML${at}`);
  }
}

/** Checks that a file can be written, before the work starts. @throws UsageError */
export function mustBeWritable(path: string): void {
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK);
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot write ${path} (${code})`, { cause: error });
  }
}

/** Writes a file that only its owner can read. @throws CommandError */
export function writePrivateFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: OWNER_ONLY });
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot write ${path} (${code})`, { cause: error });
  }
}
