import { expect } from 'chai';
import { strangeTo } from '../../support/original-shape.ts';
import { fixtures } from './fixtures.ts';

const STAMP = '2026-01-02T03:04:05Z';
const status = (more: object) => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'DeployItem',
  metadata: { name: 'x' },
  spec: { type: 't' },
  status: { observedGeneration: 1, ...more },
});

describe("upstream's schema", () => {
  for (const { title, object } of fixtures) {
    it(`accepts ${title}`, () => {
      expect(strangeTo(object)).to.deep.equal([]);
    });
  }

  const rows: readonly [string, object, string][] = [
    ['an unknown field', status({ progress: 1 }), 'status.progress is unknown'],
    [
      'a status without observed generation',
      { ...status({}), status: {} },
      'status.observedGeneration is missing',
    ],
    ['an invalid time', status({ lastReconcileTime: 'yesterday' }), 'status.lastReconcileTime is no time'],
    [
      'a number that is a string',
      status({ observedGeneration: '1' }),
      'status.observedGeneration is no whole number',
    ],
    [
      'a condition without a reason',
      status({
        conditions: [
          { type: 'A', status: 'True', message: '', lastTransitionTime: STAMP, lastUpdateTime: STAMP },
        ],
      }),
      'status.conditions[0].reason is missing',
    ],
    [
      'a provider status without a kind',
      status({ providerStatus: { a: 1 } }),
      'status.providerStatus is no embedded',
    ],
    ['a spec without a type', { ...status({}), spec: {} }, 'spec.type is missing'],
  ];
  for (const [title, object, found] of rows) {
    it(`rejects ${title}`, () => {
      expect(strangeTo(object)).to.deep.equal([found]);
    });
  }
});
