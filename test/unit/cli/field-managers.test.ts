import { expect } from 'chai';
import { movedToApply } from '../../../src/cli/field-managers.ts';

const apply = (fieldsV1: object) => ({ manager: 'espalier-apply', operation: 'Apply', fieldsV1 });
const cli = (fieldsV1: object, more: object = {}) => ({
  manager: 'espalier-cli',
  operation: 'Update',
  fieldsV1,
  ...more,
});
const A = { 'f:spec': { 'f:a': {} } };
const B = { 'f:spec': { 'f:b': { 'f:c': {} } } };

describe('the spec that a command of ours has written', () => {
  it('is owned by apply, with what apply owned before', () => {
    expect(movedToApply([apply(A), cli(B)])).to.deep.equal([
      apply({ 'f:spec': { 'f:a': {}, 'f:b': { 'f:c': {} } } }),
    ]);
  });

  it('leaves its other fields with the command', () => {
    const metadata = { 'f:metadata': { 'f:annotations': {} } };
    expect(movedToApply([apply({}), cli({ ...A, ...metadata })])).to.deep.equal([apply(A), cli(metadata)]);
  });

  const rows: readonly (readonly [string, unknown])[] = [
    ['apply does not manage the object', [cli(A)]],
    ['another program has written it', [apply(A), { ...cli(B), manager: 'kubectl' }]],
    ['only a subresource was written', [apply(A), cli(B, { subresource: 'status' })]],
    ['nothing in the spec was written', [apply(A), cli({ 'f:metadata': {} })]],
    ['the object has no managed fields', undefined],
  ];
  for (const [why, managedFields] of rows)
    it(`is not moved if ${why}`, () => {
      expect(movedToApply(managedFields)).to.equal(undefined);
    });
});
