/** Plans in the console: the process that makes them, the route, and their groups on the page. */
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPlanner, type Planner } from '../../../src/cli/console/changes/plan-process.ts';
import type { Plan, PlannedItem } from '../../../src/cli/console/wire.ts';
import { groupsOf, summaryWords, valueText } from '../../../web/console/planned.ts';
import { collected, installation } from '../cli/given.ts';
import { ask, consoleOf, cookieOf, ORIGIN } from './parts.ts';

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
  const planner = (
    code: string,
    more: { readonly timeoutMs?: number; readonly maxBytes?: number } = {},
  ): Planner => {
    const file = join(folder, `${String(Math.random()).slice(2)}.mjs`);
    writeFileSync(file, `const given = process.argv.slice(2);\n${code}`);
    return createPlanner({ clusterArgs: ['--context', 'test'], program: [file], ...more });
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
    leaving.abort(new Error('the viewer has left'));
    await Promise.all(running);
    const next = new AbortController();
    const again = failure(plan(LANDSCAPE, next.signal));
    next.abort(new Error('the test is over'));
    expect((await again).statusCode).to.equal(undefined);
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

  it('are not available where the console makes no plans, which says what to do', async () => {
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
      item('web/same', { objects: [object('unchanged')] }),
      item('web/idle', { state: 'idle' }),
    ];
    const { changed, drifted, unchanged } = groupsOf(plan(...items));
    const paths = (group: readonly PlannedItem[]): readonly string[] => group.map(({ path }) => path);
    expect(paths(changed)).to.deep.equal(['web/new', 'web/changed', 'web/gone']);
    expect(paths(drifted)).to.deep.equal(['web/drifted', 'web/unreadable']);
    expect(paths(unchanged)).to.deep.equal(['web/same', 'web/idle']);
  });

  it('is summarized in words', () => {
    expect(summaryWords(plan())).to.equal('nothing to change, 3 objects unchanged');
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
