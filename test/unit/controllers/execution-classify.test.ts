/** Which item belongs to which template, the state of each, and the objects that an execution waits for. */
import { expect } from 'chai';
import { awaiting, missingDeployerText } from '../../../controllers/execution/awaiting.ts';
import {
  assign,
  dueForRemoval,
  isUnusedDuplicate,
  jobOf,
  mayBeStarting,
  planRemoval,
  planStart,
  templateName,
  withStoredDurations,
} from '../../../controllers/execution/classify.ts';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { NOW, deleting, done, execution, item, running, template } from '../../support/given.ts';

const JOB = 'j2';
const self = execution('plan', { status: running(JOB) });
const leaving = execution('plan', { status: running(JOB, 'Deleting'), meta: deleting });
const names = (items: readonly DeployItem[] | ReturnType<typeof dueForRemoval>): string[] =>
  items.map(({ metadata }) => metadata.name);
const bare = (object: DeployItem): DeployItem => ({
  apiVersion: object.apiVersion,
  kind: object.kind,
  metadata: object.metadata,
  spec: object.spec,
});

describe('the durations of a template', () => {
  const rows: readonly [string, string | undefined, string | undefined][] = [
    ['are written as Go prints them', '90s', '1m30s'],
    ['stay unchanged if they are invalid', 'soon', 'soon'],
    ['stay absent', undefined, undefined],
  ];
  for (const [title, given, stored] of rows) {
    it(title, () => {
      const [found] = withStoredDurations([template('a', given === undefined ? {} : { timeout: given })]);
      expect(found).to.deep.equal(template('a', stored === undefined ? {} : { timeout: stored }));
    });
  }
});

describe('the item of a template', () => {
  const keeps = (status: object): boolean =>
    assign(self, [template('a')], [item('plan', 'a', status, deleting)]).active.has('a');
  const rows: readonly [string, object, boolean][] = [
    ['has succeeded in this job', done(JOB), true],
    ['has failed in this job', done(JOB, 'Failed'), true],
    ['is being installed by this job', running(JOB), true],
    ['has the job and has not begun', running(JOB, ''), false],
    ['has not received the job', done('j1'), false],
    ['never had a job', {}, false],
    ['is being uninstalled by this job', running(JOB, 'Deleting'), false],
    ['could not be uninstalled by this job', done(JOB, 'DeleteFailed'), false],
  ];
  for (const [title, status, isKept] of rows) {
    it(`${isKept ? 'stays' : 'is no longer'} the deleted one that ${title}`, () => {
      expect(keeps(status)).to.equal(isKept);
    });
  }

  it('is not one under deletion if the execution has no job', () => {
    const given = item('plan', 'a', { phase: 'Progressing' }, deleting);
    expect(assign(execution('plan'), [template('a')], [given]).active.size).to.equal(0);
  });

  it('needs no status, and must name a template', () => {
    const nameless = item('plan', 'a', {}, { name: 'nameless', labels: {} });
    const unlabelled = bare({ ...nameless, metadata: { name: 'unlabelled' } });
    const { active, orphans } = assign(
      self,
      [template('a')],
      [nameless, unlabelled, bare(item('plan', 'a'))],
    );
    expect([...active.values()].map(({ metadata }) => metadata.name)).to.deep.equal(['plan-a-x']);
    expect(names(orphans)).to.deep.equal(['nameless', 'unlabelled']);
    expect([nameless, unlabelled].map(templateName)).to.deep.equal(['', '']);
  });

  it('has no unused duplicate if the item itself names no template', () => {
    const nameless = item('plan', 'a', {}, { labels: {} });
    const active = new Map([['a', item('plan', 'a')]]);
    expect(isUnusedDuplicate(nameless, active)).to.equal(false);
    expect(isUnusedDuplicate(item('plan', 'a'), active)).to.equal(true);
    expect(isUnusedDuplicate(item('plan', 'a', done('j1')), active)).to.equal(false);
    expect(isUnusedDuplicate(item('plan', 'b'), active)).to.equal(false);
  });
});

describe('the items that may start', () => {
  const templates = [template('a'), template('b'), template('c', { dependsOn: ['a'] })];
  const planned = (...items: readonly DeployItem[]) =>
    planStart(self, templates, assign(self, templates, items).active);

  it('are none after a failure, not even those without dependencies', () => {
    const plan = planned(item('plan', 'a', done(JOB, 'Failed')), item('plan', 'b'), item('plan', 'c'));
    expect(plan).to.deep.include({ start: [], running: [], blocked: ['b', 'c'], failed: ['a'] });
  });

  it('are those whose dependencies have all finished', () => {
    const plan = planned(item('plan', 'a', done(JOB)), item('plan', 'b', running(JOB)), item('plan', 'c'));
    expect(plan).to.deep.include({ start: ['c'], running: ['b'], blocked: [], failed: [] });
  });

  it('include those that never had a status', () => {
    expect(planned(...['a', 'b', 'c'].map((name) => bare(item('plan', name)))).start).to.deep.equal([
      'a',
      'b',
    ]);
  });

  it('are none after a missing item, which counts as failed', () => {
    expect(planned(item('plan', 'a', done(JOB)), item('plan', 'c', done(JOB))).failed).to.deep.equal(['b']);
  });

  it('receive a job, and without one nothing fails', () => {
    expect([jobOf(self), jobOf(execution('plan')), jobOf(execution('plan', { status: {} }))]).to.deep.equal([
      JOB,
      '',
      '',
    ]);
  });
});

