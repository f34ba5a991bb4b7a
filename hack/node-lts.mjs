// Prints the path of another Node.js version, for tests. It is installed as an npm package into a cache outside the
// tree. Exit code 3: not available, the reason is printed.
//
//   node hack/node-lts.mjs VERSION
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const version = process.argv[2];
if (!/^\d+\.\d+\.\d+$/.test(version ?? '')) {
  console.error('usage: node-lts.mjs VERSION, such as 26.10.0');
  process.exit(2);
}
const name = `node-${process.platform}-${process.arch}`;
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'espalier', 'node-lts', version);
const node = join(cache, 'node_modules', name, 'bin', 'node');

if (!isThere()) {
  mkdirSync(cache, { recursive: true });
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status, stderr, error } = spawnSync(
    'npm',
    ['install', '--prefix', cache, '--loglevel', 'error', ...flags, `${name}@${version}`],
    { cwd: cache, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
  );
  if (status !== 0 || !isThere()) {
    const why =
      error?.message ?? stderr.split('\n').find((line) => /^npm error (?!code)/.test(line)) ?? 'no reason';
    rmSync(cache, { recursive: true, force: true });
    console.error(`no tests on Node.js ${version}: the package ${name}@${version} is not available: ${why}`);
    process.exit(3);
  }
}
console.log(node);

function isThere() {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim() === `v${version}`;
}
