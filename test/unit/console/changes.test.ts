/** Plans in the console: the process that makes them, the route, and their groups on the page. */
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createPlanners,
  standardLimits,
  type PlanLimits,
  type Planner,
} from '../../../src/cli/console/changes/plan-process.ts';
import { allowedFor } from '../../../src/cli/console/in-cluster/allowances.ts';
import type { Plan, PlannedItem } from '../../../src/cli/console/wire.ts';
import { groupsOf, summaryWords, valueText } from '../../../web/console/planned.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { skip, WITHOUT_PROC } from '../../support/skip.ts';
import { collected, installation } from '../cli/given.ts';
import { ask, consoleOf, cookieOf, ORIGIN } from './parts.ts';
import { eventually } from '../../support/waiting.ts';

const LANDSCAPE = { namespace: 'proj', name: 'web' };

describe('the process that plans', function () {
  this.timeout(30_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-planner-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });
  /** @param code of a program; `given` are its arguments */
  const planner = (code: string, limits: Partial<PlanLimits> = {}): Planner =>
    plannersOf(code, limits)({ id: '' });
  const plannersOf = (code: string, limits: Partial<PlanLimits>) =>
    createPlanners({
      planArgs: ['--context', 'test'],
      program: [programOf(code)],
      limits: { ...standardLimits, ...limits },
    });
  const programOf = (code: string): string => {
    const file = join(folder, `${String(Math.random()).slice(2)}.mjs`);
    writeFileSync(file, `const given = process.argv.slice(2);\n${code}`);
    return file;
  };
  const signal = new AbortController().signal;
  const failure = (planned: Promise<Buffer>): Promise<{ statusCode?: number; message: string }> =>
    planned.then(
      () => expect.fail('there is a plan'),
      (error: unknown) => error as { message: string },
    );

  it('is called with the landscape and the cluster of the console', async () => {
    const plan = planner('process.stdout.write(JSON.stringify(given))');
    expect(JSON.parse((await plan(LANDSCAPE, signal)).toString())).to.deep.equal([
      'plan',
      'web',
      '-n',
      'proj',
      '-o',
      'json',
      '--context',
      'test',
    ]);
  });

  it('may report that the job would fail', async () => {
    const plan = planner('process.stdout.write("{}"); process.exitCode = 1');
    expect((await plan(LANDSCAPE, signal)).toString()).to.equal('{}');
  });

  it('reports its error if there is no plan', async () => {
    const plan = planner(
      'process.stderr.write("warning\\nerror: there is no installation web\\n"); process.exitCode = 1',
    );
    expect(await failure(plan(LANDSCAPE, signal))).to.deep.include({
      statusCode: 502,
      message: 'there is no installation web',
    });
  });

  it('is killed if it takes too long, or writes too much', async () => {
    const slow = planner('setInterval(() => undefined, 1000)', { timeoutMs: 200 });
    expect(await failure(slow(LANDSCAPE, signal))).to.include({ statusCode: 504 });
    const large = planner('for (;;) process.stdout.write("x".repeat(1000))', { maxBytes: 5_000 });
    expect(await failure(large(LANDSCAPE, signal))).to.include({ statusCode: 413 });
  });

  it('is killed when the viewer leaves, and only two run at the same time', async () => {
    const plan = planner('setInterval(() => undefined, 1000)');
    const leaving = new AbortController();
    const running = [plan(LANDSCAPE, leaving.signal), plan(LANDSCAPE, leaving.signal)].map(failure);
    expect(await failure(plan(LANDSCAPE, signal))).to.include({ statusCode: 429 });
    leaving.abort(new Error('the browser closed the connection'));
    await Promise.all(running);
    const next = new AbortController();
    const again = failure(plan(LANDSCAPE, next.signal));
    next.abort(new Error('the test is over'));
    expect((await again).statusCode).to.equal(undefined);
  });

  it('runs once for each user at the same time, and not more often than for all of them', async () => {
    const plannerOf = plannersOf('setInterval(() => undefined, 1000)', { total: 2, perUser: 1 });
    const leaving = new AbortController();
    const start = (id: string) => failure(plannerOf({ id })(LANDSCAPE, leaving.signal));
    const first = start('ann');
    expect((await start('ann')).message).to.contain('another plan of yours');
    const second = start('ben');
    expect((await start('eve')).message).to.contain('other plans are being computed');
    leaving.abort(new Error('all have left'));
    await Promise.all([first, second]);
  });

  it('is killed if it needs too much memory, on its heap or outside of it', async function () {
    // On a busy machine, a process whose heap is nearly full takes long until it fails.
    this.timeout(120_000);
    if (process.platform !== 'linux') skip(this, WITHOUT_PROC);
    const grow = 'const kept = []; const grow = () => { GROW; setTimeout(grow, 5); }; grow();';
    const heap = 'kept.push(Array.from({ length: 2 ** 18 }, (_, i) => ({ i })))';
    const buffers = 'kept.push(Buffer.alloc(2 ** 23, 1))';
    for (const what of [heap, buffers]) {
      const plan = planner(grow.replace('GROW', what), { memoryMiB: 150 });
      expect(await failure(plan(LANDSCAPE, signal)), what).to.deep.include({
        statusCode: 413,
        message: 'the plan needs more than 150 MiB of memory',
      });
    }
  });

  it('is killed with the programs that it has started, and their memory counts', async function () {
    if (process.platform !== 'linux') skip(this, WITHOUT_PROC);
    const pidFile = join(folder, 'program.pid');
    const starting = (program: string) => `
      import { spawn } from 'node:child_process';
      import { renameSync, writeFileSync } from 'node:fs';
      const started = spawn(process.execPath, ['-e', ${JSON.stringify(program)}], { detached: true, stdio: 'ignore' });
      writeFileSync(${JSON.stringify(`${pidFile}.new`)}, String(started.pid));
      renameSync(${JSON.stringify(`${pidFile}.new`)}, ${JSON.stringify(pidFile)});`;
    const leaving = new AbortController();
    const left = failure(planner(starting('setInterval(() => {}, 1000)'))(LANDSCAPE, leaving.signal));
    await eventually('the program has started', () => existsSync(pidFile));
    leaving.abort(new Error('the browser closed the connection'));
    expect((await left).message).to.equal('the browser closed the connection');
    const isRunning = () => existsSync(`/proc/${readFileSync(pidFile, 'utf8')}/root`);
    await eventually('the program has ended', () => !isRunning());

    const growing = starting('const kept = []; setInterval(() => kept.push(Buffer.alloc(2 ** 23, 1)), 5)');
    expect(await failure(planner(growing, { memoryMiB: 250 })(LANDSCAPE, signal))).to.include({
      statusCode: 413,
    });
    await eventually('the program has ended', () => !isRunning());
  });

  it('has the token of the viewer in the cluster, which other processes cannot read, and nothing of the pod', async function () {
    if (process.platform !== 'linux') skip(this, WITHOUT_PROC);
    const code = `
      import { readFileSync } from 'node:fs';
      const visible = readFileSync('/proc/self/cmdline', 'utf8') + readFileSync('/proc/self/environ', 'utf8');
      const input = readFileSync(0, 'utf8');
      process.stdout.write(JSON.stringify({ given, env: process.env, visible, input }));`;
    const plans = {
      total: 1,
      perUser: 1,
      memoryMiB: 256,
      timeoutMs: 20_000,
      planArgs: ['--config', 'c.yaml'],
      program: [programOf(code)],
    };
    const ofPod = {
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      KUBECONFIG: '/home/config',
      NODE_OPTIONS: '--x',
      PASSWORD: 'p',
    };
    const env = { ...ofPod, PATH: '/bin', HOME: '/tmp', https_proxy: 'http://proxy' };
    const { plan, targets } = allowedFor(
      { targets: false, plans },
      { server: 'https://10.0.0.1' },
      {
        clock: systemClock,
        log: silentLogger,
        env,
      },
    )({ client: {} as Client, token: 'token-of-ann', name: 'ann', id: 'ann' }, signal);
    expect(targets).to.equal(undefined);
    const seen = JSON.parse(String(await plan?.(LANDSCAPE, signal))) as Record<
      'visible' | 'input',
      string
    > & {
      readonly given: readonly string[];
      readonly env: object;
    };
    expect(seen.env).to.deep.equal({ PATH: '/bin', HOME: '/tmp', https_proxy: 'http://proxy' });
    expect(seen.given).to.include.members(['--kubeconfig-stdin', '--no-registry-credentials', 'c.yaml']);
    expect(seen.visible).to.contain('--kubeconfig-stdin').and.not.contain('token-of-ann');
    const { users, clusters } = JSON.parse(seen.input) as Record<'users' | 'clusters', readonly object[]>;
    expect(users).to.deep.equal([{ name: 'viewer', user: { token: 'token-of-ann' } }]);
    expect(clusters).to.deep.equal([{ name: 'cluster', cluster: { server: 'https://10.0.0.1' } }]);
  });

  it('is killed in the cluster when the session ends', async () => {
    const plans = {
      ...standardLimits,
      planArgs: [],
      program: [programOf('setInterval(() => undefined, 1000)')],
    };
    const session = new AbortController();
    const { plan } = allowedFor(
      { targets: true, plans },
      { server: 'https://10.0.0.1' },
      {
        clock: systemClock,
        log: silentLogger,
        env: {},
      },
    )({ client: {} as Client, token: 't', name: 'ann', id: 'ann' }, session.signal);
    const running = failure(plan?.(LANDSCAPE, signal) ?? expect.fail('there is no planner'));
    session.abort(new Error('the session has ended'));
    expect((await running).statusCode).to.equal(undefined);
  });
});

