/** Chooses the mutants of files, and writes the code with all of them for the loader of the test processes. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from 'esbuild';
import { instrument } from './instrument.ts';
import { mutantsOf, type Mutant } from './operators.ts';
import { CHART, filesOf, folders, read, root } from './project.ts';
import { linesOf, sampleOf, sizeOf } from './sample.ts';
import { templateMutantsOf } from './templates.ts';

export interface Sampled {
  readonly id: number;
  readonly file: string;
  readonly source: string;
  readonly mutant: Mutant;
}

const linesIn = (folder: string): number =>
  filesOf(folder).reduce((sum, file) => sum + linesOf(read(file)), 0);

const CACHE = join(root, '.cache/mutate');

export function prepare(files: readonly string[]): readonly Sampled[] {
  rmSync(CACHE, { recursive: true, force: true });
  const all: Sampled[] = [];
  const templates: [string, [number, string][]][] = [];
  const sizes = new Map(folders().map((folder) => [folder, linesIn(folder)]));
  for (const file of files) {
    const source = read(file);
    const isTemplate = file.startsWith(CHART);
    const possible = isTemplate ? templateMutantsOf(source) : mutantsOf(source);
    const linesOfFolder = [...sizes].find(([folder]) => file.startsWith(`${folder}/`))?.[1] ?? 0;
    const size = sizeOf(source, linesOfFolder);
    const own = sampleOf(file, source, possible, size).map((mutant, i) => ({
      ...mutant,
      id: all.length + i + 1,
    }));
    for (const mutant of own) all.push({ id: mutant.id, file, source, mutant });
    if (isTemplate) {
      const texts = own.map(({ id, start, end, replacement }): [number, string] => [
        id,
        source.slice(0, start) + replacement + source.slice(end),
      ]);
      templates.push([file, texts]);
    } else if (own.length > 0) {
      const path = join(CACHE, 'code', `${file}.mjs`);
      mkdirSync(dirname(path), { recursive: true });
      const options = { loader: 'ts', format: 'esm', target: 'node20' } as const;
      writeFileSync(path, transformSync(instrument(source, own), options).code);
    }
  }
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, 'templates.json'), JSON.stringify(templates));
  return all;
}
