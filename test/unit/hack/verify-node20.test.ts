/** Proves that the check of the lock file detects mistakes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const root = resolve(import.meta.dirname, '../../..');

/** The result of the check for a lock file with these packages below the project. */
function findings(packages: Readonly<Record<string, object>>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-lock-'));
  const file = join(folder, 'package-lock.json');
  const project = { '': { name: 'x', engines: { node: '>=20.19.0' } } };
  writeFileSync(file, JSON.stringify({ packages: { ...project, ...packages } }));
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--import', 'tsx', join(root, 'hack/verify-node20.ts'), file],
    { cwd: root, encoding: 'utf8' },
  );
  rmSync(folder, { recursive: true });
  const lines = stdout.split('\n').filter((line) => line !== '');
  expect(status).to.equal(lines.length === 0 ? 0 : 1);
  return lines;
}

const a = { version: '1.0.0' };

describe('the check of the lock file', () => {
  it('accepts packages that run on Node.js 20.19', () => {
    const optional = { optionalDependencies: { b: '1' } };
    expect(
      findings({
        'node_modules/a': { ...a, engines: { node: '^20.19.0 || >=22' }, ...optional },
        'node_modules/b': a,
        'node_modules/@x/c': a,
      }),
    ).to.deep.equal([]);
  });

  it('finds a package that needs a newer Node.js', () => {
    expect(findings({ 'node_modules/a': { ...a, engines: { node: '>=22' } } })).to.deep.equal([
      'a 1.0.0 needs Node.js >=22, but 20.19.0 must be supported',
    ]);
  });

  it('finds a package without a version', () => {
    expect(findings({ 'node_modules/@x/a': { optional: true } })).to.deep.equal([
      '@x/a has no version: npm ci refuses the lock file',
    ]);
  });

  it('finds an optional dependency that is missing, also below another package', () => {
    const wants = { ...a, optionalDependencies: { b: '1', c: '1' } };
    expect(
      findings({ 'node_modules/x/node_modules/a': wants, 'node_modules/x/node_modules/b': a }),
    ).to.deep.equal(['a 1.0.0 has an optional dependency c that is not in the lock file']);
  });

  it('finds an absolute address', () => {
    expect(findings({ 'node_modules/a': { ...a, resolved: 'https://example.org/a.tgz' } })).to.deep.equal([
      'a 1.0.0 records its download location: https://example.org/a.tgz',
    ]);
  });
});
