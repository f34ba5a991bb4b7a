import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { planOfProgram } from '../../../../deployers/sdk/plan-program.ts';
import type { PlanRequest } from '../../../../deployers/sdk/plan-protocol.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { FakeClock } from '../../../support/clock.ts';
import { eventually } from '../../../support/waiting.ts';

const HEAD = { apiVersion: 'espalier.dev/v1alpha1', kind: 'PlanResponse' };
const request: PlanRequest = {
  direction: 'apply',
  deployItem: {
    apiVersion: 'landscaper.gardener.cloud/v1alpha1',
    kind: 'DeployItem',
    metadata: { name: 'item', namespace: 'shop' },
    spec: { type: 'example.org/file' },
  },
};

describe('a plan of a program', function () {
  this.timeout(20_000);
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plan-program-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const script = (text: string): readonly string[] => {
    const file = join(folder, 'deployer.mjs');
    writeFileSync(file, text);
    return [process.execPath, file, '--flag'];
  };
  const printing = (text: string): readonly string[] =>
    script(`process.stdin.resume(); process.stdout.write(${JSON.stringify(text)});`);
  const signal = new AbortController().signal;
  const ask = (command: readonly string[]) => planOfProgram(command, request, { clock: systemClock, signal });
  const refusal = (command: readonly string[]): Promise<string> =>
    ask(command).then(
      () => 'a plan',
      (error: unknown) => `${(error as Error).name}: ${(error as Error).message.replaceAll(folder, '')}`,
    );

  it('sends the request on standard input, and calls the program with plan', async () => {
    const seen = join(folder, 'seen.json');
    const command = script(`
      import { readFileSync, writeFileSync } from 'node:fs';
      const request = JSON.parse(readFileSync(0, 'utf8'));
      writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ request, args: process.argv.slice(2) }));
      console.log(${JSON.stringify(JSON.stringify(HEAD))});`);
    expect(await ask(command)).to.deep.equal({ objects: [], notes: [] });
    expect(JSON.parse(readFileSync(seen, 'utf8'))).to.deep.equal({
      request: { apiVersion: HEAD.apiVersion, kind: 'PlanRequest', ...request },
      args: ['--flag', 'plan'],
    });
  });

  it('contains the objects with their content', async () => {
    const named = { apiVersion: 'file.example.org/v1', kind: 'File', name: 'a.txt' };
    const objects = [
      { ...named, change: 'change', before: { content: 'old' }, after: { content: 'new' }, note: 'why' },
      { ...named, namespace: 'ns', change: 'create', problem: 'the folder is missing' },
    ];
    const { objects: planned, notes } = await ask(
      printing(JSON.stringify({ ...HEAD, objects, notes: ['n'] })),
    );
    const head = { apiVersion: named.apiVersion, kind: 'File', metadata: { name: 'a.txt' } };
    expect(planned[0]).to.deep.include({
      ref: named,
      change: 'change',
      note: 'why',
      before: { ...head, content: 'old' },
      after: { ...head, content: 'new' },
    });
    expect(planned[1]).to.deep.include({
      ref: { ...named, namespace: 'ns' },
      problem: 'the folder is missing',
    });
    expect(notes).to.deep.equal(['n']);
  });

  for (const [what, output, expected] of [
    ['no response', '', 'PlanRefused: the deployer "…" wrote nothing to standard output'],
    [
      'a response that is not JSON',
      'starting\n{}',
      'PlanRefused: the response of the deployer "…" is not one JSON document',
    ],
    ['another document', '{"kind":"List"}', 'is not a valid PlanResponse: apiVersion: '],
    [
      'an unknown change',
      JSON.stringify({ ...HEAD, objects: [{ change: 'add', apiVersion: 'v1', kind: 'A', name: 'a' }] }),
      'is not a valid PlanResponse: objects[0].change: ',
    ],
    ['an unknown field', JSON.stringify({ ...HEAD, object: [] }), 'is not a valid PlanResponse: '],
    [
      'a reason why it is unknown',
      JSON.stringify({ ...HEAD, unknown: 'too early' }),
      'PlanUnknown: too early',
    ],
    ['a problem', JSON.stringify({ ...HEAD, problem: 'bad name' }), 'PlanRefused: bad name'],
  ] as const)
    it(`is refused for ${what}`, async () => {
      const refused = (await refusal(printing(output))).replace(/"[^"]* --flag"/, '"…"');
      expect(refused).to.contain(expected);
    });

  it('is refused with the end of standard error if the program fails', async () => {
    const failing = script("console.error('connection refused'); process.exitCode = 3;");
    expect(await refusal(failing)).to.match(/ ended with exit code 3: connection refused$/);
    const silent = script("console.error(' '); process.exitCode = 3;");
    expect(await refusal(silent)).to.match(/ ended with exit code 3$/);
  });

  it('is refused if the program cannot be started', async () => {
    expect(await refusal(['./no-such-program'])).to.contain(
      'the deployer "./no-such-program" cannot be started: there is no program ./no-such-program',
    );
    writeFileSync(join(folder, 'text'), '');
    expect(await refusal([join(folder, 'text')])).to.contain('/text is not executable');
  });

  it('is refused if the response is too long', async () => {
    const endless = script(
      "const part = ' '.repeat(2 ** 20); for (;;) await new Promise((done) => process.stdout.write(part, done));",
    );
    expect(await refusal(endless)).to.contain('exceeds 16 MiB');
  });

  describe('of a program that does not respond', () => {
    /** Writes its process id, also that of its child. */
    const hanging = (): readonly string[] =>
      script(`
        import { spawn } from 'node:child_process';
        import { writeFileSync, renameSync } from 'node:fs';
        const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
        writeFileSync(${JSON.stringify(join(folder, 'part'))}, String(child.pid));
        renameSync(${JSON.stringify(join(folder, 'part'))}, ${JSON.stringify(join(folder, 'pid'))});
        setInterval(() => {}, 1000);`);
    const started = async (): Promise<number> => {
      const file = join(folder, 'pid');
      await eventually('the program runs', () => existsSync(file));
      return Number(readFileSync(file, 'utf8'));
    };
    const isRunning = (pid: number): boolean => {
      try {
        process.kill(pid, 0);
        return !readFileSync(`/proc/${String(pid)}/stat`, 'utf8').includes(') Z ');
      } catch {
        return false;
      }
    };
    const ended = (pid: number) => eventually('the program has ended', () => !isRunning(pid));

    it('ends with its time, and ends the processes of the program', async () => {
      const clock = new FakeClock();
      const planned = planOfProgram(hanging(), request, { clock, signal }).catch((error: unknown) => error);
      const pid = await started();
      await clock.advance(60_000);
      expect(((await planned) as Error).message).to.contain('did not respond within 60 s');
      await ended(pid);
    });

    it('ends when it is aborted', async () => {
      const stop = new AbortController();
      const planned = planOfProgram(hanging(), request, { clock: new FakeClock(), signal: stop.signal });
      const settled = planned.catch((error: unknown) => error);
      const pid = await started();
      stop.abort(new Error('interrupted'));
      expect(((await settled) as Error).message).to.equal('interrupted');
      await ended(pid);
    });
  });
});
