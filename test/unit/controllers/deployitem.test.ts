import { expect } from 'chai';
import { interruptRequested, decidePickup, type Snapshot } from '../../../controllers/deployitem/decide.ts';
import { deployItemController } from '../../../controllers/deployitem/index.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations } from '../../../src/api/labels.ts';
import type { Effect } from '../../../src/machine/decision.ts';
import { effectsOf } from '../../support/ask.ts';
import { NOW, deleting, done, item, running } from '../../support/given.ts';
import { stage, type Stage } from './support/stage.ts';

const TIMEOUT_MS = 300_000;
const JOB = 'j2';
/** The status of an item that was given the job so many seconds before `NOW`. */
const given = (seconds: number, more: object = {}): DeployItem['status'] => ({
  observedGeneration: 1,
  ...running(JOB, ''),
  jobIDGenerationTime: new Date(Date.parse(NOW) - seconds * 1000).toISOString(),
  ...more,
});
const withSpec = (object: DeployItem, spec: Partial<DeployItem['spec']>): DeployItem => ({
  ...object,
  spec: { ...object.spec, ...spec },
});
const interrupt = { annotations: { [annotations.operation]: 'interrupt' } };
const bodyOf = (effect: Effect | undefined): unknown => (effect?.do === 'patch' ? effect.body : effect);

describe('how long a deploy item may wait for a deployer', () => {
  const judge = (self: DeployItem, more: Partial<Snapshot> = {}) =>
    decidePickup({ self, now: NOW, pickupTimeoutMs: TIMEOUT_MS, missingTarget: undefined, ...more });
  const waiting = (seconds: number, more: object = {}) => item('plan', 'a', given(seconds, more));

  const rests: readonly [string, DeployItem, Partial<Snapshot>?][] = [
    ['has no job', item('plan', 'a')],
    ['has finished its job', item('plan', 'a', { ...given(900), ...done(JOB) })],
    ['has been taken up', waiting(900, { lastReconcileTime: NOW })],
    ['does not say since when it has its job', item('plan', 'a', running(JOB, ''))],
    ['waits while the check is switched off', waiting(900), { pickupTimeoutMs: 0 }],
  ];
  for (const [title, self, more] of rests) {
    it(`is no question for one that ${title}`, () => {
      expect(judge(self, more)).to.deep.equal({ do: 'rest' });
    });
  }

  it('is looked at again a little after the time is up, for clocks differ', () => {
    expect(judge(waiting(100))).to.deep.equal({ do: 'requeue', requeueAfterMs: 205_000 });
    expect(judge(waiting(299))).to.deep.equal({ do: 'requeue', requeueAfterMs: 6_000 });
  });

  it('is over when the time is up: the job ends as failed, with the reason', () => {
    const verdict = judge(waiting(300));
    const problem = {
      operation: 'WaitingForPickup',
      reason: 'PickupTimeout',
      message:
        'no deployer has reconciled this deployitem within 300 seconds; is a deployer for type test.example/fake running?',
      codes: ['ERR_TIMEOUT'],
    };
    expect(verdict).to.deep.include({ do: 'fail', problem });
    const status = { phase: 'Failed', jobID: JOB, jobIDFinished: JOB, observedGeneration: 1 };
    expect(verdict).to.have.nested.property('effect.body.status').that.deep.includes(status);
    expect(verdict).to.have.nested.property('effect.body.status.lastError').that.deep.includes(problem);
  });

  it('names the target when that does not exist', () => {
    expect(judge(waiting(300), { missingTarget: 'prod' }))
      .to.have.nested.property('problem.message')
      .that.contains('probably because the referenced Target does not exist: prod;');
  });

  const invalid = withSpec(waiting(0), { type: '' });
  it('is over at once for an item that no deployer could take up', () => {
    const verdict = judge(invalid);
    expect(verdict).to.have.property('do', 'fail');
    expect(verdict)
      .to.have.property('problem')
      .that.deep.includes({
        operation: 'reconcile',
        reason: 'ValidateDeployItem',
        codes: ['ERR_CONFIGURATION_PROBLEM'],
      })
      .with.property('message')
      .that.contains('spec.type');
    expect(judge(invalid, { pickupTimeoutMs: 0 })).to.have.property('do', 'fail');
  });

  it('is not cut short for an invalid item that is being deleted: it may have to be uninstalled', () => {
    const leaving = { ...invalid, metadata: { ...invalid.metadata, ...deleting } };
    expect(judge(leaving)).to.have.property('do', 'requeue');
  });
});