describe('the items that may be deleted', () => {
  const templates = [template('a'), template('b', { dependsOn: ['a'] })];
  const old = done('j1');

  it('are none after a failure, not even those without dependents', () => {
    for (const phase of ['Failed', 'DeleteFailed']) {
      const items = [item('plan', 'a', old, deleting), item('plan', 'x', done(JOB, phase), deleting)];
      const { remove, failed } = planRemoval(leaving, templates, items);
      expect(remove).to.deep.equal([]);
      expect(names(failed)).to.deep.equal(['plan-x-x']);
      expect(names(dueForRemoval(leaving, templates, items))).to.deep.equal([]);
    }
  });

  it('are those that have not received the job, also without a status', () => {
    const items = [bare(item('plan', 'a', {}, deleting)), item('plan', 'x', {}, { labels: {} })];
    expect(planRemoval(leaving, templates, items).remove).to.deep.equal(['plan-a-x', 'plan-x-x']);
  });

  it('are, in an execution that stays, those that are marked and have not received the job', () => {
    const items = [
      item('plan', 'a'),
      item('plan', 'x', old, deleting),
      item('plan', 'y', done(JOB), deleting),
    ];
    expect(names(dueForRemoval(self, templates, items))).to.deep.equal(['plan-x-x']);
    expect(names(dueForRemoval(execution('plan'), templates, items))).to.deep.equal(['plan-x-x', 'plan-y-x']);
  });

  it('are found with one look at each dependency, however many items name the same template', () => {
    let reads = 0;
    const dependsOn = new Proxy(['a'], {
      get(list, at, receiver): unknown {
        if (at === '0') reads++;
        return Reflect.get(list, at, receiver);
      },
    });
    const crowd = Array.from({ length: 200 }, (_, i) => [
      item('plan', 'a', old, { name: `a-${i}` }),
      item('plan', 'b', old, { name: `b-${i}` }),
    ]).flat();
    const { remove, blocked } = planRemoval(leaving, [template('a'), template('b', { dependsOn })], crowd);
    expect(remove).to.have.members(
      crowd.map(({ metadata }) => metadata.name).filter((n) => n.startsWith('b')),
    );
    expect(blocked).to.have.lengthOf(200);
    expect(reads).to.be.at.most(1);
    const left = crowd.filter(({ metadata }) => metadata.name.startsWith('a'));
    expect(planRemoval(leaving, [template('a'), template('b', { dependsOn })], left).remove).to.have.lengthOf(
      200,
    );
  });

  it('exclude missing items while something may be starting', () => {
    const items = [item('plan', 'b', old)];
    expect(mayBeStarting(execution('plan', { status: running(JOB) }), [template('a')], items)).to.deep.equal(
      items,
    );
    expect(mayBeStarting(bareExecution, templates, items)).to.deep.equal([]);
  });
  const bareExecution = execution('plan');
});

describe('an execution that waits', () => {
  const SHORT_WHILE_MS = 10_000;
  const given = (secondsAgo: number, more: object = {}) =>
    item('plan', 'a', {
      ...running(JOB, ''),
      jobIDGenerationTime: new Date(Date.parse(NOW) - secondsAgo * 1000).toISOString(),
      ...more,
    });
  const missingDeployer = (type: string) => `no deployer handles ${type}`;
  const wait = (items: readonly DeployItem[], starting: readonly DeployItem[] = []) =>
    awaiting({ self, now: NOW, missingDeployer }, 'JobsUnfinished', items, starting);

  it('is reconciled again when the short pick-up time of deployers has passed', () => {
    expect(wait([given(4)])).to.deep.equal({
      awaited: { reason: 'JobsUnfinished', objects: ['deploy item plan-a-x'] },
      requeueAfterMs: 6_000,
    });
    expect(wait([given(9), given(1)]).requeueAfterMs).to.equal(1_000);
    const starting = item('plan', 'b');
    expect(wait([starting], [starting]).requeueAfterMs).to.equal(SHORT_WHILE_MS);
    const again = given(60);
    expect(wait([again], [again])).to.have.property('requeueAfterMs', SHORT_WHILE_MS);
  });

  it('waits for a deployer when the short pick-up time has passed, to the second', () => {
    const { awaited, requeueAfterMs } = wait([given(10)]);
    expect(awaited).to.deep.equal({
      reason: 'NotTakenUp',
      message: 'deploy item plan-a-x is not picked up: no deployer handles test.example/fake',
    });
    expect(requeueAfterMs).to.equal(undefined);
  });

  const rests: readonly [string, DeployItem][] = [
    ['has been picked up', given(60, { lastReconcileTime: NOW })],
    ['has finished its job', given(60, done(JOB))],
    ['has no time for the start of its job', item('plan', 'a', running(JOB, ''))],
    ['has no status', bare(item('plan', 'a'))],
  ];
  for (const [title, object] of rests) {
    it(`waits only for the end of an item that ${title}`, () => {
      expect(wait([object])).to.deep.equal({
        awaited: { reason: 'JobsUnfinished', objects: ['deploy item plan-a-x'] },
      });
    });
  }
});

describe('the missing deployer of items that are not picked up', () => {
  const TYPE = 'test.example/fake';
  const tell = (served: readonly string[], former?: string) =>
    missingDeployerText(TYPE, new Set(served), former);

  it('is none if a deployer of this process handles the type', () => {
    expect(tell([TYPE], 'helm')).to.equal(undefined);
  });

  it('is the deployer of another process that has picked up such an item', () => {
    expect(tell(['x', 'y'], 'fake')).to.equal(
      `no deployer in this process handles type ${TYPE} (only x, y), and deployer fake, which handled the type before, has not picked it up yet`,
    );
  });

  it('is unknown if no deployer ever picked up such an item', () => {
    expect(tell([])).to.equal(
      `no deployer in this process handles type ${TYPE}, and no deployer has ever picked up an item of this type`,
    );
  });
});
