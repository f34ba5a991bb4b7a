import { expect } from 'chai';
import { compareVersions, tellVersionsApart } from '../../../src/runtime/cache/versions.ts';

describe('resource versions', () => {
  const rows: [string | undefined, string | undefined, number | undefined][] = [
    ['9', '10', -1],
    ['100', '99', 1],
    ['7', '7', 0],
    ['18446744073709551615', '18446744073709551616', -1],
    ['a7', 'a8', undefined],
    ['a7', 'a7', 0],
    ['07', '8', undefined],
    ['0', '8', undefined],
    ['', '8', undefined],
    [undefined, '8', undefined],
    [undefined, undefined, undefined],
  ];
  for (const [a, b, expected] of rows) {
    it(`${String(a)} and ${String(b)} compare as ${String(expected)}`, () => {
      const order = compareVersions(a, b);
      expect(order === undefined ? undefined : Math.sign(order)).to.equal(expected);
    });
  }

  it('of sources that cannot order them are only compared for equality', () => {
    expect(tellVersionsApart('1', '2')).to.equal(undefined);
    expect(tellVersionsApart('1', '1')).to.equal(0);
  });
});
