import { expect } from 'chai';
import { interruptRequested, decidePickup, type Snapshot } from '../../../controllers/deployitem/decide.ts';
import { deployItemController } from '../../../controllers/deployitem/index.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { executionKind } from '../../../src/api/kinds/execution.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { annotations } from '../../../src/api/labels.ts';
import type { Effect } from '../../../src/machine/decision.ts';
import { readinessAt } from '../../../src/machine/readiness.ts';
import { TransportError } from '../../../src/runtime/errors.ts';
import { effectsOf } from '../../support/ask.ts';
import { NOW, deleting, done, execution, item, running } from '../../support/given.ts';
import { stage, type Stage } from './support/stage.ts';

const TIMEOUT_MS = 300_000;
const JOB = 'j2';
/** The status of an item that received its job this many seconds before `NOW`. */
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

describe('the pick-up timeout of a deploy item', () => {
  const judge = (self: DeployItem, more: Partial<Snapshot> = {}) =>
    decidePickup({ self, now: NOW, pickupTimeoutMs: TIMEOUT_MS, missingTarget: undefined, ...more });
  const waiting = (seconds: number, more: object = {}) => item('plan', 'a', given(seconds, more));

  const rests: readonly [string, DeployItem, Partial<Snapshot>?][] = [
    ['has no job', item('plan', 'a')],
    ['has finished its job', item('plan', 'a', { ...given(900), ...done(JOB) })],
    ['has been picked up', waiting(900, { lastReconcileTime: NOW })],
    ['has no time for the start of its job', item('plan', 'a', running(JOB, ''))],
    ['has a job while the timeout is disabled', waiting(900), { pickupTimeoutMs: 0 }],
  ];
  for (const [title, self, more] of rests) {
    it(`does not apply to an item that ${title}`, () => {
      expect(judge(self, more)).to.deep.equal({ do: 'rest' });
    });
  }

  it('is checked a little after it has passed, because clocks differ', () => {
    expect(judge(waiting(100))).to.deep.equal({ do: 'requeue', requeueAfterMs: 205_000 });
    expect(judge(waiting(299))).to.deep.equal({ do: 'requeue', requeueAfterMs: 6_000 });
  });

  it('ends the job as failed when it has passed, with the reason', () => {
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

  it('names a target that does not exist', () => {
    expect(judge(waiting(300), { missingTarget: 'prod' }))
      .to.have.nested.property('problem.message')
      .that.contains('probably because the referenced Target does not exist: prod;');
  });

  const invalid = withSpec(waiting(0), { type: '' });
  it('ends the job of an item at once if no deployer could pick it up', () => {
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

  it('does not end the job of an invalid item that is being deleted: it may have to be uninstalled', () => {
    const leaving = { ...invalid, metadata: { ...invalid.metadata, ...deleting } };
    expect(judge(leaving)).to.have.property('do', 'requeue');
  });
});

describe('an interrupt of one deploy item', () => {
  it('ends its job first, and removes the annotation last', () => {
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

  it('shows when the job and its error ended', () => {
    const [end] = interruptRequested({ self: item('plan', 'a', running(JOB), interrupt), now: NOW }) ?? [];
    expect(bodyOf(end)).to.have.nested.property('status.transitionTimes.finishedTime', NOW);
    expect(bodyOf(end)).to.have.nested.property('status.lastError.lastUpdateTime', NOW);
  });

  it('does not set the observed generation of an item that no deployer has seen', () => {
    const self = { ...item('plan', 'a', {}, interrupt), status: { jobID: JOB, phase: '' } } as DeployItem;
    const [end] = interruptRequested({ self, now: NOW }) ?? [];
    expect(bodyOf(end)).to.have.nested.property('status.observedGeneration', 0);
  });

  it('removes only the annotation if no job is running', () => {
    const effects = interruptRequested({ self: item('plan', 'a', done(JOB), interrupt), now: NOW }) ?? [];
    expect(effectsOf({ effects })).to.deep.equal(['amend plan-a-x']);
  });

  it('is requested by this operation only', () => {
    expect(interruptRequested({ self: item('plan', 'a', running(JOB)), now: NOW })).to.equal(undefined);
    const other = { annotations: { [annotations.operation]: 'reconcile' } };
    expect(interruptRequested({ self: item('plan', 'a', running(JOB), other), now: NOW })).to.equal(
      undefined,
    );
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

  it('ends the job of an item at its timeout, not before, and reports it by an event', async () => {
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

  it('leaves an item alone that a deployer picks up in time', async () => {
    const key = put(item('plan', 'a', given(0)));
    await on.start();
    await on.clock.advance(10_000);
    on.client.edit(deployItemKind, key, { status: { lastReconcileTime: '2026-01-01T00:00:10Z' } }, 'status');
    await on.clock.advance(2 * TIMEOUT_MS);
    expect(on.client.changes).to.deep.equal([]);
  });

  it('looks up the target in the namespace of the item', async () => {
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

  it('removes an interrupt from an item without a running job', async () => {
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

  it('removes the readiness of a running job that a deployer without it has ended, and only then', async () => {
    on = stage((ports) =>
      deployItemController({ ...ports, pickupTimeoutMs: 0, readiness: readinessAt(ports.clock, true) }),
    );
    const reconciling = { type: 'Reconciling', status: 'True', reason: 'r', message: 'm' } as const;
    const conditions = [{ ...reconciling, lastTransitionTime: NOW, lastUpdateTime: NOW }];
    const ended = put(item('plan', 'ended', { ...done(JOB), conditions }));
    const busy = put(item('plan', 'busy', { ...running(JOB), lastReconcileTime: NOW, conditions }));
    await on.start();
    const types = (key: string) => stored(key)?.status?.conditions?.map(({ type }) => type);
    expect([types(ended), types(busy)]).to.deep.equal([['Ready'], ['Reconciling']]);
    expect(on.client.changes).to.deep.equal([`merge status DeployItem ${ended}`]);
  });

  it('writes nothing because of readiness that it cannot renew', async () => {
    const reconciling = { type: 'Reconciling', status: 'True', reason: 'r', message: 'm' } as const;
    const conditions = [{ ...reconciling, lastTransitionTime: NOW, lastUpdateTime: NOW }];
    put(item('plan', 'ended', { ...done(JOB), conditions }));
    await on.start();
    expect(on.client.changes).to.deep.equal([]);
  });

  describe('releases an item under deletion that was created after its execution was gone', () => {
    const written = { creationTimestamp: NOW, annotations: { [annotations.reconcileTime]: NOW } };
    const late = (more: object = {}): DeployItem =>
      item('plan', 'late', {}, { ...deleting, ...written, ...more });
    const finalizersOf = (key: string) => stored(key)?.metadata.finalizers;
    const plan = (): string =>
      on.client.put(executionKind, execution('plan', { meta: { finalizers: [] } })).metadata.uid ?? '';

    it('when there is none, or another one of that name', async () => {
      const key = put(late());
      await on.start();
      expect(stored(key)).to.equal(undefined);
      plan();
      await on.settle();
      const second = put(late());
      await on.settle();
      expect(stored(second)).to.equal(undefined);
    });

    it('when the execution ends', async () => {
      const ownerReferences =
        late().metadata.ownerReferences?.map((owner) => ({ ...owner, uid: plan() })) ?? [];
      await on.start();
      const key = put(late({ ownerReferences }));
      await on.settle();
      expect(finalizersOf(key)).to.have.length(1);
      on.client.remove(executionKind, 'demo/plan');
      await on.settle();
      expect(stored(key)).to.equal(undefined);
    });

    it('but not while the API server has an execution that the cache has not', async () => {
      const key = put(late());
      const hidden = execution('plan');
      const read = on.client.get.bind(on.client);
      on.client.get = (async (...[kind, name, signal]: Parameters<typeof read>) =>
        kind.kind === executionKind.kind ? hidden : read(kind, name, signal)) as typeof on.client.get;
      await on.start();
      expect(finalizersOf(key)).to.have.length(1);
      expect(on.runs).to.deep.equal([key]);
    });

    it('at the next attempt, when the API server does not answer', async () => {
      const key = put(late());
      const read = on.client.get.bind(on.client);
      let isDown = true;
      on.client.get = (async (...args: Parameters<typeof read>) => {
        if (isDown) throw new TransportError({ message: 'no connection', safeToRepeat: true });
        return read(...args);
      }) as typeof on.client.get;
      await on.start();
      expect(finalizersOf(key)).to.have.length(1);
      isDown = false;
      await on.clock.advance(60_000);
      expect(stored(key)).to.equal(undefined);
    });

    const kept: readonly (readonly [string, DeployItem])[] = [
      ['is not deleted', late({ deletionTimestamp: undefined })],
      ['may be installed', { ...late(), status: { observedGeneration: 1, ...done(JOB) } }],
      ['a backup has restored', late({ creationTimestamp: '2026-01-02T00:00:00Z' })],
      ['a user has created', late({ ownerReferences: [] })],
      [
        'an object of another kind owns',
        late({
          ownerReferences: [{ apiVersion: 'v1', kind: 'Other', name: 'plan', uid: 'u', controller: true }],
        }),
      ],
      [
        'another object than its controller owns',
        late({ ownerReferences: [{ ...late().metadata.ownerReferences?.[0], controller: false }] }),
      ],
    ];
    for (const [which, object] of kept) {
      it(`but none that ${which}`, async () => {
        const key = put(object);
        await on.start();
        expect(finalizersOf(key)).to.have.length(1);
        expect(on.client.changes).to.deep.equal([]);
      });
    }
  });

  it('works on as many items at a time as configured', () => {
    const ports = { ...on, pickupTimeoutMs: 0 };
    expect(deployItemController({ ...ports, workers: 3 })).to.include({
      name: 'deployitem',
      maxConcurrent: 3,
    });
    expect(deployItemController(ports)).not.to.have.property('maxConcurrent');
  });
});
