/** Which item belongs to which template, what each is doing, and what is waited for. */
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
    ['stay as they are when they are none', 'soon', 'soon'],
    ['stay away', undefined, undefined],
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
    ['has the job and is not begun yet', running(JOB, ''), false],
    ['has not got the job', done('j1'), false],
    ['never had a job', {}, false],
    ['is being uninstalled by this job', running(JOB, 'Deleting'), false],
    ['could not be uninstalled by this job', done(JOB, 'DeleteFailed'), false],
  ];
  for (const [title, status, isKept] of rows) {
    it(`${isKept ? 'stays' : 'is no longer'} the one that somebody deleted and that ${title}`, () => {
      expect(keeps(status)).to.equal(isKept);
    });
  }

  it('is none under deletion for an execution without a job', () => {
    const given = item('plan', 'a', { phase: 'Progressing' }, deleting);
    expect(assign(execution('plan'), [template('a')], [given]).active.size).to.equal(0);
  });

  it('needs no status, and is none that names no template', () => {
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

  it('has no double that is unused when the item itself names no template', () => {
    const nameless = item('plan', 'a', {}, { labels: {} });
    const active = new Map([['a', item('plan', 'a')]]);
    expect(isUnusedDuplicate(nameless, active)).to.equal(false);
    expect(isUnusedDuplicate(item('plan', 'a'), active)).to.equal(true);
    expect(isUnusedDuplicate(item('plan', 'a', done('j1')), active)).to.equal(false);
    expect(isUnusedDuplicate(item('plan', 'b'), active)).to.equal(false);
  });
});

describe('what may start', () => {
  const templates = [template('a'), template('b'), template('c', { dependsOn: ['a'] })];
  const planned = (...items: readonly DeployItem[]) =>
    planStart(self, templates, assign(self, templates, items).active);

  it('is nothing after a failure, not even what depends on nothing', () => {
    const plan = planned(item('plan', 'a', done(JOB, 'Failed')), item('plan', 'b'), item('plan', 'c'));
    expect(plan).to.deep.include({ start: [], running: [], blocked: ['b', 'c'], failed: ['a'] });
  });

  it('is what has everything done that it depends on', () => {
    const plan = planned(item('plan', 'a', done(JOB)), item('plan', 'b', running(JOB)), item('plan', 'c'));
    expect(plan).to.deep.include({ start: ['c'], running: ['b'], blocked: [], failed: [] });
  });

  it('is what never had a status', () => {
    expect(planned(...['a', 'b', 'c'].map((name) => bare(item('plan', name)))).start).to.deep.equal([
      'a',
      'b',
    ]);
  });

  it('counts what is missing as failed', () => {
    expect(planned(item('plan', 'a', done(JOB)), item('plan', 'c', done(JOB))).failed).to.deep.equal(['b']);
  });

  it('is asked for a job, and without one nothing fails', () => {
    expect([jobOf(self), jobOf(execution('plan')), jobOf(execution('plan', { status: {} }))]).to.deep.equal([
      JOB,
      '',
      '',
    ]);
  });
});

