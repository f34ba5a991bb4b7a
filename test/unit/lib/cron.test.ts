import { expect } from 'chai';
import { InvalidCron, isCron, nextTime, parseCron } from '../../../src/lib/cron.ts';

/** Spec, a time, and the next time after it. */
const TIMES: readonly (readonly [string, string, string | undefined])[] = [
  ['*/15 * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:15:00Z'],
  ['0 5 * * *', '2026-01-01T05:00:00Z', '2026-01-02T05:00:00Z'],
  ['30 2 1 jan-mar *', '2026-03-15T00:00:00Z', '2027-01-01T02:30:00Z'],
  ['0 0 13 * fri', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 0 30 2 *', '2026-01-01T00:00:00Z', undefined],
  ['@daily', '2026-01-01T12:00:00Z', '2026-01-02T00:00:00Z'],
  ['@every 90s', '2026-01-01T00:00:00Z', '2026-01-01T00:01:30Z'],
  ['CRON_TZ=Asia/Tokyo 0 5 * * *', '2026-01-01T00:00:00Z', '2026-01-01T20:00:00Z'],
  ['TZ=America/New_York 0 0 * * mon', '2026-01-01T00:00:00Z', '2026-01-05T05:00:00Z'],
  ['CRON_TZ=Europe/Berlin 30 2 * * *', '2026-03-28T12:00:00Z', '2026-03-30T00:30:00Z'],
  ['CRON_TZ=Europe/Berlin 0 12 * * *', '2026-03-28T12:00:00Z', '2026-03-29T10:00:00Z'],
  ['CRON_TZ=Europe/Berlin 0 0 * * *', '2026-10-25T00:00:00Z', '2026-10-25T23:00:00Z'],
];

describe('cron', () => {
  for (const [spec, from, next] of TIMES)
    it(`"${spec}" is due ${next === undefined ? 'never' : `at ${next}`} after ${from}`, () => {
      const at = nextTime(parseCron(spec), Date.parse(from));
      expect(at === undefined ? undefined : new Date(at).toISOString()).to.equal(next?.replace('Z', '.000Z'));
    });

  const invalid = [
    '',
    '* * * *',
    '60 * * * *',
    '*/0 * * * *',
    'TZ=Nowhere/Else * * * * *',
    '@often',
    'constructor',
  ];
  for (const spec of invalid)
    it(`rejects "${spec}"`, () => {
      expect(isCron(spec)).to.equal(false);
      expect(() => parseCron(spec)).to.throw(InvalidCron);
    });

  it('looks at the clock of a time zone about once a week, also for a time that never comes', () => {
    const { formatToParts } = Intl.DateTimeFormat.prototype;
    let calls = 0;
    Intl.DateTimeFormat.prototype.formatToParts = function (...args) {
      calls++;
      return formatToParts.apply(this, args);
    };
    try {
      const never = parseCron('CRON_TZ=America/New_York 0 0 30 2 *');
      expect(nextTime(never, Date.parse('2026-01-01T00:00:00Z'))).to.equal(undefined);
    } finally {
      Intl.DateTimeFormat.prototype.formatToParts = formatToParts;
    }
    expect(calls).to.be.below(5 * 53 * 2 + 5 * 2 * 7 * 24);
    expect(calls).to.be.above(0);
  });
});
