/**
 * A Go time with the methods that a template can call: those with one result, or with a result and an error. The zone is a
 * name or an offset; the local one is UTC.
 */
import { fn } from '../signature.ts';
import { GoInt, GoObject, int64, type GoFunction, type Value } from '../values.ts';
import { durationText } from './duration.ts';
import { formatTime, type Instant } from './time-layout.ts';

export const TIME = 'time.Time';
const DURATION = 'time.Duration';
const LOCATION = '*time.Location';

/** 1 January of year 1. */
export const ZERO: Instant = { seconds: -62135596800n, nanos: 0, zone: 'UTC' };

const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;

export function timeObject(instant: Instant): GoObject {
  const text = (): string => formatTime('2006-01-02 15:04:05.999999999 -0700 MST', instant, instant.zone);
  const json = (): string => formatTime('2006-01-02T15:04:05.999999999Z07:00', instant, instant.zone);
  return new GoObject({
    type: TIME,
    native: instant,
    text,
    json,
    methods: { ...partsOf(instant), ...arithmeticOf(instant), ...marshalled(json), String: fn('', text) },
  });
}

function partsOf(instant: Instant): Readonly<Record<string, GoFunction>> {
  const { seconds, nanos, zone } = instant;
  const part = (layout: string): bigint => BigInt(formatTime(layout, instant, zone));
  const dayOfWeek = (): bigint => BigInt(new Date(utcMs(instant)).getUTCDay());
  const numbered = (type: string, layout: string, value: () => bigint): GoFunction =>
    fn('', () => integer(type, value(), formatTime(layout, instant, zone)));
  return {
    Format: fn('string', (layout: string) => formatTime(layout, instant, zone)),
    Year: fn('', () => part('2006')),
    Month: numbered('time.Month', 'January', () => part('1')),
    Day: fn('', () => part('2')),
    YearDay: fn('', () => part('002')),
    Weekday: numbered('time.Weekday', 'Monday', dayOfWeek),
    Hour: fn('', () => part('15')),
    Minute: fn('', () => part('4')),
    Second: fn('', () => part('5')),
    Nanosecond: fn('', () => BigInt(Math.round(nanos))),
    Unix: fn('', () => int64(seconds)),
    UnixMilli: fn('', () => int64(divided(nanosOf(instant), 1_000_000n))),
    UnixMicro: fn('', () => int64(divided(nanosOf(instant), 1000n))),
    UnixNano: fn('', () => int64(nanosOf(instant))),
    IsZero: fn('', () => seconds === ZERO.seconds && nanos === 0),
    // Templates cannot choose a zone that has daylight saving time.
    IsDST: fn('', () => false),
    UTC: fn('', () => timeObject({ ...instant, zone: 'UTC' })),
    Local: fn('', () => timeObject({ ...instant, zone: 'UTC' })),
    In: fn(LOCATION, (location: GoObject) => timeObject({ ...instant, zone: location.native as string })),
    Location: fn('', () => locationObject(zone)),
    GoString: fn('', () => goText(instant)),
  };
}

/** A zone that is only an offset has no name in Go. */
const nameOfZone = (zone: string): string => (/^[+-]/.test(zone) ? '' : zone);

function locationObject(zone: string): GoObject {
  const text = (): string => nameOfZone(zone);
  return new GoObject({
    type: LOCATION,
    native: zone,
    text,
    json: () => '{}',
    methods: { String: fn('', text) },
  });
}

/** The time as a Go expression. */
function goText(instant: Instant): string {
  const { nanos, zone } = instant;
  const [year, month, ...rest] = formatTime('2006 January 2 15 4 5', instant, zone).split(' ');
  const location = zone === 'UTC' ? 'time.UTC' : `time.Location("${nameOfZone(zone)}")`;
  return `time.Date(${year}, time.${month}, ${[...rest, String(nanos)].join(', ')}, ${location})`;
}

const instantIn = (time: GoObject): Instant => time.native as Instant;

