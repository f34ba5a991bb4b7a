import { expect } from 'chai';
import { awaiting, missingDeployerText } from '../../../controllers/execution/awaiting.ts';
import { mayBeStarting } from '../../../controllers/execution/classify.ts';
import { intake, type Facts } from '../../../controllers/execution/intake.ts';
import { phases } from '../../../controllers/execution/phases.ts';
import type { Snapshot } from '../../../controllers/execution/snapshot.ts';
import { refusalForJob } from '../../../src/api/validation/index.ts';
import { defaultLimits } from '../../../src/api/limits.ts';
import { FINALIZER, annotations } from '../../../src/api/labels.ts';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { DeployItemTemplate, Execution } from '../../../src/api/kinds/execution.ts';
import { named, type Decision } from '../../../src/machine/decision.ts';
import type { View } from '../../../src/runtime/types.ts';
import { ask, effectsOf } from '../../support/ask.ts';
import { reservation } from '../../support/reservation.ts';
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

const JOB = 'j2';
const self = execution('plan', { status: running(JOB) });
const abc = [template('a'), template('b'), template('c', { dependsOn: ['a', 'b'] })];

const decide = (
  name: keyof typeof phases,
  templates: readonly DeployItemTemplate[],
  items: readonly DeployItem[],
  known: Partial<Snapshot> = {},
): Decision =>
  ask<Snapshot>(phases[name].phase, {
    self,
    now: NOW,
    templates,
    refusal: undefined,
    items,
    freshName: (prefix: string) => `${prefix}sfx`,
    clusterNames: new Map(),
    itemsWithoutCluster: new Set(),
    missingDeployer: () => undefined,
    ancestors: [],
    reservation: reservation(),
    ...known,
  });

const interrupted = { [annotations.interruptedJob]: JOB };

describe('an execution whose job was interrupted', () => {
  const rows: readonly (readonly [string, Partial<Snapshot>])[] = [
    ['directly', { self: execution('plan', { status: running(JOB), meta: { annotations: interrupted } }) }],
    [
      'above',
      {
        ancestors: [
          installation('plan'),
          installation('top', { status: running(JOB), meta: { annotations: interrupted } }),
        ],
      },
    ],
  ];
  for (const [where, known] of rows) {
    it(`creates no items in Init if it was interrupted ${where}`, () => {
      const decision = decide('Init', abc, [], known);
      expect(decision).to.deep.include({ do: 'fail', effects: [] });
      expect(decision).to.have.nested.property('problem.reason', 'InterruptOperation');
    });

    it(`starts no items that have no job if it was interrupted ${where}, and ends with the running ones`, () => {
      const items = [item('plan', 'a', running(JOB)), item('plan', 'b'), item('plan', 'c')];
      expect(decide('Progressing', abc, items, known)).to.deep.include({ do: 'wait', effects: [] });
      const left = [item('plan', 'a', done(JOB)), item('plan', 'b'), item('plan', 'c')];
      expect(decide('Progressing', abc, left, known)).to.have.nested.property(
        'problem.reason',
        'InterruptOperation',
      );
    });
  }

  it('continues if another job was interrupted', () => {
    const before = execution('plan', {
      status: running(JOB),
      meta: { annotations: { [annotations.interruptedJob]: 'j1' } },
    });
    expect(decide('Init', abc, [], { self: before }).do).to.equal('advance');
  });
});

describe('an execution with too many items', () => {
  it('fails by the limits of the configuration, and names the key', () => {
    const limits = { ...defaultLimits, deployItems: 2 };
    const many = execution('plan', { status: running(JOB), items: abc });
    const decision = decide('Init', abc, [], {
      self: many,
      refusal: refusalForJob('executions', many, limits),
    });
    expect(decision).to.have.property('do', 'fail');
    expect(decision)
      .to.have.nested.property('problem.message')
      .that.contains('it holds 3 deploy items; the limit is 2 for one execution')
      .and.contains('limits.deployItems');
    expect(decide('Init', abc, [], { self: many }).do).to.equal('advance');
  });
});