describe('what may go', () => {
  const templates = [template('a'), template('b', { dependsOn: ['a'] })];
  const old = done('j1');

  it('is nothing after a failure, not even what nothing depends on', () => {
    for (const phase of ['Failed', 'DeleteFailed']) {
      const items = [item('plan', 'a', old, deleting), item('plan', 'x', done(JOB, phase), deleting)];
      const { remove, failed } = planRemoval(leaving, templates, items);
      expect(remove).to.deep.equal([]);
      expect(names(failed)).to.deep.equal(['plan-x-x']);
      expect(names(dueForRemoval(leaving, templates, items))).to.deep.equal([]);
    }
  });

  it('is anything that has not got the job, without a status as well', () => {
    const items = [bare(item('plan', 'a', {}, deleting)), item('plan', 'x', {}, { labels: {} })];
    expect(planRemoval(leaving, templates, items).remove).to.deep.equal(['plan-a-x', 'plan-x-x']);
  });

  it('is, of an execution that stays, what is marked and has not got the job', () => {
    const items = [
      item('plan', 'a'),
      item('plan', 'x', old, deleting),
      item('plan', 'y', done(JOB), deleting),
    ];
    expect(names(dueForRemoval(self, templates, items))).to.deep.equal(['plan-x-x']);
    expect(names(dueForRemoval(execution('plan'), templates, items))).to.deep.equal(['plan-x-x', 'plan-y-x']);
  });

  it('leaves out items that are missing when something may be starting', () => {
    const items = [item('plan', 'b', old)];
    expect(mayBeStarting(execution('plan', { status: running(JOB) }), [template('a')], items)).to.deep.equal(
      items,
    );
    expect(mayBeStarting(bareExecution, templates, items)).to.deep.equal([]);
  });
  const bareExecution = execution('plan');
});

describe('what an execution waits for', () => {
  const SHORT_WHILE_MS = 10_000;
  const given = (secondsAgo: number, more: object = {}) =>
    item('plan', 'a', {
      ...running(JOB, ''),
      jobIDGenerationTime: new Date(Date.parse(NOW) - secondsAgo * 1000).toISOString(),
      ...more,
    });
  const missingDeployer = (type: string) => `nobody serves ${type}`;
  const wait = (items: readonly DeployItem[], starting: readonly DeployItem[] = []) =>
    awaiting({ now: NOW, missingDeployer }, 'JobsUnfinished', items, starting);

  it('is looked at again when the short while is over that deployers have', () => {
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

  it('is a deployer when the short while is over to the second', () => {
    const { awaited, requeueAfterMs } = wait([given(10)]);
    expect(awaited.reason).to.equal('NotTakenUp');
    expect(awaited.note).to.equal('deploy item plan-a-x is not picked up: nobody serves test.example/fake');
    expect(requeueAfterMs).to.equal(undefined);
  });

  const rests: readonly [string, DeployItem][] = [
    ['has been taken up', given(60, { lastReconcileTime: NOW })],
    ['has finished its job', given(60, done(JOB))],
    ['does not say since when it has its job', item('plan', 'a', running(JOB, ''))],
    ['has no status', bare(item('plan', 'a'))],
  ];
  for (const [title, object] of rests) {
    it(`is nothing but the end of an item that ${title}`, () => {
      expect(wait([object])).to.deep.equal({
        awaited: { reason: 'JobsUnfinished', objects: ['deploy item plan-a-x'] },
      });
    });
  }
});

describe('who is missing when nobody takes up items of a type', () => {
  const TYPE = 'test.example/fake';
  const tell = (served: readonly string[], ...all: readonly DeployItem[]) =>
    missingDeployerText(TYPE, new Set(served), all);
  const takenUp = (name: string | undefined, type = TYPE): DeployItem => {
    const object = item('plan', 'a', { deployer: { name, identity: 'x', version: '1' } } as object);
    return { ...object, spec: { ...object.spec, type } };
  };

  it('is nobody when a deployer of this process serves it', () => {
    expect(tell([TYPE], takenUp('helm'))).to.equal(undefined);
  });

  it('is the deployer of another process that has taken up such an item', () => {
    const why = tell(
      ['x', 'y'],
      bare(item('plan', 'b')),
      takenUp('other', 'x'),
      takenUp(undefined),
      takenUp('fake'),
    );
    expect(why).to.equal(
      `no deployer in this process handles type ${TYPE} (but x, y), and fake, which handled the type before, has not responded yet`,
    );
  });

  it('cannot be told when nobody ever took up such an item', () => {
    expect(tell([], takenUp('other', 'x'), takenUp(''))).to.equal(
      `no deployer in this process handles type ${TYPE} (but nothing), and no deployer has ever picked up an item of this type`,
    );
  });
});
