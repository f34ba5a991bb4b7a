/** `espalier deployers`, as authors of deployers use it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../../src/cli/program.ts';
import { fakeTerminal } from '../../unit/cli/terminal.ts';
import { PATIENCE_MS } from '../../support/conformance.ts';
import { eventually } from '../../support/waiting.ts';

const SUBJECT = `
type: example.org/skeleton
succeeds: { apiVersion: skeleton.example.org/v1, kind: ProviderConfiguration, greeting: hello }
`;
const PATIENCE = ['--patience', String(PATIENCE_MS / 1000)];
const MAIN = ['--conditions=espalier-source', '--import=tsx', 'docs/samples/deployers/skeleton/main.ts'];

describe('espalier deployers', function () {
  this.timeout(60_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(...args: string[]) {
    const terminal = fakeTerminal();
    const code = await runProgram(['deployers', ...args], terminal);
    return { code, out: terminal.output, err: terminal.errors };
  }

  describe('new', () => {
    it('creates a deployer that uses the given name everywhere', async () => {
      const to = join(folder, 'dns');
      const { code, out } = await run('new', 'dns-record', '--type', 'example.com/dns', '--to', to);
      expect(code).to.equal(0);
      expect(out).to.contain('A deployer for items of type example.com/dns');
      const texts = readdirSync(to).map((file) => readFileSync(join(to, file), 'utf8'));
      expect(texts.join('\n')).to.not.contain('skeleton').and.not.contain('example.org');
      expect(readFileSync(join(to, 'deployer.ts'), 'utf8'))
        .to.contain("type: 'example.com/dns'")
        .and.contain("name: 'dns-record.example.com'");
      const { dependencies } = JSON.parse(readFileSync(join(to, 'package.json'), 'utf8')) as {
        dependencies: Record<string, string>;
      };
      expect(dependencies).to.have.all.keys('espalier', 'zod');
    });

    it('does not write into a folder that is not empty', async () => {
      writeFileSync(join(folder, 'mine.txt'), 'mine');
      const { code, err } = await run('new', 'dns', '--to', folder);
      expect(code).to.equal(2);
      expect(err).to.contain('is not empty; choose another folder with --to');
      expect(readdirSync(folder)).to.deep.equal(['mine.txt']);
    });

    for (const [what, args] of [
      ['name', ['Dns_Record']],
      ['type', ['dns', '--type', 'dns']],
    ] as const) {
      it(`refuses an invalid ${what}`, async () => {
        const { code, err } = await run('new', ...args, '--to', join(folder, 'x'));
        expect(code).to.equal(2);
        expect(err).to.match(/ is not a valid (deployer name|type); use /);
      });
    }
  });

  describe('check', () => {
    const subject = (text: string): string => {
      const file = join(folder, 'subject.yaml');
      writeFileSync(file, text);
      return file;
    };

    it('starts a deployer, reports check by check, and stops it', async () => {
      const args = [...PATIENCE, '--', process.execPath, ...MAIN];
      const { code, out } = await run('check', subject(SUBJECT), ...args);
      expect(out).to.contain('✓ ends a job with phase, job id and time in one write');
      expect(out).to.match(/\n1\d passed, 0 failed, \d skipped\n$/);
      expect(code).to.equal(0);
    });

    it('fails with its observation if a check fails', async () => {
      const broken = SUBJECT.replace('greeting: hello', 'greeting: 5');
      const args = [...PATIENCE, '--only', 'end', '--', process.execPath, ...MAIN];
      const { code, out } = await run('check', subject(broken), ...args);
      expect(out)
        .to.contain('status.phase is "Failed", expected "Succeeded"')
        .and.contain('0 passed, 1 failed');
      expect(code).to.equal(1);
    });

    it('reports a deployer that exits by itself', async () => {
      const { code, err } = await run(
        'check',
        subject(SUBJECT),
        '--',
        process.execPath,
        '-e',
        'process.exit(7)',
      );
      expect(err).to.contain('ended with exit code 7');
      expect(code).to.equal(1);
    });

    it('stops the deployer and leaves nothing behind when it is interrupted', async () => {
      const started = join(folder, 'started');
      const source = `require('fs').writeFileSync(process.argv[1], process.pid + ' ' + process.env.KUBECONFIG); setInterval(() => 0, 1000)`;
      const main = ['--import=tsx', 'src/cli/main.ts', 'deployers', 'check', subject(SUBJECT)];
      const program = spawn(process.execPath, [...main, '--', process.execPath, '-e', source, started], {
        stdio: 'ignore',
      });
      try {
        const exit = once(program, 'exit') as Promise<[number | null]>;
        const noted = (): string[] => (existsSync(started) ? readFileSync(started, 'utf8').split(' ') : []);
        await eventually('the deployer runs', () => noted().length >= 2 || program.exitCode !== null);
        const [pid, kubeconfig = ''] = noted();
        expect(existsSync(kubeconfig)).to.equal(true);
        program.kill('SIGINT');
        expect((await exit)[0]).to.equal(1);
        expect(() => process.kill(Number(pid), 0)).to.throw('ESRCH');
        expect(existsSync(kubeconfig)).to.equal(false);
      } finally {
        program.kill('SIGKILL');
      }
    });

    it('reports mistakes in the description of the deployer', async () => {
      const { code, err } = await run('check', subject('type: a/b\nsucceds: {}'), '--', 'true');
      expect(code).to.equal(2);
      expect(err).to.contain('subject.yaml').and.contain('succeeds');
    });

    it('accepts only the names of its checks', async () => {
      const file = join(folder, 'subject.yaml');
      writeFileSync(file, SUBJECT);
      const { code, err } = await run('check', file, '--only', 'deletes,retris', '--', 'true');
      expect(code).to.equal(2);
      expect(err).to.match(/^error: there is no check deletes; /);
    });

    it('names a missing file', async () => {
      const { code, err } = await run('check', join(folder, 'none.yaml'), '--', 'true');
      expect(code).to.equal(2);
      expect(err).to.match(/^error: there is no file .*none\.yaml\n$/);
    });

    it('asks for the address of the deployer', async () => {
      const { code, err } = await run('check', subject(SUBJECT));
      expect(code).to.equal(2);
      expect(err).to.contain('--kubeconfig');
    });
  });
});