describe('an execution in Init', () => {
  it('creates nothing beyond the limit of its tree, and names the numbers and the key', () => {
    const refused = reservation({ present: 8, reserved: 1, added: 3, limit: 10, isGranted: false });
    const decision = decide('Init', abc, [], { reservation: refused });
    expect(decision).to.deep.include({ do: 'fail', effects: [] });
    expect(decision)
      .to.have.nested.property('problem.message')
      .that.contains('execution "demo/plan" would create 3 objects')
      .and.contains('the tree below "top" has 8 and 1 that other installations are creating')
      .and.contains('at most 10 are allowed')
      .and.contains('limits.treeObjects');
  });

  it('creates the items that are missing and starts none', () => {
    const decision = decide('Init', abc, [item('plan', 'a')]);
    expect(effectsOf(decision)).to.deep.equal(['patch plan-a-x', 'create plan-b-sfx', 'create plan-c-sfx']);
    expect(decision).to.include({ do: 'advance', to: 'Progressing' });
  });

  it('deletes the items that are in no template', () => {
    expect(effectsOf(decide('Init', [], [item('plan', 'old')]))).to.deep.equal(['delete plan-old-x']);
  });

  it('recreates an item that a user deleted', () => {
    const decision = decide('Init', [template('a')], [item('plan', 'a', {}, deleting)]);
    expect(effectsOf(decision)).to.deep.equal(['create plan-a-sfx']);
  });

  it('removes labels that its template no longer has, and no others', () => {
    const existing = (given: string) =>
      item(
        'plan',
        'a',
        {},
        {
          labels: { ...item('plan', 'a').metadata.labels, tier: 'web', team: 'x', own: 'user' },
          annotations: { [annotations.templateLabels]: given },
        },
      );
    const metadataIn = (decision: Decision) => {
      const effect = decision.effects.find(({ do: what }) => what === 'patch');
      const { metadata } = (effect as { body: { metadata: Record<string, Record<string, unknown>> } }).body;
      return [metadata['labels'], metadata['annotations']?.[annotations.templateLabels]];
    };

    const fewer = decide('Init', [template('a', { labels: { team: 'x' } })], [existing('team,tier')]);
    expect(metadataIn(fewer)).to.deep.equal([{ tier: null }, 'team']);
    const none = decide('Init', [template('a')], [existing('tier')]);
    expect(metadataIn(none)).to.deep.equal([{ tier: null }, null]);
    const created = decide('Init', [template('a', { labels: { tier: 'web', team: 'x' } })], []);
    expect(created.effects[0])
      .to.have.property('object')
      .with.property('metadata')
      .with.property('annotations')
      .that.deep.includes({ [annotations.templateLabels]: 'team,tier' });
  });

  it('CORE-70: keeps one of two items with the same name', () => {
    const twins = [item('plan', 'a'), item('plan', 'a', {}, { name: 'plan-a-y' })];
    expect(effectsOf(decide('Init', [template('a')], twins))).to.include('delete plan-a-y');
  });
});

