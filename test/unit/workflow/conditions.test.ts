/** Conditions that many operators need. */
import { expect } from 'chai';
import { CustomResourceDefinition } from '../../../src/runtime/core-kinds.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { crdPresent, hasStatusCondition, isGone } from '../../../src/workflow/conditions.ts';
import type { NodeView } from '../../../src/workflow/node.ts';
import { FakeClock } from '../../support/clock.ts';
import { FakeCluster } from '../runtime/support/fake-cluster.ts';
import { contextOn, primary } from './support.ts';

const view = (all: readonly unknown[]): NodeView => ({
  name: 'x',
  actual: () => Promise.resolve(all[0]),
  all: () => Promise.resolve(new Map(all.map((each, i) => [String(i), each]))),
});
const met = (type: string, status = 'True') => ({ type, status });

describe('isGone', () => {
  for (const [count, expected] of [
    [0, true],
    [1, false],
    [2, false],
  ] as const) {
    it(`is ${String(expected)} if there are ${String(count)} objects`, async () => {
      const objects = Array.from({ length: count }, () => ({}));
      const ctx = contextOn(new FakeClock());
      expect(await isGone(view(objects), primary, ctx)).to.equal(expected);
    });
  }
});

describe('hasStatusCondition', () => {
  const rows: [string, unknown, boolean][] = [
    ['the condition', { conditions: [met('Ready')] }, true],
    ['the condition among others', { conditions: [met('Old', 'False'), met('Ready'), met('New')] }, true],
    ['the condition with another status', { conditions: [met('Ready', 'Unknown')] }, false],
    ['another condition', { conditions: [met('Progressing')] }, false],
    ['no conditions', { conditions: [] }, false],
    ['conditions that are not a list', { conditions: { type: 'Ready', status: 'True' } }, false],
    ['conditions that are not objects', { conditions: [null, 'Ready'] }, false],
  ];
  for (const [title, status, expected] of rows) {
    it(`is ${String(expected)} for a status with ${title}`, async () => {
      const ctx = contextOn(new FakeClock());
      expect(await hasStatusCondition('Ready')(view([{ status }]), primary, ctx)).to.equal(expected);
    });
  }
});

describe('crdPresent', () => {
  const NAME = 'things.example.io';
  const crd = (conditions: unknown) => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME },
    status: { conditions },
  });
  const stage = (definition?: Obj) => {
    const cluster = new FakeCluster();
    if (definition) cluster.put<Obj>(CustomResourceDefinition, definition);
    const clock = new FakeClock();
    const ctx = contextOn(clock, { live: cluster });
    return {
      cluster,
      clock,
      ask: async () => await crdPresent(NAME)(view([]), primary, ctx),
      looks: () => cluster.requests.length,
    };
  };
  const rows: [string, unknown, boolean][] = [
    ['established', [met('NamesAccepted'), met('Established')], true],
    ['not established', [met('NamesAccepted'), met('Established', 'False')], false],
    ['not checked yet', [], false],
    ['without conditions', null, false],
  ];
  for (const [title, conditions, expected] of rows) {
    it(`is ${String(expected)} if the CRD is ${title}`, async () => {
      const answer = await stage(crd(conditions)).ask();
      expect(answer === true).to.equal(expected);
    });
  }
  it('is false if there is no CRD, and checks again in 10 s', async () => {
    expect(await stage().ask()).to.deep.equal({ met: false, requeueAfterMs: 10_000 });
  });
  it('does not check again before that', async () => {
    const { clock, ask, looks } = stage();
    await ask();
    await clock.advance(4_000);
    expect(await ask()).to.deep.equal({ met: false, requeueAfterMs: 6_000 });
    expect(looks()).to.equal(1);
    await clock.advance(6_000);
    await ask();
    expect(looks()).to.equal(2);
  });
  it('never checks again after it has found the CRD', async () => {
    const { cluster, clock, ask, looks } = stage(crd([met('Established')]));
    await ask();
    cluster.remove(CustomResourceDefinition, NAME);
    await clock.advance(1_000_000);
    expect([await ask(), looks()]).to.deep.equal([true, 1]);
  });
  it('shares one check among all concurrent callers', async () => {
    const { ask, looks } = stage(crd([met('Established')]));
    expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal([true, true, true]);
    expect(looks()).to.equal(1);
  });
  it('checks each cluster separately', async () => {
    const [one, two] = [stage(crd([met('Established')])), stage()];
    expect(await one.ask()).to.equal(true);
    expect(await two.ask()).to.have.property('met', false);
  });
});
