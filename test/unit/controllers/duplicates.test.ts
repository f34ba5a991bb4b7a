/** Several deploy items or children of one name: the one in use stays, and what goes takes nothing of it along. */
import { expect } from 'chai';
import { assign } from '../../../controllers/execution/classify.ts';
import { phases } from '../../../controllers/execution/phases.ts';
import type { Snapshot } from '../../../controllers/execution/snapshot.ts';
import { partitionChildren } from '../../../controllers/installation/children.ts';
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { ObjectMeta } from '../../../src/api/shared.ts';
import { ask, effectsOf } from '../../support/ask.ts';
import {
  NOW,
  child,
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
const templates = [template('a')];

const named = (name: string, status: DeployItem['status'] | object = {}, meta: Partial<ObjectMeta> = {}) =>
  item('plan', 'a', status, { name, ...meta });

describe('of several deploy items of one name', () => {
  const rows: readonly { title: string; items: readonly DeployItem[] }[] = [
    {
      title: 'one that was installed counts before one that never had a job',
      items: [named('other'), named('kept', done('j1'))],
    },
    {
      title: 'one that failed counts before one that never had a job',
      items: [named('other'), named('kept', done('j1', 'Failed'))],
    },
    {
      title: 'one that a deployer noted something on counts before one without a trace of any',
      items: [named('other'), named('kept', { providerStatus: { apiVersion: 'v1', kind: 'Status' } })],
    },
    {
      title: 'one that was installed counts before one that failed',
      items: [named('other', done('j1', 'Failed')), named('kept', done('j1'))],
    },
    {
      title: 'the one that has the current job counts before all others',
      items: [named('other', done('j1')), named('kept', running(JOB))],
    },
    {
      title: 'one that has finished the current job counts before one that has just been given it',
      items: [named('other', running(JOB, '')), named('kept', done(JOB))],
    },
    {
      title: 'the oldest counts when nothing else tells them apart',
      items: [
        named('other', {}, { creationTimestamp: '2026-01-01T00:00:01Z' }),
        named('kept', {}, { creationTimestamp: NOW }),
      ],
    },
    {
      title: 'one under deletion counts last, whatever it did',
      items: [named('other', done('j1'), deleting), named('kept')],
    },
  ];
  for (const { title, items } of rows) {
    for (const order of [items, items.toReversed()]) {
      it(`${title}, listed ${order === items ? 'last' : 'first'}`, () => {
        const { active, orphans } = assign(self, templates, order);
        expect(active.get('a')?.metadata.name).to.equal('kept');
        expect(orphans.map(({ metadata }) => metadata.name)).to.deep.equal(['other']);
      });
    }
  }

  it('the one that never had a job counts as such for an execution that never had one either', () => {
    const { active } = assign(execution('plan'), templates, [named('other'), named('kept', done('j1'))]);
    expect(active.get('a')?.metadata.name).to.equal('kept');
  });
});

describe('a double that is on its way out', () => {
  const decide = (items: readonly DeployItem[]) =>
    effectsOf(
      ask<Snapshot>(phases.Progressing.phase, {
        ...{ self, now: NOW, templates, items, freshName: (prefix: string) => `${prefix}sfx` },
        ...{ clusterNames: new Map(), itemsWithoutCluster: new Set(), missingDeployer: () => undefined },
      }),
    );
  const live = named('live', done('j1'));

  it('goes without a job when it did nothing: its deployer would uninstall what the other one installed', () => {
    expect(decide([named('unused', {}, deleting), live])).to.deep.equal(['strip unused']);
  });

  it('is uninstalled when it ever had a job', () => {
    expect(decide([named('used', done('j0', 'Failed'), deleting), live])).to.deep.equal(['job used']);
  });
});

describe('of several children of one name', () => {
  const parent = installation('stack', { status: running(JOB) });
  const called = (name: string, status: object = {}, meta: Partial<ObjectMeta> = {}) =>
    child('stack', 'a', status, { ...child('stack', 'a').metadata, name, ...meta });
  const rows = [
    [
      'one that was installed counts before one that never had a job',
      called('x'),
      called('kept', done('j1')),
    ],
    ['the one with the current job counts first', called('x', done('j1')), called('kept', running(JOB))],
    ['one under deletion counts last', called('x', done('j1'), deleting), called('kept')],
  ] as const;
  for (const [title, other, kept] of rows) {
    for (const order of [
      [other, kept],
      [kept, other],
    ]) {
      it(`${title}, listed ${order[0] === kept ? 'first' : 'last'}`, () => {
        const { living, orphans } = partitionChildren(parent, [{ name: 'a' }], order);
        expect(living.get('a')).to.equal(kept);
        expect(orphans).to.deep.equal([other]);
      });
    }
  }
});