describe('changes in the console', () => {
  const serve = (plan?: Planner) => {
    const { server, sessions } = consoleOf(
      collected(installation('web', { phase: 'Succeeded' })),
      {},
      { plan },
    );
    const cookie = cookieOf(sessions);
    return {
      server,
      get: (name: string) => ask(server, cookie, { url: `/api/landscapes/proj/${name}/changes` }),
      cookie,
    };
  };

  it('are the plan of the landscape', async () => {
    const asked: object[] = [];
    const { get } = serve((landscape) => {
      asked.push(landscape);
      return Promise.resolve(Buffer.from('{"items":[]}'));
    });
    const answer = await get('web');
    expect(answer.json()).to.deep.equal({ items: [] });
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
    expect((await get('other')).statusCode).to.equal(404);
    expect(asked).to.deep.equal([LANDSCAPE]);
  });

  it('are not available where the console does not compute plans, and the message says what to do', async () => {
    const answer = await serve().get('web');
    expect(answer.statusCode).to.equal(501);
    expect(answer.body).to.contain('espalier plan web -n proj');
  });

  it('end when the viewer leaves', async () => {
    const events = new EventEmitter();
    const { server, cookie } = serve((_, signal) => {
      signal.addEventListener('abort', () => events.emit('ended'));
      events.emit('started');
      return once(signal, 'abort').then(() => Buffer.from(''));
    });
    const url = await server.listen({ port: 0, host: '127.0.0.1' });
    const [started, ended] = [once(events, 'started'), once(events, 'ended')];
    const headers = { host: new URL(ORIGIN).host, cookie };
    const leaving = request(`${url}/api/landscapes/proj/web/changes`, { headers });
    leaving.on('error', () => undefined).end();
    await started;
    leaving.destroy();
    await ended;
    await server.close();
  });
});

