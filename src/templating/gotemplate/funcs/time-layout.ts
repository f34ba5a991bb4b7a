/** Go's time layouts: `2006-01-02T15:04:05Z07:00` and its parts, for formatting and parsing. */
import { table } from '../../../lib/objects.ts';
import { FunctionError } from '../errors.ts';
import { quoteString } from '../../go/quote.ts';
import { abbreviation, offsetText, pad, zoneOffset } from './time-zone.ts';
import { trimmedEnd } from '../../../lib/trim.ts';

/** A moment, and its display zone: a zone name, or an offset such as `+02:00`. */
export interface Instant {
  readonly seconds: bigint;
  readonly nanos: number;
  readonly zone: string;
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** If one part is a prefix of another, the longer one comes first. */
const PARTS =
  /January|Jan|Monday|Mon|MST|2006|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|002|01|02|03|04|05|06|15|[.,]0+(?!\d)|[.,]9+(?!\d)|__2|_2|PM|pm|1|2|3|4|5/g;

interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number;
  readonly yearday: number;
  /** Seconds east of Greenwich. */
  readonly offset: number;
  readonly abbreviation: string;
}

function fieldsOf({ seconds }: Instant, zone: string): Fields {
  const ms = Number(seconds) * 1000;
  const known = zoneOffset(zone, ms);
  const offset = known ?? 0;
  const local = new Date(ms + offset * 1000);
  const start = Date.UTC(2000, 0, 1) + (yearStart(local.getUTCFullYear()) - yearStart(2000));
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    weekday: local.getUTCDay(),
    yearday: Math.floor((local.getTime() - start) / 86_400_000) + 1,
    offset,
    abbreviation: known === undefined ? 'UTC' : abbreviation(zone, ms, offset),
  };
}

/** `Date.UTC` interprets years below 100 as 19xx. */
function yearStart(year: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, 0, 1);
  return date.getTime();
}

function formatPart(part: string, f: Fields, nanos: number): string {
  const hour12 = f.hour % 12 === 0 ? 12 : f.hour % 12;
  if (/^[.,][09]+$/.test(part)) {
    const digits = pad(Math.floor(nanos), 9).slice(0, part.length - 1);
    if (part[1] === '0') return part.charAt(0) + digits;
    const trimmed = trimmedEnd(digits, '0');
    return trimmed === '' ? '' : part.charAt(0) + trimmed;
  }
  if (/^[Z-]07/.test(part)) {
    if (part.startsWith('Z') && f.offset === 0) return 'Z';
    const hasSeconds = /07:?00:?00$/.test(part) && part.length > 6;
    const separator = part.includes(':') ? ':' : '';
    return (
      offsetText(f.offset, separator, part.length === 3) +
      (hasSeconds ? separator + pad(Math.abs(f.offset) % 60, 2) : '')
    );
  }
  const values: Readonly<Record<string, () => string>> = {
    January: () => MONTHS[f.month - 1] as string,
    Jan: () => (MONTHS[f.month - 1] as string).slice(0, 3),
    Monday: () => DAYS[f.weekday] as string,
    Mon: () => (DAYS[f.weekday] as string).slice(0, 3),
    MST: () => (f.abbreviation === '' ? offsetText(f.offset, '', false) : f.abbreviation),
    '2006': () => pad(f.year, 4),
    '06': () => pad(f.year % 100, 2),
    '01': () => pad(f.month, 2),
    '1': () => String(f.month),
    '002': () => pad(f.yearday, 3),
    __2: () => pad(f.yearday, 3, ' '),
    '02': () => pad(f.day, 2),
    _2: () => pad(f.day, 2, ' '),
    '2': () => String(f.day),
    '15': () => pad(f.hour, 2),
    '03': () => pad(hour12, 2),
    '3': () => String(hour12),
    '04': () => pad(f.minute, 2),
    '4': () => String(f.minute),
    '05': () => pad(f.second, 2),
    '5': () => String(f.second),
    PM: () => (f.hour >= 12 ? 'PM' : 'AM'),
    pm: () => (f.hour >= 12 ? 'pm' : 'am'),
  };
  return values[part]?.() ?? part;
}

/** `Jan` is not a month in `January` or `Janitor`; a fraction is only valid after seconds. */
function isPart(layout: string, part: string, at: number): boolean {
  const next = layout[at + part.length] ?? '';
  if (part === 'Jan' || part === 'Mon') return !/[a-z]/.test(next);
  if (part === '_2') return !layout.startsWith('006', at + 2);
  if (/^[.,]/.test(part)) return true;
  return true;
}

/** @param zone a zone name or offset; an unknown one counts as UTC */
export function formatTime(layout: string, instant: Instant, zone: string): string {
  const fields = fieldsOf(instant, zone);
  return layout.replace(PARTS, (part, at: number) => {
    if (!isPart(layout, part, at)) return part === '_2' ? `_${formatPart('2', fields, 0)}` : part;
    return formatPart(part, fields, instant.nanos);
  });
}