describe('an execution in Progressing', () => {
  const rows: {
    title: string;
    items: DeployItem[];
    templates?: DeployItemTemplate[];
    answer: string;
    effects?: string[];
  }[] = [
    {
      title: 'CORE-60: starts the items without dependencies',
      items: [item('plan', 'a'), item('plan', 'b'), item('plan', 'c')],
      answer: 'wait',
      effects: ['job plan-a-x', 'job plan-b-x'],
    },
    {
      title: 'CORE-61: does not start an item before all its dependencies have finished',
      items: [item('plan', 'a', done(JOB)), item('plan', 'b', running(JOB)), item('plan', 'c')],
      answer: 'wait',
      effects: [],
    },
    {
      title: 'CORE-61: starts it then',
      items: [item('plan', 'a', done(JOB)), item('plan', 'b', done(JOB)), item('plan', 'c')],
      answer: 'wait',
      effects: ['job plan-c-x'],
    },
    {
      title: 'CORE-63: waits for running items before it fails',
      items: [item('plan', 'a', done(JOB, 'Failed')), item('plan', 'b', running(JOB)), item('plan', 'c')],
      answer: 'wait',
      effects: [],
    },
    {
      title: 'CORE-63: fails if no item is running any more',
      items: [item('plan', 'a', done(JOB, 'Failed')), item('plan', 'b', done(JOB)), item('plan', 'c')],
      answer: 'fail',
      effects: [],
    },
    {
      title: 'CORE-64: counts a deleted item as failed',
      items: [item('plan', 'b', done(JOB)), item('plan', 'c')],
      answer: 'fail',
    },
    {
      title: 'continues when all have succeeded',
      items: [item('plan', 'a', done(JOB)), item('plan', 'b', done(JOB)), item('plan', 'c', done(JOB))],
      answer: 'advance',
    },
    { title: 'CORE-61b: continues if there is nothing to do', templates: [], items: [], answer: 'advance' },
    {
      title: 'CORE-63b: fails for cyclic dependencies',
      templates: [template('a', { dependsOn: ['b'] }), template('b', { dependsOn: ['a'] })],
      items: [item('plan', 'a'), item('plan', 'b')],
      answer: 'fail',
    },
    {
      title: 'CORE-65: starts the deletion of orphans at once, and nothing else before they are gone',
      templates: [template('a')],
      items: [
        item('plan', 'a'),
        item('plan', 'b', done('an-earlier-job'), deleting),
        item('plan', 'c', done('an-earlier-job'), deleting),
      ],
      answer: 'wait',
      effects: ['job plan-b-x', 'job plan-c-x'],
    },
    {
      title: 'CORE-65b: fails if an orphan cannot be deleted',
      templates: [],
      items: [item('plan', 'b', done(JOB, 'DeleteFailed'), deleting)],
      answer: 'fail',
    },
  ];
  for (const row of rows) {
    it(row.title, () => {
      const decision = decide('Progressing', row.templates ?? abc, row.items);
      expect(decision.do).to.equal(row.answer);
      if (row.effects) expect(effectsOf(decision)).to.deep.equal(row.effects);
    });
  }

  it('reports which item failed and why', () => {
    const failed = item('plan', 'a', {
      ...done(JOB, 'Failed'),
      lastError: {
        operation: 'o',
        reason: 'r',
        message: 'disk full',
        lastTransitionTime: NOW,
        lastUpdateTime: NOW,
      },
    });
    const decision = decide('Progressing', [template('a')], [failed]);
    expect(decision)
      .to.have.nested.property('problem.message')
      .that.matches(/^has failed or missing deploy items.*a: disk full/);
  });
});

describe('items that were not picked up for a while', () => {
  const neglected = (name: string, type: string) => {
    const given = item('plan', name, { ...running(JOB, ''), jobIDGenerationTime: '2025-12-31T23:59:30Z' });
    return { ...given, spec: { ...given.spec, type } };
  };

  it('are not reported if their deployer runs here', () => {
    const missingDeployer = (type: string) => missingDeployerText(type, new Set([type]), undefined);
    const items = [neglected('a', 'x/served')];
    expect(awaiting({ self, now: NOW, missingDeployer }, 'JobsUnfinished', items, [])).to.deep.equal({
      awaited: { reason: 'JobsUnfinished', objects: ['deploy item plan-a-x'] },
    });
  });

  it('are looked up once for each type, until one has an answer', () => {
    const asked: string[] = [];
    const missingDeployer = (type: string) => {
      asked.push(type);
      return missingDeployerText(type, new Set(['x/served']), undefined);
    };
    const items = ['x/served', 'x/served', 'x/nobody', 'x/nobody', 'x/other'].map((type, i) =>
      neglected(`${i}`, type),
    );
    const { awaited } = awaiting({ self, now: NOW, missingDeployer }, 'JobsUnfinished', items, []);
    expect(awaited.reason).to.equal('NotTakenUp');
    expect(awaited)
      .to.have.property('message')
      .that.matches(/^deploy item plan-2-x is not picked up: no deployer .* x\/nobody /);
    expect(asked).to.deep.equal(['x/served', 'x/nobody']);
  });
});

