// Deletes what Node.js does not load from folders of the image: declarations, source maps, documentation and tests of packages.
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const FILES = /\.(d\.[cm]?ts|[cm]?ts|map|md|markdown|flow|tsbuildinfo)$/i;
const FOLDERS = new Set([
  'test',
  'tests',
  '__tests__',
  'example',
  'examples',
  'benchmark',
  'benchmarks',
  '.github',
]);

/** @returns the number of deleted bytes */
function prune(folder, isInPackage) {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      // A package or a folder of a scope may have such a name itself.
      const isUnused = isInPackage && FOLDERS.has(entry.name);
      bytes += isUnused ? sizeOf(path) : prune(path, isInPackage || isPackage(path));
      if (isUnused) rmSync(path, { recursive: true });
    } else if (entry.isFile() && FILES.test(entry.name)) {
      bytes += lstatSync(path).size;
      rmSync(path);
    }
  }
  return bytes;
}

const isPackage = (folder) => readdirSync(folder).includes('package.json');

const sizeOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);

for (const folder of process.argv.slice(2)) {
  const bytes = prune(folder, false);
  console.log(`${folder}: ${(bytes / 1e6).toFixed(1)} MB deleted that Node.js does not load`);
}
