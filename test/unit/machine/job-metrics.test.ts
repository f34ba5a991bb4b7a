import { expect } from 'chai';
import { observeJobs } from '../../../src/landscape/job-metrics.ts';
import type { World } from '../../../src/landscape/world.ts';
import { createMetrics } from '../../../src/observability/metrics.ts';
import type { Change, Obj, Subscriber } from '../../../src/runtime/types.ts';
import { FakeClock } from '../../support/clock.ts';

type Told = (change: Change<Obj>) => void;

function setUp() {
  const clock = new FakeClock();
  const metrics = createMetrics();
  const told: Record<string, Told> = {};
  const cache = (kind: string) => ({
    subscribe({ on }: Subscriber<Obj>) {
      told[kind] = on;
      return () => undefined;
    },
  });
  const world = { installations: cache('inst'), executions: cache('exec'), deployItems: cache('di') };
  observeJobs(world as unknown as World, metrics, clock);
  const lines = async (name: string): Promise<readonly string[]> =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.startsWith(`espalier_landscape_${name}{`))
      .map((line) => line.slice('espalier_landscape_'.length + name.length));
  return { clock, lines, tell: (kind: string, change: unknown) => told[kind]?.(change as Change<Obj>) };
}

const object = (name: string, status?: object) => ({ metadata: { name, namespace: 'demo' }, status });
const added = (obj: object) => ({ type: 'add', obj, initial: true });

describe('the metrics about landscapes', () => {
  it('have no series for phases that only a user can have written', async () => {
    const { tell, lines } = setUp();
    for (const i of [1, 2, 3]) tell('inst', added(object(`i${String(i)}`, { phase: `Mine-${String(i)}` })));
    expect(await lines('objects')).to.deep.equal(['{kind="Installation",phase="other"} 3']);
  });

  it('count the objects of each kind by phase', async () => {
    const { tell, lines } = setUp();
    const [a, b] = [object('a'), object('b', { phase: 'Failed', jobID: 'j', jobIDFinished: 'j' })];
    tell('inst', added(a));
    tell('inst', added(b));
    tell('di', added(object('c', { phase: 'Succeeded' })));
    const next = object('a', { phase: 'Init', jobID: 'k' });
    tell('inst', { type: 'update', old: a, obj: next, relisted: false });
    tell('inst', { type: 'delete', obj: b, finalStateUnknown: false });
    expect(await lines('objects')).to.deep.equal([
      '{kind="Installation",phase="none"} 0',
      '{kind="Installation",phase="Failed"} 0',
      '{kind="Installation",phase="Init"} 1',
      '{kind="DeployItem",phase="Succeeded"} 1',
    ]);
  });

  it('show how long the oldest job has been running', async () => {
    const { clock, tell, lines } = setUp();
    const ago = (seconds: number) => new Date(clock.wall() - seconds * 1000).toISOString();
    const running = (seconds: number) => ({ jobID: 'j', transitionTimes: { triggerTime: ago(seconds) } });
    tell('exec', added(object('a', running(90))));
    tell('exec', added(object('b', running(30))));
    expect(await lines('unfinished_jobs'))
      .to.include('{kind="Execution"} 2')
      .and.include('{kind="DeployItem"} 0');
    expect(await lines('oldest_unfinished_job_seconds')).to.deep.equal([
      '{kind="Installation"} 0',
      '{kind="Execution"} 90',
      '{kind="DeployItem"} 0',
    ]);
    const ended = object('a', { ...running(90), jobIDFinished: 'j' });
    tell('exec', { type: 'update', old: object('a', running(90)), obj: ended, relisted: false });
    expect(await lines('oldest_unfinished_job_seconds')).to.include('{kind="Execution"} 30');
    tell('exec', { type: 'delete', obj: object('b', running(30)), finalStateUnknown: true });
    expect(await lines('oldest_unfinished_job_seconds')).to.include('{kind="Execution"} 0');
  });

  it('count a job without a valid start from when it was first seen', async () => {
    const { clock, tell, lines } = setUp();
    const status = { jobID: 'j', transitionTimes: { triggerTime: 'soon' } };
    tell('di', added(object('a', status)));
    await clock.advance(5_000);
    tell('di', {
      type: 'update',
      old: object('a', status),
      obj: object('a', { ...status, phase: 'Init' }),
      relisted: false,
    });
    expect(await lines('oldest_unfinished_job_seconds')).to.include('{kind="DeployItem"} 5');
  });
});
