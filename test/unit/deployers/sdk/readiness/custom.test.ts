import { expect } from 'chai';
import { CodecError } from '../../../../../deployers/sdk/codec.ts';
import { customVerdict, decodeReadiness } from '../../../../../deployers/sdk/readiness/custom.ts';

const settings = { data: { state: 'up', n: '3' }, list: [{ v: 1 }, { v: 2 }] };

const requirementOf = (r: object) =>
  decodeReadiness(
    {
      custom: [
        {
          name: 'c',
          resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 's' }],
          requirements: [r],
        },
      ],
    },
    'readinessChecks',
  ).custom[0]?.requirements ?? [];

const rows: readonly (readonly [object, true | string])[] = [
  [{ jsonPath: '.data.state', operator: '=', values: [{ value: 'up' }] }, true],
  [{ jsonPath: 'data.state', operator: '=', values: [{ value: 'up' }] }, true],
  [
    { jsonPath: '.data.n', operator: '==', values: [{ value: 3 }] },
    'resource requirement is not fulfiled for field .data.n',
  ],
  [{ jsonPath: '.data.state', operator: '!=', values: [{ value: 'down' }] }, true],
  [{ jsonPath: '.data.state', operator: 'in', values: [{ value: 'up' }, { value: 'idle' }] }, true],
  [
    { jsonPath: '.data.state', operator: 'notin', values: [{ value: 'up' }] },
    'resource requirement is not fulfiled for field .data.state',
  ],
  [{ jsonPath: '.data.gone', operator: '!' }, true],
  [{ jsonPath: '.data.state', operator: '!' }, 'resource requirement is not fulfiled for field .data.state'],
  [
    { jsonPath: '.data.gone', operator: '!=', values: [{ value: 'x' }] },
    'field with JSON path .data.gone does not exist',
  ],
  [{ jsonPath: '.data.state', operator: 'exists' }, true],
  [{ jsonPath: '.data', operator: '=', values: [{ value: { n: '3', state: 'up' } }] }, true],
  [{ jsonPath: '.list[*].v', operator: 'in', values: [{ value: 1 }, { value: 2 }] }, true],
  [
    { jsonPath: '.list[*].v', operator: 'in', values: [{ value: 1 }] },
    'resource requirement is not fulfiled for field .list[*].v',
  ],
  [
    { jsonPath: '.data.state', operator: '=', values: ['up'] },
    'object at index 0 does not contain the value key',
  ],
];

describe('custom readiness', () => {
  for (const [requirement, expected] of rows) {
    it(`S-40: ${JSON.stringify(requirement)} ${expected === true ? 'holds' : 'does not hold'}`, () => {
      const verdict = customVerdict(settings, requirementOf(requirement));
      expect(verdict).to.deep.equal(
        expected === true ? { isReady: true } : { isReady: false, why: expected },
      );
    });
  }

  it('S-40: a path in braces cannot be read and is never fulfilled', () => {
    const verdict = customVerdict(settings, requirementOf({ jsonPath: '{.data.state}', operator: 'exists' }));
    expect(verdict.isReady).to.equal(false);
  });

  const good = {
    name: 'c',
    resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 's' }],
    requirements: [{ jsonPath: '.a', operator: 'exists' }],
  };
  const mistakes: readonly (readonly [string, object, string])[] = [
    ['no name', { ...good, name: '' }, 'must not be empty'],
    ['no selector', { ...good, resourceSelector: [] }, 'must have either a resource or a set of labels'],
    [
      'labels that select nothing',
      { ...good, resourceSelector: [], labelSelector: { apiVersion: 'v1', kind: 'ConfigMap' } },
      'must have at least one label to select on',
    ],
    ['no requirement', { ...good, requirements: [] }, 'must have at least one resource requirement'],
    [
      'an unknown operator',
      { ...good, requirements: [{ jsonPath: '.a', operator: '~' }] },
      'is not a valid operator',
    ],
    [
      'two values for =',
      { ...good, requirements: [{ jsonPath: '.a', operator: '=', values: [{ value: 1 }, { value: 2 }] }] },
      'must have exactly one value to compare to',
    ],
    [
      'no values for in',
      { ...good, requirements: [{ jsonPath: '.a', operator: 'in' }] },
      'must have at least one value to compare to',
    ],
    ['no path', { ...good, requirements: [{ operator: 'exists' }] }, 'must not be empty'],
  ];
  for (const [title, check, message] of mistakes) {
    it(`S-44: a check with ${title} is refused`, () => {
      expect(() => decodeReadiness({ custom: [check] }, 'readinessChecks'))
        .to.throw(CodecError, message)
        .with.property('step', 'validate');
    });
  }
});
