import { expect } from 'chai';
import fc from 'fast-check';
import { formatGoFloat } from '../../../src/lib/go-float.ts';

describe('floating point numbers in Go', () => {
  const rows: readonly [number, 'e' | 'f' | 'g' | 'G' | 'E', number, string][] = [
    [1000000, 'g', -1, '1e+06'],
    [100000, 'g', -1, '100000'],
    [20971520, 'g', -1, '2.097152e+07'],
    [0.0001, 'g', -1, '0.0001'],
    [0.00001, 'g', -1, '1e-05'],
    [10.5, 'g', -1, '10.5'],
    [0.5, 'f', 0, '0'],
    [1.5, 'f', 0, '2'],
    [2.5, 'f', 0, '2'],
    [1e30, 'f', 0, '1000000000000000019884624838656'],
    [3.14159, 'f', 2, '3.14'],
    [0.05, 'f', 1, '0.1'],
    [1234.5, 'e', 6, '1.234500e+03'],
    [9.99, 'e', 1, '1.0e+01'],
    [0, 'e', 2, '0.00e+00'],
    [100, 'G', 2, '1E+02'],
    [-0, 'g', -1, '-0'],
    [Infinity, 'g', -1, '+Inf'],
    [NaN, 'f', 2, 'NaN'],
  ];
  for (const [value, format, precision, expected] of rows) {
    it(`print ${String(value)} with ${format} and ${String(precision)} as ${expected}`, () => {
      expect(formatGoFloat(value, format, precision)).to.equal(expected);
    });
  }

  it('keep their value in the shortest form', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        for (const format of ['e', 'f', 'g'] as const)
          expect(Number(formatGoFloat(value, format))).to.equal(value);
      }),
    );
  });
});
