/** What a comparison with another commit says about the figures of several rounds. */
import { expect } from 'chai';
import type { Figures } from '../../bench/compare/measure.ts';
import { differenceOf, median, rowsOf, table, type Round } from '../../bench/compare/table.ts';

const SECTION = '200 mock trees, installed';
const figures = (values: Readonly<Record<string, number>>): Figures =>
  new Map(
    Object.entries(values).map(([what, value]) => [
      `${SECTION}: ${what}`,
      { section: SECTION, what, unit: 'ms/tree', value },
    ]),
  );
const rounds = (...pairs: readonly (readonly [number, number])[]): Round[] =>
  pairs.map(([base, now]) => ({ base: figures({ cost: base }), now: figures({ cost: now }) }));
const differenceIn = (...pairs: readonly (readonly [number, number])[]): string =>
  rowsOf(rounds(...pairs))
    .map(differenceOf)
    .join();

describe('the comparison with another commit', () => {
  it('has medians of both sides, and ratios of each round', () => {
    // The machine became slower from round to round, for both.
    const [row] = rowsOf(rounds([10, 12], [20, 25], [40, 44]));
    expect(row).to.deep.include({ base: 20, now: 25 });
    expect(row?.ratio).to.deep.equal({ median: 1.2, least: 1.1, most: 1.25 });
  });

  it('takes the middle of an even number of values', () => {
    expect(median([4, 1, 3, 2])).to.equal(2.5);
    expect(median([3])).to.equal(3);
  });

  for (const [what, pairs, difference] of [
    [
      'more if it is more in each round',
      [
        [10, 11],
        [10, 13],
      ],
      'more',
    ],
    [
      'less if it is less in each round',
      [
        [10, 9],
        [10, 8],
      ],
      'less',
    ],
    [
      'equal within 2 %',
      [
        [100, 101],
        [100, 99],
      ],
      'equal',
    ],
    [
      'not clear if the rounds disagree',
      [
        [10, 9],
        [10, 12],
      ],
      'not clear',
    ],
    ['new if the base has none', [[0, 1]], 'new'],
  ] as const) {
    it(`calls a figure ${what}`, () => {
      expect(differenceIn(...pairs)).to.equal(difference);
    });
  }

  it('shows both figures, the ratio and its spread', () => {
    const text = table(rounds([10, 12], [20, 25], [40, 44]), '12345678').join('\n');
    expect(text).to.match(/base 12345678 +now +ratio/);
    expect(text).to.include(SECTION);
    expect(text).to.match(/cost +20 ms\/tree +25 ms\/tree +1\.20 +1\.10 to 1\.25 {2}more/);
  });

  it('leaves out kinds of writes that are equal, and shows those that only one side has', () => {
    const base = figures({ '- create executions': 1, '- delete events': 1 });
    const now = figures({ '- create executions': 1, '- patch events': 1 });
    const text = table([{ base, now }], '12345678').join('\n');
    expect(text).not.to.include('create executions');
    expect(text).to.match(/- delete events .* 0\.00 +less/);
    expect(text).to.match(/- patch events .* - +new/);
  });
});
