import { expect } from 'chai';
import { CodecError } from '../../../../../deployers/sdk/codec.ts';
import { customVerdict, decodeReadiness } from '../../../../../deployers/objects/readiness/custom.ts';

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
    it(`DEP-40: ${JSON.stringify(requirement)} ${expected === true ? 'holds' : 'does not hold'}`, () => {
      const verdict = customVerdict(settings, requirementOf(requirement));
      expect(verdict).to.deep.equal(
        expected === true ? { isReady: true } : { isReady: false, why: expected },
      );
    });
  }

  it('DEP-40: a path in braces is invalid and never fulfilled', () => {
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
    it(`DEP-44: a check with ${title} is rejected`, () => {
      expect(() => decodeReadiness({ custom: [check] }, 'readinessChecks'))
        .to.throw(CodecError, message)
        .with.property('step', 'validate');
    });
  }

  it('is read with all its fields', () => {
    const labelSelector = { apiVersion: 'v1', kind: 'Pod', matchLabels: { a: 'b' } };
    const whole = {
      ...good,
      disabled: true,
      targetName: 'b',
      labelSelector,
      resourceSelector: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 's', namespace: 'app' }],
    };
    const { resourceSelector, disabled: _, labelSelector: __, requirements: ___, ...rest } = whole;
    expect(decodeReadiness({ disableDefault: true, custom: [whole] }, 'r')).to.deep.equal({
      isDefaultDisabled: true,
      custom: [
        {
          ...rest,
          isDisabled: true,
          resources: resourceSelector,
          labels: labelSelector,
          requirements: [{ jsonPath: '.a', operator: 'exists', values: [] }],
        },
      ],
    });
  });

  it('keeps missing fields missing', () => {
    for (const nothing of [undefined, null, {}])
      expect(decodeReadiness(nothing, 'r')).to.deep.equal({ isDefaultDisabled: false, custom: [] });
    const bare = { ...good, targetName: '', resourceSelector: [{ namespace: '' }] };
    const [check] = decodeReadiness({ custom: [bare] }, 'r').custom;
    expect(check).to.deep.include({ isDisabled: false, labels: undefined, targetName: undefined });
    expect(check?.resources).to.deep.equal([{ apiVersion: '', kind: '', name: '' }]);
    const labelled = { ...good, resourceSelector: [], labelSelector: { matchLabels: { a: 'b' } } };
    expect(decodeReadiness({ custom: [labelled] }, 'r').custom[0]?.labels).to.deep.equal({
      apiVersion: '',
      kind: '',
      matchLabels: { a: 'b' },
    });
  });

  const requirement = (fields: object): object => ({
    ...good,
    requirements: [{ jsonPath: '.a', operator: 'exists', ...fields }],
  });
  const resource = (fields: unknown): object => ({ ...good, resourceSelector: [fields] });
  const labels = (fields: object): object => ({
    ...good,
    labelSelector: { matchLabels: { a: 'b' }, ...fields },
  });
  const unreadable: readonly (readonly [unknown, string])[] = [
    ['x', ': expected an object'],
    [{ ...good, name: 1 }, '.name: expected a string'],
    [{ ...good, disabled: 'yes' }, '.disabled: expected true or false'],
    [{ ...good, targetName: 1 }, '.targetName: expected a string'],
    [{ ...good, resourceSelector: {} }, '.resourceSelector: expected a list'],
    [{ ...good, requirements: {} }, '.requirements: expected a list'],
    [resource('x'), '.resourceSelector[0]: expected an object'],
    ...['apiVersion', 'kind', 'name', 'namespace'].map(
      (field) => [resource({ [field]: 1 }), `.resourceSelector[0].${field}: expected a string`] as const,
    ),
    [{ ...good, labelSelector: 'x' }, '.labelSelector: expected an object'],
    [labels({ matchLabels: { a: 1 } }), '.labelSelector.matchLabels.a: expected a string'],
    ...['apiVersion', 'kind'].map(
      (field) => [labels({ [field]: 1 }), `.labelSelector.${field}: expected a string`] as const,
    ),
    [{ ...good, requirements: ['x'] }, '.requirements[0]: expected an object'],
    [requirement({ jsonPath: 1 }), '.requirements[0].jsonPath: expected a string'],
    [requirement({ operator: 1 }), '.requirements[0].operator: expected a string'],
    [requirement({ values: 'x' }), '.requirements[0].values: expected a list'],
    [
      requirement({ operator: '~' }),
      '.requirements[0].operator: Invalid value: "~": is not a valid operator',
    ],
    [requirement({ operator: '' }), '.requirements[0].operator: Invalid value: "": is not a valid operator'],
    [
      requirement({ operator: 'notin' }),
      '.requirements[0].values: Required value: must have at least one value',
    ],
    ...['=', '==', '!='].map(
      (operator) =>
        [
          requirement({ operator }),
          `.requirements[0].values: Invalid value: "${operator}": must have exactly one value to compare to`,
        ] as const,
    ),
  ];
  for (const [check, message] of unreadable) {
    it(`is rejected with its path: ${message}`, () => {
      expect(() => decodeReadiness({ custom: [good, check] }, 'r')).to.throw(
        CodecError,
        `r.custom[1]${message}`,
      );
    });
  }
  it('is rejected with its path: r.custom: expected a list', () => {
    expect(() => decodeReadiness({ custom: {} }, 'r')).to.throw(CodecError, 'r.custom: expected a list');
    expect(() => decodeReadiness({ disableDefault: 1 }, 'r')).to.throw(
      CodecError,
      'r.disableDefault: expected true',
    );
  });

  it('needs every requirement, for every result', () => {
    const all = (...requirements: object[]) =>
      customVerdict(settings, requirements.flatMap(requirementOf)).isReady;
    const [up, gone] = [
      { jsonPath: '.data.state', operator: 'exists' },
      { jsonPath: '.gone', operator: 'exists' },
    ];
    expect([all(up), all(up, gone), all(gone, up)]).to.deep.equal([true, false, false]);
    expect(all({ jsonPath: '.list[*].v', operator: 'notin', values: [{ value: 2 }] })).to.equal(false);
    expect(all({ jsonPath: '.list[*].v', operator: 'notin', values: [{ value: 3 }] })).to.equal(true);
    expect(all({ jsonPath: '.list[*].v', operator: '!=', values: [{ value: 1 }] })).to.equal(false);
    expect(all({ jsonPath: '.list[?(@.v==9)].v', operator: 'exists' }), 'no result').to.equal(false);
    expect(all({ jsonPath: '.list[?(@.v==9)].v', operator: '!' }), 'no result').to.equal(true);
    expect(all({ jsonPath: '.data.state', operator: 'in', values: [{ value: 'up' }, 'x'] })).to.equal(false);
  });
});
