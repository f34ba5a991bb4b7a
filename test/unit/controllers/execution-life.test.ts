/**
 * The events that trigger an execution, what it reads, and its results: the whole controller on an API server in
 * memory.
 */
import { expect } from 'chai';
import { executionController } from '../../../controllers/execution/index.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import {
  executionKind,
  writeDeployItems,
  type DeployItemTemplate,
  type Execution,
} from '../../../src/api/kinds/execution.ts';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { annotations, labels } from '../../../src/api/labels.ts';
import {
  NOW,
  deleting,
  done,
  execution,
  installation,
  item,
  running,
  template,
} from '../../support/given.ts';
import { portsOf } from './support/execution.ts';
import { stage, type Stage } from './support/stage.ts';

const JOB = 'j1';
const KEY = 'demo/plan';
const chain = [template('a'), template('b', { dependsOn: ['a'] })];

describe('the execution controller', () => {
  let on: Stage;
  afterEach(() => on.end());

  const entered: string[] = [];
  beforeEach(() => {
    entered.length = 0;
    on = stage((ports) =>
      executionController({ ...portsOf(ports), entered: (phase) => entered.push(phase) }),
    );
  });

  const put = (object: Execution): Execution => on.client.put(executionKind, object);
  const plan = (items: DeployItemTemplate[], parts: Parameters<typeof execution>[1] = {}): Execution =>
    put(execution('plan', { items, status: { jobID: JOB }, ...parts }));
  const putItem = (object: DeployItem): DeployItem => on.client.put(deployItemKind, object);
  const stored = (): Execution | undefined => on.client.read(executionKind, KEY);
  const status = (): NonNullable<Execution['status']> => stored()?.status ?? {};
  const keyOfItem = (name: string): string => {
    const found = [...on.world.deployItems.list('demo')].find(
      ({ metadata }) => metadata.labels?.[labels.executionName] === name,
    );
    return `demo/${found?.metadata.name ?? ''}`;
  };
  const itemOf = (name: string): DeployItem | undefined => on.client.read(deployItemKind, keyOfItem(name));
  const jobs = (...names: string[]): (string | undefined)[] =>
    names.map((name) => itemOf(name)?.status?.jobID);
  /** Acts as the deployer. */
  const answer = (name: string, phase = 'Succeeded', more: object = {}): Promise<void> => {
    const { jobID } = itemOf(name)?.status ?? {};
    const end = { phase, jobIDFinished: jobID, lastReconcileTime: NOW, ...more };
    on.client.edit(deployItemKind, keyOfItem(name), { status: end }, 'status');
    return on.settle();
  };

  it('creates the items, starts them in order, and ends with the last', async () => {
    plan(chain);
    await on.start();
    expect(jobs('a', 'b')).to.deep.equal([JOB, undefined]);
    expect(status()).to.include({ phase: 'Progressing', jobID: JOB });
    await answer('a');
    expect(jobs('a', 'b')).to.deep.equal([JOB, JOB]);
    await answer('b');
    expect(status()).to.include({ phase: 'Succeeded', jobIDFinished: JOB });
    expect(entered).to.deep.equal(['Progressing', 'Completing', 'Succeeded']);
  });

  it('gives its items unique names', async () => {
    plan([template('a')]);
    await on.start();
    const first = itemOf('a')?.metadata.name ?? '';
    await on.end();
    on = stage((ports) => executionController(portsOf(ports)));
    plan([template('a')]);
    putItem(item('plan', 'x', {}, { name: first, labels: {}, ...deleting }));
    await on.start();
    const second = itemOf('a')?.metadata.name ?? '';
    expect(second)
      .to.match(/^plan-a-/)
      .and.not.equal(first);
  });

  it('counts its items for the limit of its tree', async () => {
    await on.end();
    on = stage((ports) => executionController(portsOf(ports, 3)));
    plan([template('a'), template('b')]);
    putItem(item('plan', 'a'));
    await on.start();
    expect(jobs('a', 'b')).to.deep.equal([JOB, JOB]);
  });

  it('creates nothing if the limit of its tree is reached', async () => {
    await on.end();
    on = stage((ports) => executionController(portsOf(ports, 2)));
    plan([template('a'), template('b')]);
    await on.start();
    expect(on.client.changes).to.deep.equal([`merge status Execution ${KEY}`]);
    expect(status().lastError?.message).to.contain('would create 2 objects');
  });

  const unreadable = (phase: string, meta: object = {}): Execution =>
    put({
      ...execution('plan', { status: running(JOB, phase), meta }),
      spec: { context: 'default', deployItemsCompressed: 'no gzip' },
    });

  describe('with a failing job', () => {
    it('does not end it while an item is running for it', async () => {
      plan([template('a')], { status: { jobID: JOB, phase: 'Odd' } });
      putItem(item('plan', 'a', running(JOB)));
      await on.start();
      expect(status().lastError?.reason).to.equal('UnknownPhase');
      expect(status()).not.to.have.property('jobIDFinished');
      await answer('a');
      expect(status()).to.include({ phase: 'Failed', jobIDFinished: JOB });
    });

    it('ends it at once if its items have another job, or have finished', async () => {
      plan([template('a')], { status: { jobID: JOB, phase: 'Odd' } });
      putItem(item('plan', 'a', running('j0')));
      putItem(item('plan', 'b', done(JOB)));
      await on.start();
      expect(status()).to.include({ phase: 'Failed', jobIDFinished: JOB });
    });

    const isTouched = (name: string): boolean =>
      itemOf(name)?.metadata.annotations?.[annotations.touch] !== undefined;

    it('first writes to items that a late write could still start', async () => {
      plan([template('a'), template('b'), template('c', { dependsOn: ['a'] })], {
        status: { jobID: JOB, phase: 'Progressing' },
      });
      putItem(item('plan', 'a', done(JOB, 'Failed')));
      putItem(item('plan', 'b', done('j0')));
      putItem(item('plan', 'c', done('j0')));
      await on.start();
      expect(on.client.changes).to.deep.equal([
        'merge DeployItem demo/plan-b-x',
        `merge status Execution ${KEY}`,
      ]);
      expect(['a', 'b', 'c'].map(isTouched)).to.deep.equal([false, true, false]);
    });

    it('also writes to obsolete items if the templates cannot be read', async () => {
      unreadable('Deleting', deleting);
      putItem(item('plan', 'a', done(JOB, 'DeleteFailed'), deleting));
      putItem(item('plan', 'b', done('j0'), deleting));
      await on.start();
      expect(status()).to.include({ phase: 'DeleteFailed', jobIDFinished: JOB });
      expect(['a', 'b'].map(isTouched)).to.deep.equal([false, true]);
    });
  });

  it('can be deleted even if its templates are invalid', async () => {
    unreadable('InitDelete', deleting);
    putItem(item('plan', 'a', { jobID: undefined }, {}));
    await on.start();
    expect(itemOf('a')?.metadata.deletionTimestamp).not.to.equal(undefined);
    on.client.edit(deployItemKind, keyOfItem('a'), { metadata: { finalizers: null } });
    await on.settle();
    expect(stored()).to.equal(undefined);
  });

  it('fails, and deletes no item, if its templates become invalid during a job', async () => {
    unreadable('Progressing');
    putItem(item('plan', 'a', done('j0')));
    await on.start();
    expect(itemOf('a')?.metadata).not.to.have.property('deletionTimestamp');
    expect(status().lastError?.message).to.contain('spec.deployItemsCompressed cannot be read');
    expect(status()).to.include({ phase: 'Failed', jobIDFinished: JOB });
  });

  describe('while the worker that reads large lists is gone', () => {
    beforeEach(async () => {
      await on.end();
      on = stage((ports) => {
        const { runnerOf, ...rest } = portsOf(ports);
        const unpackItems = () => Promise.reject(new Error('the worker is gone'));
        return executionController({ ...rest, runnerOf: (ns) => ({ ...runnerOf(ns), unpackItems }) });
      });
    });
    const large = [template('a', { config: { padding: 'x'.repeat(300 << 10) } })];
    const holding = (phase: string, meta: object = {}): Execution =>
      put({
        ...execution('plan', { status: running(JOB, phase), meta }),
        spec: { context: 'default', ...writeDeployItems(large) },
      });

    it('uninstalls nothing, because the order is unknown', async () => {
      holding('Deleting', deleting);
      putItem(item('plan', 'a', done('j0'), deleting));
      await on.start();
      expect(jobs('a')).to.deep.equal(['j0']);
      expect(status().lastError?.message).to.equal('the worker is gone');
    });

    it('does not end a failing job, because it is unknown which items could still start', async () => {
      holding('Odd');
      putItem(item('plan', 'a', done('j0')));
      await on.start();
      expect(status()).not.to.have.property('jobIDFinished');
    });

    it('ends it at once if there are no items', async () => {
      holding('Odd');
      await on.start();
      expect(status()).to.include({ phase: 'Failed', jobIDFinished: JOB });
    });
  });

  it('fails a job whose templates are invalid', async () => {
    unreadable('Init');
    await on.start();
    expect(status()).to.include({ phase: 'Failed', jobIDFinished: JOB });
    expect(status().lastError?.message).to.contain('spec.deployItemsCompressed cannot be read');
  });

  describe('wakes', () => {
    const isIdle = () => {
      expect(on.client.changes).to.deep.equal([]);
    };

    it('if there is work, and only then', async () => {
      const objects = [
        execution('rest', { status: done(JOB) }),
        execution('fresh'),
        execution('gone', { status: done(JOB, 'DeleteFailed'), meta: deleting }),
        execution('left', { status: done(JOB), meta: { ...deleting, finalizers: ['x.org/keep'] } }),
      ];
      for (const object of objects) put(object);
      put(execution('work', { items: [], status: { jobID: JOB } }));
      on.client.put(installationKind, installation('rest'));
      await on.start();
      expect(on.runs.splice(0)).to.deep.equal(['demo/work']);
      for (const { metadata } of objects)
        on.client.edit(executionKind, `demo/${metadata.name}`, { metadata: { labels: { x: 'y' } } });
      on.client.put(installationKind, installation('fresh'));
      on.client.edit(installationKind, 'demo/rest', { metadata: { labels: { x: 'y' } } });
      await on.clock.advance(10_000);
      expect(on.runs).to.deep.equal([]);
    });

    it('not if no job is running', async () => {
      plan([template('a')], { status: done(JOB) });
      putItem(item('plan', 'a', done(JOB)));
      await on.start();
      on.client.edit(executionKind, KEY, { metadata: { labels: { x: 'y' } } });
      await on.settle();
      isIdle();
    });

    it('for an execution without our finalizer', async () => {
      plan([template('a')], { status: done(JOB), meta: { finalizers: [] } });
      await on.start();
      expect(stored()?.metadata.finalizers).to.have.length(1);
      expect(stored()?.spec).to.have.property('deployItemsCompressed');
    });

    it('for an interrupt, also without a job', async () => {
      plan([template('a')], { status: done(JOB) });
      await on.start();
      isIdle();
      on.client.edit(executionKind, KEY, {
        metadata: { annotations: { [annotations.operation]: 'interrupt' } },
      });
      await on.settle();
      expect(stored()?.metadata.annotations).not.to.have.property(annotations.operation);
    });

    it('for a failure of one of its items after its job, which it reports', async () => {
      plan([template('a')], { status: done(JOB) });
      putItem(item('plan', 'a', done(JOB)));
      await on.start();
      isIdle();
      on.client.edit(
        deployItemKind,
        keyOfItem('a'),
        { status: { jobID: 'own', jobIDFinished: 'own', phase: 'Failed' } },
        'status',
      );
      await on.settle();
      expect(status().conditions?.map(({ type }) => type)).to.deep.equal(['Drifted']);
      expect(on.client.told).to.have.length(1);
    });

    const ownedBy = (name: string, uid: string) => ({
      ownerReferences: [
        { apiVersion: installation('x').apiVersion, kind: 'Installation', name, uid, controller: true },
      ],
    });

    it('if its installation, which would have started the job of its deletion, is gone', async () => {
      const { metadata } = on.client.put(
        installationKind,
        installation('plan', { meta: { finalizers: [] } }),
      );
      plan([], { status: {}, meta: { ...deleting, ...ownedBy('plan', metadata.uid ?? '') } });
      await on.start();
      expect(stored()).not.to.equal(undefined);
      on.client.remove(installationKind, KEY);
      await on.settle();
      expect(stored()).to.equal(undefined);
    });

    it('for an execution that was left behind before the controller started', async () => {
      plan([], { status: {}, meta: { ...deleting, ...ownedBy('plan', 'uid-of-old') } });
      await on.start();
      expect(stored()).to.equal(undefined);
    });

    it('not for one that is being deleted and has finished its job', async () => {
      plan([], { status: done(JOB), meta: { ...deleting, finalizers: ['x.org/keep'] } });
      await on.start();
      isIdle();
    });
  });

  it('reports a type of items without deployer, a little later', async () => {
    plan([template('a')]);
    await on.start();
    await on.clock.advance(9_000);
    const waiting = () => status().conditions?.find(({ type }) => type === 'Waiting');
    expect(waiting()?.reason).to.equal('JobsUnfinished');
    await on.clock.advance(2_000);
    expect(waiting()?.reason).to.equal('NotTakenUp');
    expect(waiting()?.message).to.contain('no deployer in this process handles type test.example/fake');
  });

  it('works on as many executions at a time as configured', () => {
    const ports = portsOf(on);
    expect(executionController({ ...ports, workers: 3 })).to.include({ name: 'execution', maxConcurrent: 3 });
    expect(executionController(ports)).not.to.have.property('maxConcurrent');
  });
});
