/**
 * The events that trigger the installation controller: which changes of installations and executions concern which
 * installations.
 */
import { expect } from 'chai';
import { installationController } from '../../../../controllers/installation/index.ts';
import type { Inst } from '../../../../controllers/installation/related-objects.ts';
import { annotations } from '../../../../src/api/labels.ts';
import { createTreeSizes } from '../../../../src/landscape/tree-size.ts';
import type { World } from '../../../../src/landscape/world.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import type { SourceHost } from '../../../../src/runtime/sources/sources.ts';
import type { Key } from '../../../../src/runtime/types.ts';
import { FakeClock } from '../../../support/clock.ts';
import { NOW, child, deleting, done, execution, installation, running } from '../../../support/given.ts';
import { tell, worldOf } from '../../../support/static-world.ts';
import { runner } from '../../dataflow/given.ts';
import { ownExecution, trading } from './given.ts';

const unused = () => Promise.reject(new Error('no request is sent here'));
const controllerOf = (world: World, more: { workers?: number } = {}) =>
  installationController({
    world,
    clock: new FakeClock(),
    rng: seededRng(1),
    trees: createTreeSizes(world),
    client: { get: unused, send: unused, raw: unused, close: unused } as never,
    sources: {} as never,
    repositories: {} as never,
    runnerOf: () => runner,
    ...more,
  });

type Options = NonNullable<Parameters<typeof installation>[1]>;
const at = (more: Options = {}): Inst => installation('web', { status: done('j'), ...more });
const annotated = (key: string, value: string, status: object = done('j')): Inst =>
  at({ status, meta: { annotations: { [key]: value } } });
const operation = (value: string, status?: object): Inst => annotated(annotations.operation, value, status);

describe('the controller of installations', () => {
  it('has the name of its metrics and its shard, and manages its finalizer itself', () => {
    const { name, finalizer, generation, retry, kind, maxConcurrent } = controllerOf(worldOf());
    expect({ name, finalizer, generation, retry, kind: kind.kind, maxConcurrent }).to.deep.equal({
      name: 'installation',
      finalizer: { handledBy: 'reconciler' },
      generation: 'off',
      retry: 'growing',
      kind: 'Installation',
      maxConcurrent: undefined,
    });
    expect(controllerOf(worldOf(), { workers: 3 }).maxConcurrent).to.equal(3);
  });

  const rows: readonly (readonly [title: string, Inst, hasWork: boolean])[] = [
    ['at rest', at(), false],
    ['with a running job', at({ status: running('j') }), true],
    ['that is new', installation('web'), true],
    ['with a requested job', operation('reconcile'), true],
    ['with an interrupt', operation('interrupt'), true],
    ['with an unknown operation', operation('x'), false],
    [
      'below a root with a requested job',
      child(
        'p',
        'a',
        { ...done('j'), observedGeneration: 1 },
        { annotations: { [annotations.operation]: 'reconcile' } },
      ),
      true,
    ],
    ['with a schedule', at({ spec: { automaticReconcile: {} } }), true],
    ['with roots to start', at({ status: { ...done('j'), dependentsToTrigger: [{ name: 'x' }] } }), true],
    ['without roots to start', at({ status: { ...done('j'), dependentsToTrigger: [] } }), false],
    ['whose spec changed', at({ meta: { generation: 2 } }), true],
    ['without our finalizer', at({ meta: { finalizers: [] } }), true],
    ['that was deleted', at({ meta: deleting }), true],
    ['that was deleted and failed', at({ status: done('j', 'DeleteFailed'), meta: deleting }), false],
    [
      'that was deleted, failed and is not ours any more',
      at({ status: done('j', 'DeleteFailed'), meta: { ...deleting, finalizers: [] } }),
      false,
    ],
  ];
  for (const [title, self, hasWork] of rows) {
    it(`${hasWork ? 'reconciles' : 'ignores'} an installation ${title}, also after a change`, () => {
      const { filter } = controllerOf(worldOf());
      expect(filter?.add?.(self, false)).to.equal(hasWork);
      expect(filter?.update?.(hasWork ? at() : at({ status: running('j') }), self)).to.equal(hasWork);
    });
  }
});

/** Keys of the installations that a source triggers. */
function woken(
  world: World,
  source: 'executions' | 'relatives',
  change: (world: World) => void,
): readonly Key[] {
  const keys: Key[] = [];
  const host: SourceHost = {
    controller: 'installation',
    ownEvents: 'filter',
    primaries: world.installations,
    handles: () => true,
    clock: new FakeClock(),
    log: silentLogger,
    emit: (key) => keys.push(key),
    ignored: () => undefined,
    echoed: () => undefined,
    guard: (_, fn) => fn(),
  };
  const found = controllerOf(world).sources?.find(({ name }) => name === source);
  if (!found) throw new Error(`no source ${source}`);
  found.attach(host as never);
  change(world);
  return keys;
}
const wokenBy = (old: Inst, obj: Inst, ...others: readonly Inst[]): readonly Key[] =>
  woken(worldOf(obj, ...others), 'relatives', ({ installations }) => {
    tell(installations, { type: 'update', old, obj, relisted: false });
  });

describe('an execution that changes', () => {
  it('triggers the installation that controls it', () => {
    const own = ownExecution();
    expect(
      woken(worldOf(), 'executions', ({ executions }) => {
        tell(executions, { type: 'update', old: own, obj: own, relisted: false });
      }),
    ).to.deep.equal(['demo/stack']);
    const foreign = execution('stack');
    expect(
      woken(worldOf(), 'executions', ({ executions }) => {
        tell(executions, { type: 'update', old: foreign, obj: foreign, relisted: false });
      }),
    ).to.deep.equal([]);
  });
});

