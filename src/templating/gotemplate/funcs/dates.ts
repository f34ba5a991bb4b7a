/** Times with Go's layouts. The local zone is UTC, as in the controller's container. */
import type { Env, FunctionTable } from '../env.ts';
import { FunctionError } from '../errors.ts';
import { envFn, fn } from '../signature.ts';
import { GoInt, GoObject, type Value } from '../values.ts';
import { durationText, parseDuration } from './duration.ts';
import { formatTime, parseTime, type Instant } from './time-layout.ts';
import { clamped, shift, TIME, timeObject, ZERO } from './time.ts';

function now(env: Env): Instant {
  const wall = env.clock.wall();
  return { seconds: BigInt(Math.floor(wall / 1000)), nanos: (wall % 1000) * 1e6, zone: 'UTC' };
}

/** The argument of date functions: a time, or seconds since 1970; all other values mean now. */
function instantOf(env: Env, value: Value): Instant {
  if (value instanceof GoObject && value.type === TIME) return value.native as Instant;
  if (typeof value === 'bigint') return { seconds: value, nanos: 0, zone: 'UTC' };
  if (value instanceof GoInt && (value.type === 'int64' || value.type === 'int32')) {
    return { seconds: value.value, nanos: 0, zone: 'UTC' };
  }
  return now(env);
}

function inZone(env: Env, layout: string, value: Value, zone: string): string {
  env.charge(layout.length);
  return formatTime(layout, instantOf(env, value), zone === 'Local' || zone === '' ? 'UTC' : zone);
}

function modify(by: string, time: GoObject): GoObject {
  return timeObject(shift(time.native as Instant, parseDuration(by)));
}

const lenientModify = fn(`string ${TIME}`, (by: string, time: GoObject) => {
  try {
    return modify(by, time);
  } catch (error) {
    if (error instanceof FunctionError) return time;
    throw error;
  }
});

function roundDuration(env: Env, value: Value): string {
  let nanos = 0n;
  if (typeof value === 'string') {
    try {
      nanos = parseDuration(value);
    } catch {
      nanos = 0n;
    }
  } else if (value instanceof GoInt && value.type === 'int64') nanos = value.value;
  else if (value instanceof GoObject && value.type === TIME) nanos = since(env, value.native as Instant);
  const size = nanos < 0n ? -nanos : nanos;
  const hour = 3600n * 1_000_000_000n;
  const units: readonly [string, bigint][] = [
    ['y', hour * 24n * 365n],
    ['mo', hour * 24n * 30n],
    ['d', hour * 24n],
    ['h', hour],
    ['m', hour / 60n],
    ['s', hour / 3600n],
  ];
  const unit = units.find(([, length]) => size > length);
  return unit ? `${(size / unit[1]).toString()}${unit[0]}` : '0s';
}

function since(env: Env, instant: Instant): bigint {
  const current = now(env);
  return clamped(
    (current.seconds - instant.seconds) * 1_000_000_000n + BigInt(Math.round(current.nanos - instant.nanos)),
  );
}

function ago(env: Env, value: Value): string {
  const nanos = since(env, instantOf(env, value));
  const second = 1_000_000_000n;
  const half = nanos < 0n ? -second / 2n : second / 2n;
  return durationText(((nanos + half) / second) * second);
}

const duration = fn('any', (value: Value) => {
  let seconds = 0n;
  if (typeof value === 'string') seconds = /^[+-]?\d+$/.test(value) ? BigInt(value.replace(/^\+/, '')) : 0n;
  else if (value instanceof GoInt && value.type === 'int64') seconds = value.value;
  return durationText(BigInt.asIntN(64, seconds * 1_000_000_000n));
});

export const dateFunctions: FunctionTable = {
  now: envFn('', (env: Env) => timeObject(now(env))),
  date: envFn('string any', (env: Env, layout: string, value: Value) => inZone(env, layout, value, 'Local')),
  dateInZone: envFn('string any string', inZone),
  date_in_zone: envFn('string any string', inZone),
  htmlDate: envFn('any', (env: Env, value: Value) => inZone(env, '2006-01-02', value, 'Local')),
  htmlDateInZone: envFn('any string', (env: Env, value: Value, zone: string) =>
    inZone(env, '2006-01-02', value, zone),
  ),
  dateModify: lenientModify,
  date_modify: lenientModify,
  mustDateModify: fn(`string ${TIME}`, modify),
  must_date_modify: fn(`string ${TIME}`, modify),
  toDate: fn('string string', (layout: string, text: string) => {
    try {
      return timeObject(parseTime(layout, text));
    } catch {
      return timeObject(ZERO);
    }
  }),
  mustToDate: fn('string string', (layout: string, text: string) => timeObject(parseTime(layout, text))),
  unixEpoch: fn(TIME, (time: GoObject) => (time.native as Instant).seconds.toString()),
  ago: envFn('any', ago),
  duration,
  durationRound: envFn('any', roundDuration),
};
