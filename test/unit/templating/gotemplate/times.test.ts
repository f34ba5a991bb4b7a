/** Methods of times and durations; the results are those of Go, see `make test-go-oracle`. */
import { expect } from 'chai';
import { failure, render } from './support.ts';

const TIME = '(toDate "2006-01-02T15:04:05.999999999Z07:00" "2024-02-28T23:30:05.123456789+02:00")';
const EARLIER = '(toDate "2006-01-02 15:04:05" "2024-02-27 20:00:00")';

const rows: readonly (readonly [call: string, result: string])[] = [
  ['.Year', '2024'],
  ['.Month', 'February'],
  ['.Day', '28'],
  ['.YearDay', '59'],
  ['.Weekday', 'Wednesday'],
  ['.Hour', '23'],
  ['.Minute', '30'],
  ['.Second', '5'],
  ['.Nanosecond', '123456789'],
  ['.Unix', '1709155805'],
  ['.UnixMilli', '1709155805123'],
  ['.UnixMicro', '1709155805123456'],
  ['.UnixNano', '1709155805123456789'],
  ['.IsZero', 'false'],
  ['.IsDST', 'false'],
  ['.UTC', '2024-02-28 21:30:05.123456789 +0000 UTC'],
  ['.String', '2024-02-28 23:30:05.123456789 +0200 +0200'],
  ['.Location', ''],
  ['.UTC.Location', 'UTC'],
  ['.UTC.Location.String', 'UTC'],
  ['.GoString', 'time.Date(2024, time.February, 28, 23, 30, 5, 123456789, time.Location(""))'],
  ['.UTC.GoString', 'time.Date(2024, time.February, 28, 21, 30, 5, 123456789, time.UTC)'],
  ['.In now.Location', '2024-02-28 21:30:05.123456789 +0000 UTC'],
  [`.UTC.In ${TIME}.Location`, '2024-02-28 23:30:05.123456789 +0200 +0200'],
  ['.Format "02 Jan 06 15:04 Z07:00"', '28 Feb 24 23:30 +02:00'],
  ['.Add 5400000000000', '2024-02-29 01:00:05.123456789 +0200 +0200'],
  ['.AddDate 1 -2 33', '2025-01-30 23:30:05.123456789 +0200 +0200'],
  [`.Sub ${EARLIER}`, '25h30m5.123456789s'],
  [`.Add (${TIME}.Sub ${EARLIER})`, '2024-03-01 01:00:10.246913578 +0200 +0200'],
  [`.After ${EARLIER}`, 'true'],
  [`.Before ${EARLIER}`, 'false'],
  [`.Equal ${TIME}`, 'true'],
  [`.Compare ${EARLIER}`, '1'],
  ['.Truncate 3600000000000', '2024-02-28 23:00:00 +0200 +0200'],
  ['.Round 3600000000000', '2024-02-29 00:00:00 +0200 +0200'],
  ['.Round 7', '2024-02-28 23:30:05.123456792 +0200 +0200'],
];

const durations: readonly (readonly [call: string, result: string])[] = [
  ['.Hours', '25.50142318244139'],
  ['.Minutes', '1530.0853909464834'],
  ['.Seconds', '91805.123456789'],
  ['.Milliseconds', '91805123'],
  ['.Microseconds', '91805123456'],
  ['.Nanoseconds', '91805123456789'],
  ['.String', '25h30m5.123456789s'],
  ['.Truncate 60000000000', '25h30m0s'],
  ['.Round 3600000000000', '26h0m0s'],
  ['.Abs', '25h30m5.123456789s'],
];

describe('a time in a template', () => {
  for (const [call, result] of rows) {
    it(`has the method ${call.split(' ')[0] ?? ''}: ${result}`, () => {
      expect(render(`{{ ${TIME}${call} }}`)).to.equal(result);
    });
  }

  for (const [call, result] of durations) {
    it(`has durations with the method ${call}: ${result}`, () => {
      expect(render(`{{ (${TIME}.Sub ${EARLIER})${call} }}`)).to.equal(result);
    });
  }

  it('has a month and a weekday that are numbers to calculations', () => {
    const text = `{{ with ${TIME} }}{{ printf "%d %02d" .Month .Weekday }} {{ int .Month }} {{ eq .Month 2 }} {{ kindOf .Month }} {{ toJson .Month }}{{ end }}`;
    expect(render(text)).to.equal('2 03 2 true int 2');
  });

  it('differs from another one by a duration that sprig does not convert', () => {
    expect(render(`{{ int64 (${TIME}.Sub ${EARLIER}) }} {{ kindOf (${TIME}.Sub ${EARLIER}) }}`)).to.equal(
      '0 int64',
    );
  });

  it('keeps fractions of seconds before 1970', () => {
    const early = '(toDate "2006-01-02 15:04:05.9" "1969-12-31 23:59:58.5")';
    expect(render(`{{ ${early}.Add 100000000 }}`)).to.equal('1969-12-31 23:59:58.6 +0000 UTC');
  });

  it('does not exceed the longest duration', () => {
    expect(render(`{{ ${TIME}.Sub (toDate "2006" "0001") }} {{ duration "9999999999999" }}`)).to.equal(
      '2562047h47m16.854775807s 517975h34m8.423024128s',
    );
  });

  it('refuses arguments of another type, and methods that Go does not have', () => {
    expect(failure(`{{ ${TIME}.Add "1h" }}`)).to.include('expected integer; found "1h"');
    expect(failure(`{{ ${TIME}.In "UTC" }}`)).to.include(
      'can\'t handle "UTC" for arg of type *time.Location',
    );
    expect(failure(`{{ ${TIME}.Fortnight }}`)).to.include("can't evaluate field Fortnight in type time.Time");
  });
});
