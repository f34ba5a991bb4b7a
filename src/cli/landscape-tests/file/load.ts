/** Reads test files with the landscapes that they test. */
import { dirname, join } from 'node:path';
import type { Finding } from '../../../blueprint/lint/finding.ts';
import { append } from '../../../lib/lists.ts';
import { UsageError } from '../../errors.ts';
import { prepare, type PreparedDocument } from '../../commands/apply/prepare.ts';
import { readSuite, type SuiteFile } from './read.ts';

export interface LoadedSuite {
  readonly file: SuiteFile;
  readonly documents: readonly PreparedDocument[];
}

interface Loaded {
  readonly suites: readonly LoadedSuite[];
  /** Mistakes in test files. */
  readonly findings: readonly Finding[];
  /** Mistakes in the files of landscapes: a line each. */
  readonly problems: readonly string[];
}

/** @throws UsageError if a file cannot be read */
export async function loadSuites(files: readonly string[]): Promise<Loaded> {
  const suites: LoadedSuite[] = [];
  const findings: Finding[] = [];
  const problems: string[] = [];
  for (const path of files) {
    const read = readSuite(path);
    append(findings, read.findings);
    if (!read.file) continue;
    const { documents, problems: found } = await landscapeOf(read.file);
    append(problems, found);
    suites.push({ file: read.file, documents });
  }
  return { suites, findings, problems };
}

/** The files that `landscape` names, by default the folder of the test file. */
async function landscapeOf({ file, suite }: SuiteFile): ReturnType<typeof prepare> {
  const { landscape = '.' } = suite;
  const beside = dirname(file);
  const paths = (typeof landscape === 'string' ? [landscape] : landscape).map((path) => join(beside, path));
  try {
    return await prepare(paths, { lint: true });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return {
      documents: [],
      warnings: [],
      problems: [`${file}: ${error.message}; name the landscape with the field landscape`],
    };
  }
}
