/**
 * Several deploy items or children of the same name: one stays in use, and the deletion of the others does not affect
 * it.
 */
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

describe('of several deploy items with the same name', () => {
  const rows: readonly { title: string; items: readonly DeployItem[] }[] = [
    {
      title: 'an installed one has precedence over one that never had a job',
      items: [named('other'), named('kept', done('j1'))],
    },
    {
      title: 'a failed one has precedence over one that never had a job',
      items: [named('other'), named('kept', done('j1', 'Failed'))],
    },
    {
      title: 'one with a provider status has precedence over one without any',
      items: [named('other'), named('kept', { providerStatus: { apiVersion: 'v1', kind: 'Status' } })],
    },
    {
      title: 'an installed one has precedence over a failed one',
      items: [named('other', done('j1', 'Failed')), named('kept', done('j1'))],
    },
    {
      title: 'the one with the current job has precedence over all others',
      items: [named('other', done('j1')), named('kept', running(JOB))],
    },
    {
      title: 'one that has finished the current job has precedence over one that has just received it',
      items: [named('other', running(JOB, '')), named('kept', done(JOB))],
    },
    {
      title: 'the oldest has precedence if there is no other difference',
      items: [
        named('other', {}, { creationTimestamp: '2026-01-01T00:00:01Z' }),
        named('kept', {}, { creationTimestamp: NOW }),
      ],
    },
    {
      title: 'one under deletion comes last, whatever it did',
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

  it('the one that never had a job counts as such even if the execution never had one either', () => {
    const { active } = assign(execution('plan'), templates, [named('other'), named('kept', done('j1'))]);
    expect(active.get('a')?.metadata.name).to.equal('kept');
  });
});

describe('a duplicate that is being deleted', () => {
  const decide = (items: readonly DeployItem[]) =>
    effectsOf(
      ask<Snapshot>(phases.Progressing.phase, {
        self,
        now: NOW,
        templates,
        items,
        freshName: (prefix: string) => `${prefix}sfx`,
        clusterNames: new Map(),
        itemsWithoutCluster: new Set(),
        missingDeployer: () => undefined,
      }),
    );
  const live = named('live', done('j1'));

  it('is deleted without a job if it did nothing: its deployer would uninstall what the other one installed', () => {
    expect(decide([named('unused', {}, deleting), live])).to.deep.equal(['strip unused']);
  });

  it('is uninstalled if it ever had a job', () => {
    expect(decide([named('used', done('j0', 'Failed'), deleting), live])).to.deep.equal(['job used']);
  });
});

describe('of several children with the same name', () => {
  const parent = installation('stack', { status: running(JOB) });
  const called = (name: string, status: object = {}, meta: Partial<ObjectMeta> = {}) =>
    child('stack', 'a', status, { ...child('stack', 'a').metadata, name, ...meta });
  const rows = [
    [
      'an installed one has precedence over one that never had a job',
      called('x'),
      called('kept', done('j1')),
    ],
    ['the one with the current job comes first', called('x', done('j1')), called('kept', running(JOB))],
    ['one under deletion comes last', called('x', done('j1'), deleting), called('kept')],
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
