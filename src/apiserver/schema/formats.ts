/** The string formats for schemas of custom resources; unknown formats are not checked. */
import { messageOf } from '../../lib/message-of.ts';
import { table } from '../../lib/objects.ts';
import { RE2JS } from 're2js';

const patterns = new Map<string, RE2JS | string>();

/** The compiled pattern, or the error in it. */
function patternOf(pattern: string): RE2JS | string {
  let found = patterns.get(pattern);
  if (found === undefined) {
    try {
      found = RE2JS.compile(pattern);
    } catch (error) {
      found = messageOf(error);
    }
    patterns.set(pattern, found);
  }
  return found;
}

/** Whether `text` contains a match of `pattern` in RE2 syntax, as in Go; an invalid pattern matches nothing. */
export function matchesPattern(pattern: string, text: string): boolean {
  const compiled = patternOf(pattern);
  return typeof compiled !== 'string' && compiled.matcher(text).find();
}

/** The error in a pattern; undefined if it is valid. */
export function patternProblem(pattern: string): string | undefined {
  const compiled = patternOf(pattern);
  return typeof compiled === 'string' ? compiled : undefined;
}

const HEX4 = '[0-9a-f]{4}';
const uuid = (third: string, fourth: string): RegExp =>
  new RegExp(`^[0-9a-f]{8}-?${HEX4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i');

const isDate = (text: string): boolean => {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!found) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)([.,]\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

const isDateTime = (text: string): boolean => {
  const [date, time, rest] = text.split(/t/i);
  return rest === undefined && date !== undefined && time !== undefined && isDate(date) && TIME.test(time);
};

/** Go's `1h30m`, or Scala's `22 seconds`. */
const GO_DURATION = /^[+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;
const SCALA_DURATION =
  /^(\d+)\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/i;

const isIpv4 = (text: string): boolean => {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^\d{1,10}$/.test(part) && Number(part) <= 255);
};

function isIpv6(text: string): boolean {
  if (!text.includes(':')) return false;
  let body = text;
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  if (tail) {
    if (!isIpv4(tail[2] ?? '')) return false;
    body = `${tail[1] ?? ''}0:0`;
  }
  const halves = body.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}

const isCidr = (text: string): boolean => {
  const [address, bits, rest] = text.split('/');
  if (address === undefined || bits === undefined || rest !== undefined || !/^\d{1,3}$/.test(bits))
    return false;
  if (isIpv4(address)) return Number(bits) <= 32;
  return isIpv6(address) && Number(bits) <= 128;
};

const isUri = (text: string): boolean =>
  (text.startsWith('/') && !/[\u0000-\u0020\u007f]/.test(text)) ||
  (/^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text));

const isHostname = (text: string): boolean =>
  text.length <= 255 &&
  text.split('.').every((part) => part.length <= 63) &&
  (/^[a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$/u.test(text) ||
    /^([a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63}$/u.test(
      text,
    ));

const isIsbn10 = (text: string): boolean => {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce((acc, d, i) => acc + (i + 1) * (d === 'X' ? 10 : Number(d)), 0);
  return sum % 11 === 0;
};

const isIsbn13 = (text: string): boolean => {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = [...digits.slice(0, 12)].reduce((acc, d, i) => acc + (i % 2 === 0 ? 1 : 3) * Number(d), 0);
  return (10 - (sum % 10)) % 10 === Number(digits[12]);
};

const CARD =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

const isCreditCard = (text: string): boolean => {
  const digits = text.replace(/\D/g, '');
  if (!CARD.test(digits)) return false;
  const sum = [...digits].reverse().reduce((acc, d, i) => {
    const doubled = i % 2 === 1 ? Number(d) * 2 : Number(d);
    return acc + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
};

const RGB_PART = '\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*';
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const checks: Readonly<Record<string, (text: string) => boolean>> = table({
  bsonobjectid: (text) => /^[0-9a-f]{24}$/i.test(text),
  uri: isUri,
  email: (text) => /^([^<>]*<)?[^\s@<>,;"]+@[^\s@<>,;"]+>?$/.test(text),
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: isCidr,
  mac: (text) =>
    /^([0-9a-f]{2}([:-]))([0-9a-f]{2}\2){4}([0-9a-f]{2}\2){0,2}[0-9a-f]{2}$/i.test(text) ||
    /^([0-9a-f]{4}\.){2,3}[0-9a-f]{4}$/i.test(text),
  uuid: (text) => uuid(HEX4, HEX4).test(text),
  uuid3: (text) => uuid('3[0-9a-f]{3}', HEX4).test(text),
  uuid4: (text) => uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}').test(text),
  uuid5: (text) => uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}').test(text),
  isbn: (text) => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  hexcolor: (text) => /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text),
  rgbcolor: (text) => new RegExp(`^rgb\\(${RGB_PART},${RGB_PART},${RGB_PART}\\)$`).test(text),
  byte: (text) =>
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  password: () => true,
  date: isDate,
  duration: (text) => GO_DURATION.test(text) || SCALA_DURATION.test(text),
  datetime: isDateTime,
  k8sshortname: (text) => text.length <= 63 && SHORT_NAME.test(text),
  k8slongname: (text) => text.length <= 253 && text.split('.').every((part) => SHORT_NAME.test(part)),
});

/** The check of a format; undefined if the format is unknown. Dashes in its name are ignored. */
export const formatCheck = (format: string): ((text: string) => boolean) | undefined => {
  const name = format.replaceAll('-', '');
  return checks[name];
};
