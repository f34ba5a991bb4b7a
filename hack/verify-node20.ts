/**
 * Checks the lock file: every package must run on the oldest supported Node.js, be installable on every platform,
 * and not record its download location.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import semver from 'semver';

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const file = process.argv[2] ?? join(import.meta.dirname, '..', 'package-lock.json');
const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Readonly<Record<string, Entry>> };
const promised = semver.minVersion(packages['']?.engines?.node ?? '>=20.19.0')?.version ?? '20.19.0';

/** Where npm looks for a dependency of a package: next to it, then in the parent folders. */
function installed(path: string, name: string): Entry | undefined {
  for (let folder = path; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const found = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (found || folder === '') return found;
  }
}

const findings = Object.entries(packages).flatMap(([path, entry]) => {
  const name =
    path === '' ? 'the project' : `${path.replace(/^.*node_modules\//, '')} ${entry.version ?? ''}`.trim();
  const { engines, optionalDependencies = {} } = entry;
  const found: string[] = [];
  if (engines?.node !== undefined && !semver.satisfies(promised, engines.node))
    found.push(`${name} needs Node.js ${engines.node}, but ${promised} must be supported`);
  if (path !== '' && entry.link !== true && entry.version === undefined)
    found.push(`${name} has no version: npm ci refuses the lock file`);
  if (entry.resolved !== undefined) found.push(`${name} records its download location: ${entry.resolved}`);
  for (const optional of Object.keys(optionalDependencies)) {
    if (installed(path, optional)?.version === undefined)
      found.push(`${name} has an optional dependency ${optional} that is not in the lock file`);
  }
  return found;
});

for (const finding of findings) process.stdout.write(`${finding}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
