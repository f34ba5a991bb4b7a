/** Executions as blueprints have them, with the results of the Go originals, which hack/go-oracle/record.ts records. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseYaml } from '../../src/lib/yaml.ts';

export type Engine = 'gotemplate' | 'spiff';

export interface BlueprintCase {
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly template: string;
  /** Spiff only: the state of the last run. */
  readonly stored?: unknown;
  /** Spiff only: files of the blueprint. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface RecordedAnswer {
  /** The output of a GoTemplate. */
  readonly lines?: readonly string[];
  /** The result, read as YAML. */
  readonly result?: unknown;
  readonly state?: unknown;
  readonly error?: string;
}

export interface Topic {
  readonly engine: Engine;
  readonly name: string;
  readonly cases: readonly BlueprintCase[];
  /** The answers, by the name of the case. */
  readonly answers: string;
}

const root = new URL('../fixtures/blueprints/', import.meta.url);

export const topics: readonly Topic[] = (['gotemplate', 'spiff'] as const).flatMap((engine) => {
  const folder = fileURLToPath(new URL(`${engine}/`, root));
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => ({
      engine,
      name: file.replace('.yaml', ''),
      cases: parseYaml(readFileSync(folder + file, 'utf8')) as readonly BlueprintCase[],
      answers: folder + file.replace('.yaml', '.json'),
    }));
});

/** @returns by the name of the case */
export function recordedAnswers({ answers }: Topic): Readonly<Record<string, RecordedAnswer>> {
  if (!existsSync(answers)) return {};
  return JSON.parse(readFileSync(answers, 'utf8')) as Record<string, RecordedAnswer>;
}

/**
 * The error of an engine without what we append to the original's message: the lines around the place, and the
 * values.
 */
export const messageOf = (error: unknown): string =>
  (error as Error).message.replace(/\n?(\ntemplate source:|\ntemplate input:)[^]*$/, '');
