import { expect } from 'chai';
import { shootIn } from '../../../controllers/execution/shoot-clusters.ts';
import { dueForRemoval } from '../../../controllers/execution/classify.ts';
import { phases } from '../../../controllers/execution/phases.ts';
import type { Snapshot } from '../../../controllers/execution/snapshot.ts';
import { annotations } from '../../../src/api/labels.ts';
import { ask, effectsOf } from '../../support/ask.ts';
import { reservation } from '../../support/reservation.ts';
import { NOW, deleting, done, execution, item, running, template } from '../../support/given.ts';

const JOB = 'j2';
const leaving = execution('plan', { status: running(JOB, 'Deleting'), meta: deleting });
const gone = (name: string, jobID = 'j1') => item('plan', name, done(jobID), deleting);

describe('the shoot of a kubeconfig', () => {
  const rows: [string, string | undefined][] = [
    ['https://api.s1.garden.example', 's1'],
    ['https://api.s1.project.shoot.example:6443/path', 's1'],
    ['https://api.s1', undefined],
    ['https://www.s1.garden.example', undefined],
    ['https://10.0.0.1:6443', undefined],
    ['no address', undefined],
  ];
  for (const [server, shoot] of rows) {
    it(`${server} is ${shoot ?? 'none'}`, () => {
      expect(shootIn(server)).to.equal(shoot);
    });
  }
});

describe('CORE-101: an item whose cluster is gone', () => {
  const templates = [template('a'), template('b', { dependsOn: ['a'] })];
  const snapshot: Snapshot = {
    self: leaving,
    now: NOW,
    templates,
    refusal: undefined,
    items: [gone('a'), gone('b')],
    freshName: (prefix: string) => `${prefix}x`,
    exports: {},
    missingDeployer: () => undefined,
    traceparentOf: () => undefined,
    ancestors: [],
    reservation: reservation(),
    exportObject: undefined,
    clusterNames: new Map(),
    itemsWithoutCluster: new Set<string>(),
  };

  it('is checked when the deletion of the item starts, in the order of dependencies', () => {
    const due = dueForRemoval(leaving, templates, [gone('a'), gone('b')]);
    expect(due.map(({ metadata }) => metadata.name)).to.deep.equal(['plan-b-x']);
    expect(dueForRemoval(leaving, templates, [gone('a'), gone('b', JOB)])).to.deep.equal([]);
  });

  it('is checked for an orphan, but not after it has received its job', () => {
    const self = execution('plan', { status: running(JOB) });
    const due = dueForRemoval(self, [], [item('plan', 'a'), gone('b'), gone('c', JOB)]);
    expect(due.map(({ metadata }) => metadata.name)).to.deep.equal(['plan-b-x']);
  });

  it('loses its finalizer instead of receiving the job', () => {
    const itemsWithoutCluster = new Set(['plan-b-x']);
    expect(effectsOf(ask(phases.Deleting.phase, { ...snapshot, itemsWithoutCluster }))).to.deep.equal([
      'strip plan-b-x',
    ]);
    expect(effectsOf(ask(phases.Deleting.phase, snapshot))).to.deep.equal(['job plan-b-x']);
  });

  it('carries the name of its shoot from its creation', () => {
    const decision = ask(phases.Init.phase, {
      ...snapshot,
      self: execution('plan', { status: running(JOB, 'Init') }),
      items: [],
      clusterNames: new Map([['a', 's1']]),
    });
    const names = decision.effects.map((effect) =>
      effect.do === 'create' ? effect.object.metadata.annotations?.[annotations.clusterName] : 'no creation',
    );
    expect(names).to.deep.equal(['s1', undefined]);
  });
});