describe('a user who interrupts one deploy item', () => {
  it('ends its job first, and takes the annotation off last', () => {
    const self = item('plan', 'a', { ...running(JOB), observedGeneration: 7 }, interrupt);
    const effects = interruptRequested({ self, now: NOW }) ?? [];
    expect(effectsOf({ effects })).to.deep.equal(['job plan-a-x', 'amend plan-a-x']);
    expect(bodyOf(effects[0]))
      .to.have.property('status')
      .that.deep.includes({ phase: 'Failed', jobID: JOB, jobIDFinished: JOB, observedGeneration: 7 })
      .and.has.nested.property('lastError.reason', 'InterruptOperation');
    expect(effects[1]).to.deep.include({
      change: { dropAnnotations: { [annotations.operation]: 'interrupt' } },
    });
  });

  it('says nothing about the generation of an item that no deployer has seen', () => {
    const self = { ...item('plan', 'a', {}, interrupt), status: { jobID: JOB, phase: '' } } as DeployItem;
    const [end] = interruptRequested({ self, now: NOW }) ?? [];
    expect(bodyOf(end)).to.have.nested.property('status.observedGeneration', 0);
  });

  it('has only the annotation taken off when no job is running', () => {
    const effects = interruptRequested({ self: item('plan', 'a', done(JOB), interrupt), now: NOW }) ?? [];
    expect(effectsOf({ effects })).to.deep.equal(['amend plan-a-x']);
  });

  it('is somebody who asks for this operation, and no other', () => {
    expect(interruptRequested({ self: item('plan', 'a', running(JOB)), now: NOW })).to.equal(undefined);
    const other = { annotations: { [annotations.operation]: 'reconcile' } };
    expect(interruptRequested({ self: item('plan', 'a', running(JOB), other), now: NOW })).to.equal(undefined);
  });
});

// ---------------------------------------------------------------- the controller

describe('the deploy item controller', () => {
  let on: Stage;
  beforeEach(() => {
    on = stage((ports) => deployItemController({ ...ports, pickupTimeoutMs: TIMEOUT_MS }));
  });
  afterEach(() => on.end());

  const put = (object: DeployItem): string => {
    const { metadata } = on.client.put(deployItemKind, object);
    return `${metadata.namespace ?? ''}/${metadata.name}`;
  };
  const stored = (key: string): DeployItem | undefined => on.client.read(deployItemKind, key);

  it('ends the job of an item when its time is up, not before, and tells the users', async () => {
    const key = put(item('plan', 'a', given(0)));
    await on.start();
    await on.clock.advance(TIMEOUT_MS + 4_000);
    expect(stored(key)?.status?.phase).to.equal('');
    await on.clock.advance(2_000);
    expect(stored(key)?.status).to.include({ phase: 'Failed', jobIDFinished: JOB });
    expect(on.client.told).to.have.length(1);
    expect(on.client.told[0]).to.match(/^Warning PickupTimeout: no deployer has reconciled this deployitem/);
    await on.clock.advance(10_000);
    expect(on.runs, 'no run failed').to.deep.equal([key, key]);
  });

  it('leaves an item alone that a deployer takes up in time', async () => {
    const key = put(item('plan', 'a', given(0)));
    await on.start();
    await on.clock.advance(10_000);
    on.client.edit(deployItemKind, key, { status: { lastReconcileTime: '2026-01-01T00:00:10Z' } }, 'status');
    await on.clock.advance(2 * TIMEOUT_MS);
    expect(on.client.changes).to.deep.equal([]);
  });

  it('looks for the target in the namespace of the item', async () => {
    const target = { name: 'prod', namespace: 'demo' };
    const keys = ['demo', 'other'].map((namespace) =>
      put(withSpec(item('plan', 'a', given(900), { namespace }), { target })),
    );
    const none = put(item('plan', 'none', given(900)));
    on.client.put(targetKind, { metadata: { name: 'prod', namespace: 'demo' }, spec: { type: 'x' } });
    await on.start();
    const missing = [...keys, none].map(
      (key) => stored(key)?.status?.lastError?.message.match(/does not exist: (\w*)/)?.[1],
    );
    expect(missing).to.deep.equal([undefined, 'prod', undefined]);
  });

  it('ends the job of an item that a user interrupts', async () => {
    const key = put(item('plan', 'a', { ...running(JOB), lastReconcileTime: NOW }));
    await on.start();
    on.client.edit(deployItemKind, key, { metadata: interrupt });
    await on.settle();
    expect(stored(key)?.status).to.include({ phase: 'Failed', jobIDFinished: JOB });
    expect(stored(key)?.metadata.annotations).not.to.have.property(annotations.operation);
    expect(on.client.changes).to.have.length(2);
  });

  it('takes an interrupt off an item that has nothing to interrupt', async () => {
    const key = put(item('plan', 'a', done(JOB), interrupt));
    await on.start();
    expect(stored(key)?.metadata.annotations).not.to.have.property(annotations.operation);
    expect(on.client.changes).to.deep.equal([`merge DeployItem ${key}`]);
    await on.clock.advance(10_000);
    expect(on.runs, 'no run failed').to.deep.equal([key]);
  });

  it('keeps an annotation that users have changed meanwhile to another operation', async () => {
    const key = put(item('plan', 'a', done(JOB), interrupt));
    let isFirst = true;
    on.client.before = ({ verb }) => {
      if (verb === 'merge' && isFirst)
        on.client.edit(deployItemKind, key, { metadata: { annotations: { [annotations.operation]: 'x' } } });
      isFirst &&= verb !== 'merge';
      return undefined;
    };
    await on.start();
    expect(stored(key)?.metadata.annotations).to.have.property(annotations.operation, 'x');
    expect(on.client.requests.map(({ verb }) => verb)).to.deep.equal(['merge', 'get']);
  });

  it('works at as many items at a time as it is told', () => {
    const ports = { ...on, pickupTimeoutMs: 0 };
    expect(deployItemController({ ...ports, workers: 3 })).to.include({
      name: 'deployitem',
      maxConcurrent: 3,
    });
    expect(deployItemController(ports)).not.to.have.property('maxConcurrent');
  });
});