describe('an execution in Deleting', () => {
  const before = done('an-earlier-job');
  const gone = [item('plan', 'a', before, deleting), item('plan', 'b', before, deleting)];

  it('CORE-90: deletes the last in the order first', () => {
    const decision = decide('Deleting', abc, [...gone, item('plan', 'c', before, deleting)]);
    expect(effectsOf(decision)).to.deep.equal(['job plan-c-x']);
  });

  it('CORE-90: deletes the others after it is gone', () => {
    expect(effectsOf(decide('Deleting', abc, gone))).to.deep.equal(['job plan-a-x', 'job plan-b-x']);
  });

  it('CORE-91: fails if an item cannot be deleted', () => {
    const decision = decide('Deleting', abc, [
      ...gone,
      item('plan', 'c', done(JOB, 'DeleteFailed'), deleting),
    ]);
    expect(decision)
      .to.have.nested.property('problem.message')
      .that.matches(/^has failed items.*c/);
  });

  it('CORE-91: does not fail while another item is being deleted', () => {
    const items = [
      item('plan', 'a', done(JOB, 'DeleteFailed'), deleting),
      item('plan', 'b', running(JOB, 'Deleting'), deleting),
    ];
    const decision = decide('Deleting', [template('a'), template('b')], items);
    expect(decision.do).to.equal('wait');
    expect(effectsOf(decision)).to.deep.equal([]);
  });

  it('waits for the items under deletion, and gives no item its job twice', () => {
    const items = [...gone, item('plan', 'c', running(JOB, 'Deleting'), deleting)];
    const decision = decide('Deleting', abc, items);
    expect(effectsOf(decision)).to.deep.equal([]);
    expect(decision).to.have.deep.nested.property('awaited.objects', items.slice(-1).map(named));
  });

  it('fails if the dependencies are cyclic', () => {
    const circle = [template('a', { dependsOn: ['b'] }), template('b', { dependsOn: ['a'] })];
    const decision = decide('Deleting', circle, gone);
    expect(decision)
      .to.have.nested.property('problem.message')
      .that.equals('has pending items: plan-a-x, plan-b-x');
  });

  it('CORE-90b: keeps waiting if a deployer reports Succeeded and the item still exists', () => {
    const decision = decide('Deleting', [template('a')], [item('plan', 'a', done(JOB), deleting)]);
    expect(decision.do).to.equal('wait');
  });

  it('CORE-93: does not finish before items without template are deleted', () => {
    const decision = decide('Deleting', [], [item('plan', 'z', before, deleting)]);
    expect(effectsOf(decision)).to.deep.equal(['job plan-z-x']);
  });

  it('removes items without a job if they never had one, because nothing of them is installed', () => {
    const decision = decide('Deleting', abc, [item('plan', 'a', {}, deleting)]);
    expect(effectsOf(decision)).to.deep.equal(['strip plan-a-x']);
  });

  it('CORE-99: removes the finalizer of items that are not to be uninstalled, and gives them no job', () => {
    const marked = item(
      'plan',
      'a',
      {},
      { ...deleting, annotations: { [annotations.deleteWithoutUninstall]: 'true' } },
    );
    expect(effectsOf(decide('Deleting', [template('a')], [marked]))).to.deep.equal(['strip plan-a-x']);
  });

  it('removes its own finalizer, and leaves those of others', () => {
    const going = execution('plan', { meta: { ...deleting, finalizers: ['x.org/keep', FINALIZER] } });
    const [effect] = decide('Deleting', abc, [], { self: going }).effects;
    expect(effect).to.have.deep.nested.property('body.metadata.finalizers', ['x.org/keep']);
  });

  it('finishes when nothing is left', () => {
    expect(decide('Deleting', abc, []).do).to.equal('release');
  });
});

