import { expect } from 'chai';
import { filled } from '../../../../deployers/testing/fill.ts';

describe('the placeholders of a subject', () => {
  it('are replaced in strings and in keys, at any depth', () => {
    const config = { '$ITEM.test': ['$NAMESPACE/$ITEM', { a: '$ITEM$ITEM', n: 1 }], none: null };
    expect(filled(config, { $NAMESPACE: 'ns', $ITEM: 'item-1' })).to.deep.equal({
      'item-1.test': ['ns/item-1', { a: 'item-1item-1', n: 1 }],
      none: null,
    });
  });
});