function arithmeticOf(instant: Instant): Readonly<Record<string, GoFunction>> {
  const since = nanosOf(instant);
  const comparedTo = (other: GoObject): number => order(since, nanosOf(instantIn(other)));
  const sinceZero = since - nanosOf(ZERO);
  const to = (change: bigint): GoObject => timeObject(shift(instant, change));
  return {
    Add: fn(DURATION, (by: Value) => to(nanosIn(by))),
    AddDate: fn('int int int', (years: number, months: number, days: number) =>
      timeObject(addDate(instant, years, months, days)),
    ),
    Sub: fn(TIME, (other: GoObject) => durationValue(clamped(since - nanosOf(instantIn(other))))),
    After: fn(TIME, (other: GoObject) => comparedTo(other) > 0),
    Before: fn(TIME, (other: GoObject) => comparedTo(other) < 0),
    Equal: fn(TIME, (other: GoObject) => comparedTo(other) === 0),
    Compare: fn(TIME, (other: GoObject) => BigInt(comparedTo(other))),
    Truncate: fn(DURATION, (by: Value) => to(truncated(sinceZero, nanosIn(by)) - sinceZero)),
    Round: fn(DURATION, (by: Value) => to(rounded(sinceZero, nanosIn(by)) - sinceZero)),
  };
}

const marshalled = (json: () => string): Readonly<Record<string, GoFunction>> => ({
  MarshalJSON: fn('', () => Buffer.from(`"${json()}"`)),
  MarshalText: fn('', () => Buffer.from(json())),
});

// ---------------------------------------------------------------- durations

/** A `time.Duration`. */
function durationValue(nanos: bigint): GoInt {
  const count = (unit: bigint): GoFunction => fn('', () => int64(nanos / unit));
  const share = (unit: bigint): GoFunction =>
    fn('', () => Number(nanos / unit) + Number(nanos % unit) / Number(unit));
  return integer(DURATION, nanos, durationText(nanos), {
    Hours: share(HOUR),
    Minutes: share(MINUTE),
    Seconds: share(SECOND),
    Milliseconds: count(1_000_000n),
    Microseconds: count(1000n),
    Nanoseconds: fn('', () => int64(nanos)),
    Abs: fn('', () => durationValue(clamped(nanos < 0n ? -nanos : nanos))),
    Truncate: fn(DURATION, (by: Value) => {
      const unit = nanosIn(by);
      return durationValue(unit <= 0n ? nanos : nanos - (nanos % unit));
    }),
    Round: fn(DURATION, (by: Value) => {
      const size = rounded(nanos < 0n ? -nanos : nanos, nanosIn(by));
      return durationValue(clamped(nanos < 0n ? -size : size));
    }),
  });
}

/** A value of a named integer type; its methods may name the type itself. */
const integer = (
  type: string,
  value: bigint,
  text: string,
  methods: Readonly<Record<string, GoFunction>> = {},
): GoInt =>
  new GoInt(type, value, {
    text,
    methods: new Map(Object.entries({ ...methods, String: fn('', () => text) })),
  });

/** A duration as an argument: a value, or a literal. */
const nanosIn = (value: Value): bigint => (value instanceof GoInt ? value.value : (value as bigint));

const MAX_INT64 = 2n ** 63n - 1n;
/** As a duration, the longest one if it is too long. */
export const clamped = (nanos: bigint): bigint =>
  nanos > MAX_INT64 ? MAX_INT64 : nanos < -MAX_INT64 - 1n ? -MAX_INT64 - 1n : nanos;

// ---------------------------------------------------------------- calculations

const nanosOf = ({ seconds, nanos }: Instant): bigint => seconds * SECOND + BigInt(Math.round(nanos));

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Rounds towards negative infinity. */
const divided = (value: bigint, by: bigint): bigint => value / by - (value % by < 0n ? 1n : 0n);

const truncated = (value: bigint, unit: bigint): bigint => (unit <= 0n ? value : divided(value, unit) * unit);

/** Halves are rounded up. */
const rounded = (value: bigint, unit: bigint): bigint =>
  unit <= 0n ? value : divided(2n * value + unit, 2n * unit) * unit;

export function shift(instant: Instant, change: bigint): Instant {
  const total = nanosOf(instant) + change;
  const seconds = divided(total, SECOND);
  return { ...instant, seconds, nanos: Number(total - seconds * SECOND) };
}

/** The time as it is on the clock of its zone, as if that were UTC, in milliseconds. */
const utcMs = (instant: Instant): number =>
  Date.parse(`${formatTime('2006-01-02T15:04:05', instant, instant.zone)}Z`);

/** Days that a month does not have belong to the next one. */
function addDate(instant: Instant, years: number, months: number, days: number): Instant {
  const before = utcMs(instant);
  const date = new Date(before);
  date.setUTCFullYear(date.getUTCFullYear() + years, date.getUTCMonth() + months, date.getUTCDate() + days);
  const change = date.getTime() - before;
  return Number.isNaN(change) ? instant : { ...instant, seconds: instant.seconds + BigInt(change / 1000) };
}
