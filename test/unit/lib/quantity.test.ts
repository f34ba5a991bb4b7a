import { expect } from 'chai';
import { canonicalQuantity, compareQuantities } from '../../../src/lib/quantity.ts';

describe('quantities', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['1000m', '1'],
    ['0.5Gi', '512Mi'],
    ['12000', '12k'],
    ['1e3', '1e3'],
    ['-1500m', '-1500m'],
    ['x', undefined],
  ];
  for (const [text, expected] of rows) {
    it(`${text} is stored as ${expected ?? 'nothing'}`, () => {
      expect(canonicalQuantity(text)).to.equal(expected);
    });
  }

  // Each of them is a number of a million digits.
  for (const text of ['1e999999', '1e-999999', '1'.repeat(1_000_000), `0.${'1'.repeat(1_000_000)}`]) {
    it(`${text.slice(0, 9)} of ${String(text.length)} characters is invalid, because no server could store it`, () => {
      expect(canonicalQuantity(text)).to.equal(undefined);
      expect(compareQuantities(text, '0')).to.equal(0);
    });
  }
});
