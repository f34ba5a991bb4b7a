/** Cron with five fields, names, ranges, steps and the `@` keywords. Times are UTC unless prefixed with `CRON_TZ=…`. */
import { InvalidDuration, parseDuration } from './duration.ts';

export class InvalidCron extends Error {
  override readonly name = 'InvalidCron';
}

type Cron =
  | { readonly everyMs: number }
  | {
      readonly minutes: ReadonlySet<number>;
      readonly hours: ReadonlySet<number>;
      readonly days: ReadonlySet<number>;
      readonly months: ReadonlySet<number>;
      readonly weekdays: ReadonlySet<number>;
      /** Restricted days; if both day fields are restricted, either may match. */
      readonly isDayGiven: boolean;
      readonly isWeekdayGiven: boolean;
      /** Offset of the time zone from UTC at a time, in milliseconds. */
      readonly aheadMs: (at: number) => number;
    };

const WORDS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** @throws InvalidCron */
export function parseCron(text: string): Cron {
  const { zone, rest: trimmed } = splitZone(text.trim());
  const aheadMs = zone === undefined ? () => 0 : clockOf(zone);
  if (trimmed.startsWith('@every ')) return { everyMs: every(trimmed.slice('@every '.length)) };
  const fields = (WORDS.get(trimmed) ?? trimmed).split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || !minute || !hour || !day || !month || !weekday) {
    throw new InvalidCron(`expected exactly 5 fields, found ${String(fields.length)}: [${trimmed}]`);
  }
  return {
    minutes: range(minute, 0, 59),
    hours: range(hour, 0, 23),
    days: range(day, 1, 31),
    months: range(month, 1, 12, MONTHS, 1),
    weekdays: range(weekday, 0, 6, WEEKDAYS),
    isDayGiven: !/^[*?]/.test(day),
    isWeekdayGiven: !/^[*?]/.test(weekday),
    aheadMs,
  };
}

function splitZone(text: string): { readonly zone?: string; readonly rest: string } {
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S+)\s+(.*)$/s.exec(text) ?? [];
  return zone === undefined || rest === undefined ? { rest: text } : { zone, rest };
}

/** @throws InvalidCron for an unknown time zone */
function clockOf(zone: string): (at: number) => number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new InvalidCron(`provided bad location ${zone}`);
  }
  return steady((at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const field = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    const there = Date.UTC(
      ...([field('year'), field('month') - 1, field('day')] as const),
      ...([field('hour'), field('minute'), field('second')] as const),
    );
    return there - Math.floor(at / 1000) * 1000;
  });
}

/** No zone changes its offset twice within a week, so an offset that is the same at both ends of one holds between them. */
const STEADY_MS = 7 * 24 * 60 * 60_000;

/** The same offset with few calls: each takes microseconds, and a schedule may look at every day of five years. */
function steady(exact: (at: number) => number): (at: number) => number {
  let week = NaN;
  let offset: number | undefined;
  return (at) => {
    const now = Math.floor(at / STEADY_MS);
    if (now !== week) {
      week = now;
      const first = exact(now * STEADY_MS);
      offset = first === exact((now + 1) * STEADY_MS) ? first : undefined;
    }
    return offset ?? exact(at);
  };
}

/** Whether `parseCron` accepts the text. */
export function isCron(text: string): boolean {
  try {
    parseCron(text);
    return true;
  } catch (error) {
    if (error instanceof InvalidCron) return false;
    throw error;
  }
}

function every(text: string): number {
  try {
    const ms = parseDuration(text);
    if (ms >= 1000) return Math.floor(ms / 1000) * 1000;
  } catch (error) {
    if (!(error instanceof InvalidDuration)) throw error;
  }
  throw new InvalidCron(`failed to parse duration @every ${text}`);
}

function range(
  field: string,
  low: number,
  high: number,
  names: readonly string[] = [],
  base = 0,
): Set<number> {
  const result = new Set<number>();
  for (const part of field.split(',')) {
    const [span = '', stepText, more] = part.split('/');
    const step = stepText === undefined ? 1 : number(stepText, names, base);
    if (more !== undefined || step < 1)
      throw new InvalidCron(`step of range should be a positive number: ${part}`);
    const [from, to] = ends(span, stepText !== undefined, low, high, names, base);
    if (from < low)
      throw new InvalidCron(`beginning of range (${String(from)}) below minimum (${String(low)}): ${part}`);
    if (to > high)
      throw new InvalidCron(`end of range (${String(to)}) above maximum (${String(high)}): ${part}`);
    if (from > to)
      throw new InvalidCron(
        `beginning of range (${String(from)}) beyond end of range (${String(to)}): ${part}`,
      );
    for (let value = from; value <= to; value += step) result.add(value);
  }
  return result;
}

function ends(
  span: string,
  hasStep: boolean,
  low: number,
  high: number,
  names: readonly string[],
  base: number,
): [number, number] {
  if (span === '*' || span === '?') return [low, high];
  const [from = '', to, more] = span.split('-');
  if (more !== undefined) throw new InvalidCron(`too many hyphens: ${span}`);
  const first = number(from, names, base);
  if (to !== undefined) return [first, number(to, names, base)];
  return [first, hasStep ? high : first];
}

function number(text: string, names: readonly string[], base: number): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + base;
  if (!/^\d+$/.test(text)) throw new InvalidCron(`failed to parse int from ${text}`);
  return Number(text);
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Five years: a date without an occurrence until then (30 February) never occurs. */
const HORIZON = 5 * 366 * DAY;

/** The first time of the schedule after `from`, in milliseconds since 1970; undefined if there is none. */
export function nextTime(cron: Cron, from: number): number | undefined {
  if ('everyMs' in cron) return from + cron.everyMs;
  let at = Math.floor(from / MINUTE) * MINUTE + MINUTE;
  const end = from + HORIZON;
  while (at <= end) {
    const local = at + cron.aheadMs(at);
    const date = new Date(local);
    if (!cron.months.has(date.getUTCMonth() + 1)) at += until(nextMonth(date), local);
    else if (!isDay(cron, date)) at += until(local - (local % DAY) + DAY, local);
    else if (!cron.hours.has(date.getUTCHours())) at += HOUR - (local % HOUR);
    else if (!cron.minutes.has(date.getUTCMinutes())) at += MINUTE;
    else return at;
  }
  return undefined;
}

const nextMonth = (date: Date): number => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);

/** Nearly to a later local time, then hour by hour, because of changes to daylight saving time. */
function until(next: number, local: number): number {
  const left = next - local;
  return left > LEEWAY + HOUR ? left - LEEWAY : HOUR - (local % HOUR);
}
const LEEWAY = 3 * HOUR;

function isDay(cron: Exclude<Cron, { readonly everyMs: number }>, date: Date): boolean {
  const day = cron.days.has(date.getUTCDate());
  const weekday = cron.weekdays.has(date.getUTCDay());
  return cron.isDayGiven && cron.isWeekdayGiven ? day || weekday : day && weekday;
}
