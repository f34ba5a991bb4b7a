/** The hooks of mocha, in a process of mocha that runs one small test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { skip } from '../../support/skip.ts';
import { eventually } from '../../support/waiting.ts';

const root = join(import.meta.dirname, '../../..');

describe('a process of tests', () => {
  let folder: string;
  beforeEach(() => {
    // Beside the packages, which the test imports.
    mkdirSync(join(root, '.cache'), { recursive: true });
    folder = mkdtempSync(join(root, '.cache/hooks-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  function start(body: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
    const file = join(folder, 'small.test.ts');
    writeFileSync(file, body);
    const mocha = join(root, 'node_modules/mocha/bin/mocha.js');
    return spawn(process.execPath, [mocha, file], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }
  const printed = (body: string, env?: Readonly<Record<string, string>>): Promise<string> =>
    text(start(body, env).stdout!);

  it('that is killed takes along all programs that it has started, and those that they have started', async function () {
    if (process.platform !== 'linux') skip(this, 'only Linux shows the environment of processes');
    const pids = join(folder, 'pids');
    const program = `
      const { pid } = require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
      require('fs').writeFileSync('${pids}', [process.pid, pid].join('\\n') + '\\n');
      setInterval(() => 0, 1000);`;
    const mocha = start(`
      import { ContainerProcess } from ${JSON.stringify(join(root, 'test/support/container-process.ts'))};
      it('starts a program', async () => {
        new ContainerProcess([process.execPath, '-e', ${JSON.stringify(program)}], {}, () => undefined);
        await new Promise(() => setInterval(() => 0, 1000));
      });`);
    const running = await eventually('the programs run', () => {
      const started = existsSync(pids) ? readFileSync(pids, 'utf8').split('\n') : [];
      return started.length === 3 && started.slice(0, 2);
    });
    const isRunning = (pid: string): boolean => existsSync(`/proc/${pid}/exe`);
    expect(running.map(isRunning)).to.deep.equal([true, true]);
    mocha.kill('SIGKILL');
    await eventually('the programs have ended', () => !running.some(isRunning));
  });

  const PROPERTY = `
    import fc from 'fast-check';
    it('draws', () => {
      const drawn = [];
      fc.assert(fc.property(fc.integer(), (n) => void drawn.push(n)));
      console.log('drawn', drawn.join());
    });`;
  const drawnIn = (output: string): string | undefined => /drawn (.*)/.exec(output)?.[1];

  it('draws the same values each time, and prints the seed', async () => {
    const [first, second] = [await printed(PROPERTY), await printed(PROPERTY)];
    expect(drawnIn(first)).to.be.a('string').and.equal(drawnIn(second));
    expect(first).to.match(/^seed of property tests: \d+; /m);
  });

  it('draws other values with another seed, which is printed', async () => {
    const other = await printed(PROPERTY, { ESPALIER_TEST_SEED: '42' });
    expect(other).to.contain('repeat with ESPALIER_TEST_SEED=42');
    expect(drawnIn(other))
      .to.be.a('string')
      .and.not.equal(drawnIn(await printed(PROPERTY)));
  });
});
