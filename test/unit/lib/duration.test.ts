import { expect } from 'chai';
import fc from 'fast-check';
import {
  formatDuration,
  formatGoDuration,
  InvalidDuration,
  isDuration,
  parseDuration,
} from '../../../src/lib/duration.ts';

describe('a duration', () => {
  const readable: readonly (readonly [string, number])[] = [
    ['none', 0],
    ['0', 0],
    ['+0', 0],
    ['0s', 0],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['2m0s', 120_000],
    ['24h', 86_400_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1_000],
    ['250ms', 250],
    ['3us', 0.003],
    ['3µs', 0.003],
    ['3μs', 0.003],
    ['1ns', 0.000001],
    ['-5s', -5_000],
    ['+5s', 5_000],
    ['1h1h', 7_200_000],
    ['1m2h', 7_260_000],
    ['2562047h47m16.854775807s', 9_223_372_036_854.775],
  ];
  for (const [text, ms] of readable) {
    it(`reads ${text} as ${ms} ms`, () => {
      expect(parseDuration(text)).to.equal(ms);
    });
  }

  const unreadable = [
    '',
    ' ',
    '5',
    '-',
    '+',
    '1d',
    '1h 30m',
    's',
    '.s',
    '1,5s',
    'None',
    '5S',
    '1e3s',
    '2562048h',
    '--5s',
  ];
  for (const text of unreadable) {
    it(`does not read ${JSON.stringify(text)}`, () => {
      expect(isDuration(text)).to.equal(false);
      expect(() => parseDuration(text)).to.throw(InvalidDuration, JSON.stringify(text));
    });
  }

  const printed: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [0.000001, '1ns'],
    [0.0015, '1.5µs'],
    [250, '250ms'],
    [1.25, '1.25ms'],
    [1_500, '1.5s'],
    [90_000, '1m30s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
    [86_400_000, '24h0m0s'],
    [90_061_001, '25h1m1.001s'],
    [-5_000, '-5s'],
  ];
  for (const [ms, text] of printed) {
    it(`prints ${ms} ms as Go does: ${text}`, () => {
      expect(formatGoDuration(ms)).to.equal(text);
    });
  }

  it('prints zero as none in objects', () => {
    expect(formatDuration(0)).to.equal('none');
    expect(formatDuration(1_000)).to.equal('1s');
  });

  it('reads what it prints', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).to.equal(ms);
      }),
    );
  });
});
