/** `espalier deployers new`: writes a working deployer with its test to a new folder. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { packageFolder, packageInfo } from '../../package.ts';
import { writeSkeleton } from '../../skeleton.ts';
import type { Terminal } from '../../terminal/terminal.ts';

export interface NewDeployerOptions {
  readonly to?: string;
  readonly type?: string;
}

const NAME = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
const TYPE = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
/** Name of the deployer in the skeleton's own files. */
const SKELETON_NAME = 'skeleton';
const DOMAIN = 'example.org';

export function newDeployer(name: string, options: NewDeployerOptions, terminal: Terminal): void {
  if (!NAME.test(name))
    throw new UsageError(`"${name}" is not a valid deployer name; use lower-case letters, digits and dashes`);
  const type = options.type ?? `${DOMAIN}/${name}`;
  if (!TYPE.test(type)) throw new UsageError(`"${type}" is not a valid type; use DOMAIN/NAME`);
  const to = resolve(options.to ?? name);
  writeSkeleton(packageFolder(join('docs/samples/deployers', SKELETON_NAME)), to, (text) =>
    renamed(text, name, type),
  );
  writeFileSync(join(to, 'package.json'), json(manifest(name, to)));
  writeFileSync(join(to, 'tsconfig.json'), json(tsconfig));
  const folder = relative(process.cwd(), to);
  terminal.print(`A deployer for items of type ${type} is in ${folder}. Next:`);
  terminal.print(`  cd ${folder} && npm install && npm test`);
}

const renamed = (text: string, name: string, type: string): string =>
  text
    .replaceAll(`${DOMAIN}/${SKELETON_NAME}`, type)
    .replaceAll(`${SKELETON_NAME}.${DOMAIN}`, `${name}.${dirname(type)}`)
    .replaceAll(SKELETON_NAME, name);

function manifest(name: string, to: string): object {
  const { version } = packageInfo();
  const espalier = localPackageFolder(to) ?? `^${version}`;
  const { dependencies, devDependencies } = ourPackages();
  const pick = (from: Readonly<Record<string, string>>, ...names: string[]): Record<string, string> =>
    Object.fromEntries(names.map((each) => [each, from[each] ?? '*']));
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: {
      start: 'tsx main.ts',
      test: 'tsx --test deployer.test.ts',
      typecheck: 'tsc --noEmit',
    },
    dependencies: { espalier, ...pick(dependencies, 'zod') },
    devDependencies: pick(devDependencies, '@types/node', 'tsx', 'typescript'),
  };
}

/** The folder of this copy of Espalier; undefined if npm installed it. */
function localPackageFolder(to: string): string | undefined {
  const { folder } = packageInfo();
  return basename(dirname(folder)) === 'node_modules' ? undefined : `file:${relative(to, folder)}`;
}

const ourPackages = () =>
  JSON.parse(readFileSync(join(packageInfo().folder, 'package.json'), 'utf8')) as Readonly<
    Record<'dependencies' | 'devDependencies', Readonly<Record<string, string>>>
  >;

const tsconfig = {
  compilerOptions: {
    target: 'ES2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['*.ts'],
};

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;