describe('a plan on the page', () => {
  const item = (path: string, more: Partial<PlannedItem>): PlannedItem => ({
    path,
    type: 't',
    state: 'same',
    isKnown: true,
    objects: [],
    notes: [],
    ...more,
  });
  const object = (change: 'change' | 'unchanged') =>
    ({ change, kind: 'ConfigMap', name: 'settings' }) as const;
  const summary = { create: 0, change: 0, delete: 0, unchanged: 2, kept: 1, unknown: 0, problems: 0 };
  const plan = (...items: readonly PlannedItem[]): Plan => ({ items, problems: [], summary });

  it('separates what the job changes from live objects that differ', () => {
    const items = [
      item('web/new', { state: 'new' }),
      item('web/changed', { state: 'changed', objects: [object('unchanged')] }),
      item('web/gone', { state: 'gone' }),
      item('web/drifted', { objects: [object('unchanged'), object('change')] }),
      item('web/unreadable', { problem: 'the target does not answer', isKnown: false }),
      item('web/skipped', { state: 'idle', drift: { objects: [object('change')] } }),
      item('web/same', { objects: [object('unchanged')] }),
      item('web/idle', { state: 'idle' }),
    ];
    const { changed, drifted, skipped, unchanged } = groupsOf(plan(...items));
    const paths = (group: readonly PlannedItem[]): readonly string[] => group.map(({ path }) => path);
    expect(paths(changed)).to.deep.equal(['web/new', 'web/changed', 'web/gone']);
    expect(paths(drifted)).to.deep.equal(['web/drifted', 'web/unreadable']);
    expect(skipped.map(({ path, objects }) => [path, objects])).to.deep.equal([
      ['web/skipped', [object('change')]],
    ]);
    expect(paths(unchanged)).to.deep.equal(['web/same', 'web/idle']);
  });

  it('is summarized in words', () => {
    expect(summaryWords(plan())).to.equal('nothing to change, 3 objects unchanged');
    const skipped = item('web/skipped', { state: 'idle', drift: { objects: [object('change')] } });
    expect(summaryWords(plan(skipped))).to.equal(
      'nothing to change, 1 differs and stays, 3 objects unchanged',
    );
    expect(summaryWords({ ...plan(), summary: { ...summary, create: 1, delete: 2, problems: 1 } })).to.equal(
      '1 to create, 2 to delete, 1 would fail, 3 objects unchanged',
    );
  });

  it('shows values as JSON, and texts with several lines as they are', () => {
    expect(valueText('a')).to.equal('"a"');
    expect(valueText({ a: 1 })).to.equal('{"a":1}');
    expect(valueText('a\nb')).to.equal('a\nb');
  });
});