describe('an execution before its phases', () => {
  const before = (self: View<Execution>, facts: Partial<Facts> = {}) =>
    intake(self, { items: [], now: NOW, isAbandoned: false, ...facts });

  it('is released if its parent is gone and there is nothing to uninstall', () => {
    const late = execution('plan', { meta: deleting });
    expect(before(late)).to.equal(undefined);
    expect(before(late, { isAbandoned: true, items: [item('plan', 'a')] })).to.equal(undefined);
    expect(effectsOf(before(late, { isAbandoned: true })!)).to.deep.equal(['strip plan']);
  });

  it('CORE-96: fails unfinished items if interrupted, and removes the annotation last', () => {
    const asked = execution('plan', {
      status: running(JOB),
      meta: { annotations: { [annotations.operation]: 'interrupt' } },
    });
    const items = [item('plan', 'a', done(JOB)), item('plan', 'b', running(JOB)), item('plan', 'c')];
    const answer = before(asked, { items });
    const targets = answer?.effects.map((e) => (e.do === 'patch' ? e.target.metadata.name : e.do));
    expect(targets).to.deep.equal(['plan-b-x', 'plan-c-x', 'plan']);
    expect(answer?.effects.at(-1))
      .to.have.nested.property('body.metadata.annotations')
      .that.deep.equals({
        [annotations.operation]: null,
        [annotations.interruptedJob]: JOB,
      });
  });

  it('CORE-72: compresses deploy items with the write that adds the finalizer', () => {
    const plain = execution('plan', { items: abc, meta: { finalizers: [] } });
    const [effect] = before(plain)?.effects ?? [];
    expect(effect).to.have.nested.property('body.spec.deployItemsCompressed').that.is.a('string');
    expect(effect).to.have.nested.property('body.spec.deployItems').that.equals(null);
  });

  it('compresses too many items as well, so that its job can report them', () => {
    const many = Array.from({ length: defaultLimits.deployItems + 1 }, () => template('a'));
    const plain = execution('plan', { items: many, meta: { finalizers: [] } });
    expect(before(plain)?.effects).to.have.length(1);
  });

  it('does nothing after it has finished', () => {
    expect(before(execution('plan', { status: done(JOB) }))).to.equal(undefined);
  });
});

describe('an execution whose job fails', () => {
  const names = (phase: string, items: readonly DeployItem[], templates = abc): readonly string[] =>
    mayBeStarting(execution('plan', { status: running(JOB, phase) }), templates, items).map(
      ({ metadata }) => metadata.name,
    );
  const good = done(JOB);
  const bad = done(JOB, 'Failed');
  const old = done('j1');
  const chain = [template('a'), template('b', { dependsOn: ['a'] })];

  it('writes to items that could start, so that a late write of the job meets a conflict', () => {
    const items = [item('plan', 'a', bad), item('plan', 'b', old), item('plan', 'c', old)];
    expect(names('Progressing', items)).to.deep.equal(['plan-b-x']);
  });
  it('writes to those whose dependencies have succeeded, and to none whose dependencies have failed', () => {
    const items = [item('plan', 'a', good), item('plan', 'b', old), item('plan', 'x', bad)];
    expect(names('Progressing', items, [...chain, template('x')])).to.deep.equal(['plan-b-x']);
    expect(names('Progressing', [item('plan', 'a', bad), item('plan', 'b', old)], chain)).to.deep.equal([]);
  });
  it('writes to orphans that have not received the job', () => {
    const items = [
      item('plan', 'a', good),
      item('plan', 'old', old, deleting),
      item('plan', 'gone', bad, deleting),
    ];
    expect(names('Progressing', items, [template('a')])).to.deep.equal(['plan-old-x']);
  });
  it('writes, during a deletion, to those that no other item needs any more', () => {
    const items = [item('plan', 'a', old, deleting), item('plan', 'b', old, deleting)];
    expect(names('Deleting', items, chain)).to.deep.equal(['plan-b-x']);
    const failed = [...items, item('plan', 'x', done(JOB, 'DeleteFailed'), deleting)];
    expect(names('Deleting', failed, [...chain, template('x')])).to.deep.equal(['plan-b-x']);
  });
  it('writes to none before it has given the job to any', () => {
    for (const phase of ['Init', 'InitDelete', 'Completing']) {
      expect(names(phase, [item('plan', 'a', old)])).to.deep.equal([]);
    }
  });
});
