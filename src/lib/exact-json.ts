/**
 * JSON whose integers keep all their digits. JSON.parse silently rounds integers that a double cannot represent; here
 * those that would be written with other digits are bigint. Everything else is parsed as usual at the same speed: only texts with a long run of digits are
 * scanned.
 */

/** A shorter run of digits fits into a double. */
const LONG = 16;

/** @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  if (!hasLongRun(text)) return JSON.parse(text);
  const marked = withMarks(text);
  if (marked === undefined) return JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/**
 * A value as JSON text, with bigint as integers.
 * @param indent spaces for each level; default: all in one line
 * @throws TypeError for cycles
 */
export function exactJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const marking = (_: string, field: unknown): unknown =>
      typeof field === 'bigint' ? `${MARK}${field.toString()}` : field;
    const marked = JSON.stringify(value, marking, indent);
    return marked.replaceAll(MARKED, '$1');
  }
}

/** A random prefix for each process, so that no string of an object starts with it. */
const MARK = `integer-${globalThis.crypto.randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(-?[0-9]+)"`, 'g');

/**
 * Whether the text has so many consecutive digits. One of them is at a multiple of `LONG`, so only these positions
 * are checked.
 */
function hasLongRun(text: string): boolean {
  for (let at = 0; at < text.length; at += LONG) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let first = at;
    while (isDigit(text.charCodeAt(first - 1))) first--;
    let end = at + 1;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end - first >= LONG) return true;
  }
  return false;
}

/** The text with marked strings instead of integers that would be rounded; undefined if there are none. */
function withMarks(text: string): string | undefined {
  let result = '';
  let copied = 0;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = afterString(text, at);
    else if (code === MINUS || isDigit(code)) {
      const end = afterNumber(text, at);
      const number = text.slice(at, end);
      if (wouldBeRounded(number)) {
        result += `${text.slice(copied, at)}"${MARK}${number}"`;
        copied = end;
      }
      at = end;
    } else at++;
  }
  return copied === 0 ? undefined : result + text.slice(copied);
}

const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function afterString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

const NUMBER = /-?[0-9.eE+-]+/y;

function afterNumber(text: string, start: number): number {
  NUMBER.lastIndex = start;
  return NUMBER.test(text) ? NUMBER.lastIndex : start + 1;
}

/** More than a double can represent, so no Kubernetes server stores it; parsing a million digits takes a second. */
const MAX_DIGITS = 300;

/** Fractions and numbers with exponents were doubles before. @throws SyntaxError */
function wouldBeRounded(number: string): boolean {
  if (!/^-?[0-9]{16,}$/.test(number)) return false;
  if (number.length > MAX_DIGITS)
    throw new SyntaxError(
      `an integer has ${String(number.length)} digits, more than ${String(MAX_DIGITS)}, a fixed limit`,
    );
  return !survivesDouble(number);
}

/** Whether the digits of an integer stay the same when it is read into a double and written again. */
export const survivesDouble = (digits: string): boolean => String(Number(digits)) === digits;

/** Path and digits of the first integer that does not fit into a double. */
export interface InexactInteger {
  /** Path such as `spec.ports[0]`; empty for the value itself. */
  readonly path: string;
  readonly digits: string;
}

/** @param isRounded paths whose integers may be rounded */
export function inexactIn(
  value: unknown,
  path = '',
  isRounded: (path: string) => boolean = () => false,
): InexactInteger | undefined {
  if (typeof value === 'bigint') return isRounded(path) ? undefined : { path, digits: value.toString() };
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = Object.entries(value).map(([key, field]) => [stepTo(path, key, value), field] as const);
  for (const [at, field] of fields) {
    const found = inexactIn(field, at, isRounded);
    if (found) return found;
  }
  return undefined;
}

function stepTo(path: string, key: string, parent: object): string {
  if (Array.isArray(parent)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** The message for the author of the value. @param digits omitted for secrets */
export const refusedInteger = (where: string, digits?: string): string =>
  `${where} is ${digits === undefined ? 'an integer' : `the integer ${digits}`} beyond 2^53, which cannot be passed on without losing digits; write it as a string, in quotes`;
