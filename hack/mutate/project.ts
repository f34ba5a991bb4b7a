/** The folders that are measured, their files, the tests, and which file imports which. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { defaultFiles } from '../tests/suites.ts';

export const root = join(import.meta.dirname, '../..');
export const CHART = 'charts/espalier/templates';
export const read = (file: string): string => readFileSync(join(root, file), 'utf8');

const below = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();

/** @returns the folders that have a row each */
export const folders = (): readonly string[] => [
  ...['src', 'controllers', 'deployers'].flatMap((top) =>
    readdirSync(join(root, top)).map((name) => `${top}/${name}`),
  ),
  'web/console',
  CHART,
];

export const filesOf = (folder: string): readonly string[] =>
  below(folder).filter((file) => (folder === CHART ? /\.(yaml|tpl)$/ : /\.ts$/).test(file));

/** Kinds of tests in the order in which they are asked. */
export const KINDS: readonly string[] = ['unit', 'conformance', 'scenario'];
/** Tests of the repository itself. */
const OTHER_TOPICS: readonly string[] = ['docs', 'hack'];

/** The test files of `make test` by group; a process loads the files of a group together. */
export function testGroups(): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const file of defaultFiles()) {
    const [, kind = '', topic = ''] = file.split('/');
    if (!KINDS.includes(kind) || OTHER_TOPICS.includes(topic)) continue;
    const group = `test/${kind}/${topic}`;
    groups.set(group, [...(groups.get(group) ?? []), file]);
  }
  return groups;
}

const isCode = (path: string): boolean => /\.(ts|tsx|mjs)$/.test(path);

/** @returns for each test file how many imports lie between it and each file of the product */
export function importDistances(tests: readonly string[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known) return known;
    const found = ts
      .preProcessFile(read(file), true, false)
      .importedFiles.map(({ fileName }) => fileName)
      .filter((name) => name.startsWith('.'))
      .map((name) => join(dirname(file), name))
      .filter((path) => isCode(path) && existsSync(join(root, path)));
    imports.set(file, found);
    return found;
  };
  return new Map(
    tests.map((test) => {
      const reached = new Map([[test, 0]]);
      for (const [file, distance] of reached)
        for (const next of importsOf(file)) if (!reached.has(next)) reached.set(next, distance + 1);
      return [test, reached];
    }),
  );
}
