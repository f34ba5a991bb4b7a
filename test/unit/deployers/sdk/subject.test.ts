import { expect } from 'chai';
import { filled } from '../../../../deployers/testing/fill.ts';
import { readSubject, SubjectError } from '../../../../deployers/testing/subject.ts';

describe('the placeholders of a subject', () => {
  it('are replaced in strings and in keys, at any depth', () => {
    const config = { '$ITEM.test': ['$NAMESPACE/$ITEM', { a: '$ITEM$ITEM', n: 1 }], none: null };
    expect(filled(config, { $NAMESPACE: 'ns', $ITEM: 'item-1' })).to.deep.equal({
      'item-1.test': ['ns/item-1', { a: 'item-1item-1', n: 1 }],
      none: null,
    });
  });
});

describe('the description of a deployer for the suite', () => {
  const read = (succeeds: string) => () => readSubject(`type: a/b\nsucceeds: ${succeeds}`, 'subject.yaml');

  it('needs apiVersion and kind in each configuration, like every deploy item', () => {
    expect(read('{ kind: ProviderConfiguration }')).to.throw(
      SubjectError,
      'subject.yaml: succeeds.apiVersion: ',
    );
    expect(read('{ apiVersion: a/v1 }')).to.throw(SubjectError, 'subject.yaml: succeeds.kind: ');
    expect(read('{ apiVersion: a/v1, kind: B, c: 1 }')().succeeds).to.deep.equal({
      apiVersion: 'a/v1',
      kind: 'B',
      c: 1,
    });
  });
});
