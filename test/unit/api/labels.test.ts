import { expect } from 'chai';
import { annotations, labels } from '../../../src/api/labels.ts';

/** A qualified name as the API server accepts it: DNS prefix, one slash, name. */
const QUALIFIED = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

describe('keys', () => {
  for (const [name, key] of Object.entries({ ...annotations, ...labels })) {
    it(`${name} is a legal one`, () => {
      expect(key).to.match(QUALIFIED);
    });
  }

  it('are used once each', () => {
    const all = [...Object.values(annotations), ...Object.values(labels)];
    expect(new Set(all).size).to.equal(all.length);
  });
});