/** The regular expression of a part, with the fields that it sets. */
function partPattern(part: string): string {
  if (/^[.,]0+$/.test(part)) return `[.,]\\d{${String(part.length - 1)}}`;
  if (/^[.,]9+$/.test(part)) return '(?:[.,]\\d+)?';
  if (part.startsWith('Z07'))
    return part.includes(':') ? 'Z|[+-]\\d\\d:\\d\\d' : part === 'Z07' ? 'Z|[+-]\\d\\d' : 'Z|[+-]\\d{4}';
  if (part.startsWith('-07'))
    return part.includes(':') ? '[+-]\\d\\d:\\d\\d' : part === '-07' ? '[+-]\\d\\d' : '[+-]\\d{4}';
  const patterns: Readonly<Record<string, string>> = {
    January: MONTHS.join('|'),
    Jan: MONTHS.map((m) => m.slice(0, 3)).join('|'),
    Monday: DAYS.join('|'),
    Mon: DAYS.map((d) => d.slice(0, 3)).join('|'),
    MST: '[A-Z]{3,5}|[+-]\\d{2,4}',
    '2006': '\\d{4}',
    '002': '\\d{3}',
    __2: '[ \\d]{2}\\d',
    _2: ' ?\\d{1,2}',
    PM: 'AM|PM',
    pm: 'am|pm',
    '15': '\\d{1,2}',
  };
  return patterns[part] ?? (part.length === 2 ? '\\d{2}' : '\\d{1,2}');
}

/** Longer times are refused, because patterns from layouts may need more than linear time. */
const MAX_LENGTH = 512;

/** @throws FunctionError like `time.Parse` */
export function parseTime(layout: string, text: string): Instant {
  if (layout.length + text.length > MAX_LENGTH) throw new FunctionError('parsing time: the text is too long');
  const parts: string[] = [];
  let pattern = '';
  let at = 0;
  const literal = (s: string): string => s.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  for (const match of layout.matchAll(PARTS)) {
    pattern += literal(layout.slice(at, match.index)) + `(${partPattern(match[0])})`;
    if (match[0] === '05' || match[0] === '5') {
      const rest = layout.slice(match.index + match[0].length);
      if (!/^[.,][09]/.test(rest)) {
        pattern += '([.,]\\d+)?';
        parts.push(match[0], '.9');
        at = match.index + match[0].length;
        continue;
      }
    }
    parts.push(match[0]);
    at = match.index + match[0].length;
  }
  const found = new RegExp(`^${pattern}${literal(layout.slice(at))}$`).exec(text);
  if (!found) {
    throw new FunctionError(
      `parsing time ${quoteString(text)} as ${quoteString(layout)}: cannot parse ${quoteString(text)} as ${quoteString(layout)}`,
    );
  }
  return instantOf(parts, found.slice(1), text);
}

interface Read {
  year: number;
  month: number;
  day: number;
  yearday: number;
  hour: number;
  minute: number;
  second: number;
  nanos: number;
  isPm: boolean | undefined;
  offset: number | undefined;
}

function readOffset(value: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)?/.exec(value) ?? [];
  const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60;
  return sign === '-' ? -size : size;
}

const readMonth = (into: Read, value: string): void => {
  into.month = MONTHS.findIndex((m) => m.startsWith(value)) + 1;
};
const numberInto =
  (field: 'year' | 'month' | 'day' | 'yearday' | 'hour' | 'minute' | 'second') =>
  (into: Read, value: string): void => {
    into[field] = Number(value);
  };
const readHalf = (into: Read, value: string): void => {
  into.isPm = value.toLowerCase() === 'pm';
};

const READERS: Readonly<Record<string, (into: Read, value: string) => void>> = table({
  January: readMonth,
  Jan: readMonth,
  '2006': numberInto('year'),
  '06': (into, value) => {
    into.year = Number(value) >= 69 ? 1900 + Number(value) : 2000 + Number(value);
  },
  '01': numberInto('month'),
  '1': numberInto('month'),
  '02': numberInto('day'),
  _2: numberInto('day'),
  '2': numberInto('day'),
  '002': numberInto('yearday'),
  __2: numberInto('yearday'),
  '15': numberInto('hour'),
  '03': numberInto('hour'),
  '3': numberInto('hour'),
  '04': numberInto('minute'),
  '4': numberInto('minute'),
  '05': numberInto('second'),
  '5': numberInto('second'),
  PM: readHalf,
  pm: readHalf,
});

function readPart(into: Read, part: string, value: string): void {
  if (/^[.,]/.test(part)) into.nanos = value === '' ? 0 : Number(value.slice(1, 10).padEnd(9, '0'));
  else if (/^[Z-]07/.test(part)) into.offset = readOffset(value);
  else READERS[part]?.(into, value);
}

function instantOf(parts: readonly string[], values: readonly (string | undefined)[], text: string): Instant {
  const read: Read = {
    year: 0,
    month: 1,
    day: 1,
    yearday: 0,
    hour: 0,
    minute: 0,
    second: 0,
    nanos: 0,
    isPm: undefined,
    offset: undefined,
  };
  parts.forEach((part, i) => {
    readPart(read, part, values[i] ?? '');
  });
  if (read.isPm !== undefined) read.hour = (read.hour % 12) + (read.isPm ? 12 : 0);
  const date = new Date(0);
  date.setUTCFullYear(
    read.year,
    read.yearday > 0 ? 0 : read.month - 1,
    read.yearday > 0 ? read.yearday : read.day,
  );
  const isReal =
    read.yearday > 0 || (date.getUTCMonth() === read.month - 1 && date.getUTCDate() === read.day);
  if (!isReal) throw new FunctionError(`parsing time ${quoteString(text)}: day out of range`);
  if (read.hour > 23) throw new FunctionError(`parsing time ${quoteString(text)}: hour out of range`);
  if (read.minute > 59) throw new FunctionError(`parsing time ${quoteString(text)}: minute out of range`);
  if (read.second > 59) throw new FunctionError(`parsing time ${quoteString(text)}: second out of range`);
  const offset = read.offset ?? 0;
  const seconds = date.getTime() / 1000 + read.hour * 3600 + read.minute * 60 + read.second - offset;
  return {
    seconds: BigInt(seconds),
    nanos: read.nanos,
    zone: offset === 0 ? 'UTC' : offsetText(offset, ':', false),
  };
}
