/** Commands whose output cannot be written. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { skip } from '../../support/skip.ts';

const root = join(import.meta.dirname, '../../..');
const FULL = '/dev/full';

describe('a command whose output', () => {
  let full: number;
  before(function () {
    if (!existsSync(FULL)) skip(this, `there is no ${FULL} here`);
    full = openSync(FULL, 'w');
  });
  after(() => {
    if (existsSync(FULL)) closeSync(full);
  });

  const run = (args: readonly string[], out: number | 'pipe', err: number | 'pipe') =>
    spawnSync(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
      cwd: root,
      stdio: ['ignore', out, err],
      encoding: 'utf8',
    });

  it('cannot be written fails with a message', () => {
    const { status, stderr } = run(['crds'], full, 'pipe');
    expect(stderr).to.equal('error: cannot write to standard output (ENOSPC)\n');
    expect(status).to.equal(1);
  });

  for (const [args, code] of [
    ['nope', 2],
    ['targets create t --self --service-account a', 0],
  ] as const)
    it(`exits with ${String(code)} even if no message can be printed: ${args}`, () => {
      expect(run(args.split(' '), 'pipe', full).status).to.equal(code);
    });
});
