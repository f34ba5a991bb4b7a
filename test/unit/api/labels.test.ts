import { expect } from 'chai';
import { annotations, labels } from '../../../src/api/labels.ts';

/** A qualified name that the API server accepts: DNS prefix, one slash, name. */
const QUALIFIED = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

describe('keys', () => {
  for (const [name, key] of Object.entries({ ...annotations, ...labels })) {
    it(`${name} is valid`, () => {
      expect(key).to.match(QUALIFIED);
    });
  }

  it('are used only once each', () => {
    const all = [...Object.values(annotations), ...Object.values(labels)];
    expect(new Set(all).size).to.equal(all.length);
  });
});
