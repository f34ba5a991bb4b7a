/** Which custom readiness checks are refused, at which step and with which words. */
import { expect } from 'chai';
import { CodecError } from '../../../../../deployers/sdk/codec.ts';
import { customVerdict, decodeReadiness } from '../../../../../deployers/objects/readiness/custom.ts';

const resource = { apiVersion: 'v1', kind: 'ConfigMap', name: 's' };
const exists = { jsonPath: '.a', operator: 'exists' };
const check = { name: 'c', resourceSelector: [resource], requirements: [exists] };
const decode = (custom: unknown) => decodeReadiness({ custom }, 'checks');

describe('a custom readiness check', () => {
  const at = 'checks.custom[0]';
  const rows: readonly (readonly [unknown, 'decode' | 'validate', string])[] = [
    ['x', 'decode', `${at}: expected an object`],
    [{ ...check, name: '' }, 'validate', `${at}.name: Required value: must not be empty`],
    [{ requirements: [exists] }, 'validate', `${at}.name: Required value: must not be empty`],
    [
      { ...check, resourceSelector: [] },
      'validate',
      `${at}.resourceSelector/labelSelector: Required value: must have either a resource or a set of labels`,
    ],
    [
      { name: 'c', requirements: [exists] },
      'validate',
      `${at}.resourceSelector/labelSelector: Required value: must have either a resource or a set of labels`,
    ],
    [
      { ...check, requirements: [] },
      'validate',
      `${at}.requirements: Required value: must have at least one resource requirement`,
    ],
    [
      { name: 'c', resourceSelector: [resource] },
      'validate',
      `${at}.requirements: Required value: must have at least one resource requirement`,
    ],
    [{ ...check, resourceSelector: ['x'] }, 'decode', `${at}.resourceSelector[0]: expected an object`],
    [
      { ...check, labelSelector: {} },
      'validate',
      `${at}.labelSelector.matchLabels: Required value: must have at least one label to select on`,
    ],
    [{ ...check, requirements: ['x'] }, 'decode', `${at}.requirements[0]: expected an object`],
    [
      { ...check, requirements: [{ operator: 'exists' }] },
      'validate',
      `${at}.requirements[0].jsonPath: Required value: must not be empty`,
    ],
    [
      { ...check, requirements: [{ jsonPath: '.a' }] },
      'validate',
      `${at}.requirements[0].operator: Invalid value: "": is not a valid operator`,
    ],
    [
      { ...check, requirements: [{ jsonPath: '.a', operator: 'in' }] },
      'validate',
      `${at}.requirements[0].values: Required value: must have at least one value to compare to`,
    ],
    [
      { ...check, requirements: [{ jsonPath: '.a', operator: '=', values: [{}, {}] }] },
      'validate',
      `${at}.requirements[0].values: Invalid value: "=": must have exactly one value to compare to`,
    ],
  ];
  for (const [value, step, message] of rows) {
    it(`is refused: ${message}`, () => {
      expect(() => decode([value]))
        .to.throw(CodecError)
        .with.deep.include({ step, message });
    });
  }

  it('has no more than was given', () => {
    expect(decode([check]).custom).to.deep.equal([
      {
        name: 'c',
        isDisabled: false,
        labels: undefined,
        targetName: undefined,
        resources: [resource],
        requirements: [{ jsonPath: '.a', operator: 'exists', values: [] }],
      },
    ]);
    expect(decodeReadiness(undefined, 'checks')).to.deep.equal({ isDefaultDisabled: false, custom: [] });
  });

  it('compares only with objects that have a value', () => {
    const requirement = { jsonPath: '.a', operator: '==' } as const;
    for (const value of ['x', {}, { other: 1 }, null])
      expect(
        customVerdict({ a: 'x' }, [{ ...requirement, values: [value] }]),
        JSON.stringify(value),
      ).to.deep.equal({
        isReady: false,
        why: 'object at index 0 does not contain the value key',
      });
  });
});