describe('a change of an installation', () => {
  const parent = installation('p');
  const of = (status: object, meta: object = {}): Inst =>
    child('p', 'a', status, { ...child('p', 'a').metadata, ...meta });
  const old = of({ ...done('j1'), observedGeneration: 1 });
  const condition = (type: string, message: string) => ({
    conditions: [
      {
        type,
        status: 'True' as const,
        reason: 'NotTakenUp',
        message,
        lastTransitionTime: NOW,
        lastUpdateTime: NOW,
      },
    ],
  });
  const drifted = {
    conditions: condition('Drifted', 'm').conditions.map((c) => ({ ...c, reason: 'FailedAfterJob' })),
  };
  const with_ = (key: string, value: string) => ({
    annotations: { ...child('p', 'a').metadata.annotations, [key]: value },
  });

  const rows: readonly (readonly [title: string, Inst, wakes: boolean])[] = [
    ['no relevant field', of(done('j1'), { resourceVersion: '9' }), false],
    ['its spec', of(done('j1'), { generation: 2 }), true],
    ['its phase', of(done('j1', 'Failed')), true],
    ['its job', of({ jobID: 'j2', jobIDFinished: 'j1', phase: 'Succeeded' }), true],
    ['its finished job', of({ jobID: 'j1', jobIDFinished: 'j0', phase: 'Succeeded' }), true],
    ['its deletion', of(done('j1'), deleting), true],
    ['its drift', of({ ...done('j1'), ...drifted }), true],
    ['its suspension', of(done('j1'), with_(annotations.suspended, 'true')), true],
    ['a requested job', of(done('j1'), with_(annotations.operation, 'reconcile')), true],
    ['an interrupt', of(done('j1'), with_(annotations.operation, 'interrupt')), true],
    ['another annotation', of(done('j1'), with_('team', 'x')), false],
  ];
  for (const [title, now, wakes] of rows) {
    it(`${wakes ? 'triggers' : 'does not trigger'} its parent with ${title}`, () => {
      expect(wokenBy(old, now, parent).includes('demo/p')).to.equal(wakes);
    });
  }
  const lastError = {
    operation: 'o',
    reason: 'R',
    message: 'no chart',
    lastTransitionTime: NOW,
    lastUpdateTime: NOW,
  };
  const held: readonly (readonly [title: string, status: object, wakes: boolean])[] = [
    ['the deployer that it waits for', condition('Waiting', 'no deployer'), true],
    ['the error that it retries', { lastError }, true],
    ['a message for information', { lastError: { ...lastError, codes: ['ERR_FOR_INFO_ONLY'] } }, false],
  ];
  for (const [title, status, wakes] of held)
    it(`${wakes ? 'triggers' : 'does not trigger'} its parent during a job with ${title}`, () => {
      const now = of({ ...running('j1'), ...status });
      expect(wokenBy(of(running('j1')), now, parent).includes('demo/p')).to.equal(wakes);
    });

  it('is compared even if it has no status yet', () => {
    const { status: _, ...bare } = old;
    expect(wokenBy(bare, bare, parent)).to.deep.equal([]);
    expect(wokenBy(bare, old, parent)).to.include('demo/p');
    expect(wokenBy(old, bare, parent)).to.include('demo/p');
  });

  const changed = (self: Inst, ...others: readonly Inst[]): readonly Key[] =>
    wokenBy({ ...self, status: { ...self.status, phase: 'x' } } as Inst, self, ...others);

  it('triggers itself if another reconcile has given it a job', () => {
    expect(changed(at({ status: { jobID: 'j' } }))).to.deep.equal(['demo/web']);
    expect(changed(of(running('j2', 'Init')))).to.deep.equal(['demo/a-x']);
    expect(changed(of(running('j2', 'InitDelete'), deleting))).to.deep.equal(['demo/a-x']);
  });
  it('does not trigger itself while it works, at rest, or as a root that has given the job to itself', () => {
    expect(changed(of(running('j2')))).to.deep.equal([]);
    expect(changed(of(done('j2', 'Init')))).to.deep.equal([]);
    expect(changed(at({ status: running('j', 'Init') }))).to.deep.equal([]);
    expect(changed(at())).to.deep.equal([]);
  });
  it('triggers itself if another reconcile requests a job or an interrupt', () => {
    expect(changed(operation('reconcile'))).to.deep.equal(['demo/web']);
    expect(changed(operation('interrupt', running('j')))).to.deep.equal(['demo/web']);
  });

  it('triggers the children that it leaves behind when it is gone', () => {
    const gone = at();
    const left = child('web', 'a', done('j'));
    const world = worldOf(left);
    expect(
      woken(world, 'relatives', ({ installations }) => {
        tell(installations, { type: 'delete', obj: gone, finalStateUnknown: false });
      }),
    ).to.deep.equal(['demo/a-x']);
    expect(changed(gone, left)).to.deep.equal([]);
  });

  const trader = (name: string, spec: object, status: object = running('j')): Inst =>
    installation(name, { spec, status });
  it('triggers running siblings that import from it or export to it, and no others', () => {
    const self = trader('web', trading({ takes: ['in'], gives: ['out'] }), done('j'));
    expect(
      changed(
        self,
        trader('before', trading({ gives: ['in'] })),
        trader('after', trading({ takes: ['out'] })),
        trader('rests', trading({ takes: ['out'] }), done('j')),
        trader('other', trading({ takes: ['x'], gives: ['y'] })),
      ),
    ).to.deep.equal(['demo/before', 'demo/after']);
  });
  it('triggers no sibling if it exchanges no data', () => {
    expect(changed(at(), trader('other', trading({ takes: ['x'] })))).to.deep.equal([]);
  });
});
