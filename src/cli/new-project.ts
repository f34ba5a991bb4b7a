/** Writes the skeleton of a project that depends on this package: the files, package.json and tsconfig.json. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { packageFolder, packageInfo } from './package.ts';
import { writeSkeleton } from './skeleton.ts';
import type { Terminal } from './terminal/terminal.ts';

interface Project {
  readonly name: string;
  /** Folders of skeletons in this package; files of later ones replace those of earlier ones. */
  readonly skeletons: readonly string[];
  /** Files of the skeletons that the project does not have. */
  readonly without?: readonly string[];
  /** Converts the text of each file. */
  readonly renamed: (text: string) => string;
  /** Added to `build`, `start` and `typecheck`. */
  readonly scripts: Readonly<Record<string, string>>;
}

/**
 * @param to default: a folder with the name of the project
 * @returns the folder, relative to the current one
 * @throws UsageError if the folder is not empty, CommandError if it cannot be written
 */
export function writeProject(project: Project, to: string | undefined): string {
  const folder = resolve(to ?? project.name);
  writeSkeleton(project.skeletons.map(packageFolder), folder, project.renamed, project.without);
  writeFileSync(join(folder, 'package.json'), json(manifest(project, folder)));
  writeFileSync(join(folder, 'tsconfig.json'), json(tsconfig));
  return relative(process.cwd(), folder) || '.';
}

/**
 * A script that compiles the project, and runs files of it. Node.js 20 cannot run TypeScript, and a loader that can
 * would weigh more than half as much as the compiler.
 */
export const compiled = (...args: readonly string[]): string => {
  const inDist = args.map((each) => (each.endsWith('.js') ? `dist/${each}` : each));
  return ['npm run --silent build && node --enable-source-maps', ...inDist].join(' ');
};

/** The next commands of the user. */
export function printNext(folder: string, sentence: string, terminal: Terminal): void {
  terminal.print(`${sentence} is in ${folder}. Next:`);
  terminal.print(`  ${folder === '.' ? '' : `cd ${folder} && `}npm install && npm test`);
}

function manifest({ name, scripts }: Project, folder: string): object {
  const { dependencies, devDependencies } = ourPackages();
  const pick = (from: Readonly<Record<string, string>>, ...names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((each) => [each, from[each] ?? '*']));
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: { build: 'tsc', start: compiled('main.js'), ...scripts, typecheck: 'tsc --noEmit' },
    dependencies: { espalier: ourVersion(folder), ...pick(dependencies, 'zod') },
    devDependencies: pick(devDependencies, '@types/node', 'typescript'),
  };
}

/** A range of published versions, or the folder or archive that this copy comes from. */
function ourVersion(folder: string): string {
  const { folder: ours, version } = packageInfo();
  const modules = dirname(ours);
  if (basename(modules) !== 'node_modules') return `file:${relative(folder, ours)}`;
  const archive = archiveIn(modules);
  return archive === undefined ? `^${version}` : `file:${relative(folder, archive)}`;
}

/** The archive that npm installed this package from; undefined for a registry. */
function archiveIn(modules: string): string | undefined {
  const file = join(modules, '.package-lock.json');
  if (!existsSync(file)) return undefined;
  const { packages = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  const { resolved } = packages['node_modules/espalier'] ?? {};
  return resolved?.startsWith('file:')
    ? resolve(dirname(modules), resolved.slice('file:'.length))
    : undefined;
}

const ourPackages = () =>
  JSON.parse(readFileSync(join(packageInfo().folder, 'package.json'), 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;

const tsconfig: object = {
  compilerOptions: {
    target: 'ES2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    skipLibCheck: true,
    rewriteRelativeImportExtensions: true,
    rootDir: '.',
    outDir: 'dist',
    sourceMap: true,
    incremental: true,
    noEmitOnError: true,
  },
  include: ['*.ts'],
};

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
