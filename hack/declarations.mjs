// Copies the declarations that the entry points of the package need to dist/types. Those of the program's other files
// would double the number of files in the package.
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const TARGET = 'dist/types';
/** What a project that uses the package has: zod is a dependency, and its types are public. */
const INSTALLED = /^(zod$|zod\/|node:)/;

/** @throws Error if a declaration needs the types of a package that is not installed with this one */
export function copyDeclarations() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = Object.values(exports).flatMap(({ types }) =>
    types ? [types.replace(TARGET, 'dist')] : [],
  );
  const wanted = new Set(entries.map((entry) => join(entry)));
  // The set grows while it is read.
  for (const file of wanted)
    for (const from of importsIn(readFileSync(file, 'utf8'))) {
      if (from.startsWith('.')) wanted.add(join(dirname(file), from.replace(/\.[jt]s$/, '.d.ts')));
      else if (!INSTALLED.test(from))
        throw new Error(`${file} needs the types of ${from}, which users do not install`);
    }
  rmSync(TARGET, { recursive: true, force: true });
  for (const file of wanted) {
    if (!existsSync(file)) throw new Error(`there is no declaration ${file}`);
    const copy = join(TARGET, relative('dist', file));
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(file, copy);
  }
}

const importsIn = (text) =>
  [...text.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm)].map(([, from]) => from);
