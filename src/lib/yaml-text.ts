/** What the YAML emitter needs to know about a string: the allowed styles, and its order among other keys. */

export const isBreak = (c: string): boolean =>
  c === '\n' || c === '\r' || c === '\u0085' || c === '\u2028' || c === '\u2029';
const isBlankOrEnd = (c: string | undefined): boolean =>
  c === undefined || c === ' ' || c === '\t' || isBreak(c);

/** Characters that the emitter prints unchanged; without emoji and tabs. */
export function isPrintable(c: string): boolean {
  const code = c.codePointAt(0) as number;
  if (code < 0x80) return code === 0x0a || (code >= 0x20 && code <= 0x7e);
  return code >= 0xa0 && code <= 0xfffd && code !== 0xfeff && (code < 0xd800 || code > 0xdfff);
}

/** The allowed styles of a string. */
interface TextAnalysis {
  readonly isMultiline: boolean;
  readonly plain: boolean;
  readonly single: boolean;
  readonly block: boolean;
}

const SIMPLE = /^[A-Za-z0-9_./$()+=~^\\;][A-Za-z0-9_./$()+=~^\\;-]*$/;
const ALL_FINE: TextAnalysis = { isMultiline: false, plain: true, single: true, block: true };

export function analyzeText(text: string): TextAnalysis {
  if (text === '' || (SIMPLE.test(text) && !text.startsWith('...'))) return ALL_FINE;
  const chars = Array.from(text);
  let indicators = text.startsWith('---') || text.startsWith('...');
  let hasBreaks = false;
  let isSpecial = false;
  let breakSpace = false;
  let spaceBreak = false;
  let previous: 'space' | 'break' | 'other' = 'other';
  chars.forEach((c, i) => {
    const isFollowed = isBlankOrEnd(chars[i + 1]);
    if (i === 0) {
      if ('#,[]{}&*!|>\'"%@`'.includes(c)) indicators = true;
      if ('?:-'.includes(c) && isFollowed) indicators = true;
    } else {
      if (c === ':' && isFollowed) indicators = true;
      if (c === '#' && isBlankOrEnd(chars[i - 1])) indicators = true;
    }
    if (!isPrintable(c)) isSpecial = true;
    if (c === ' ') {
      if (previous === 'break') breakSpace = true;
      previous = 'space';
    } else if (isBreak(c)) {
      hasBreaks = true;
      if (previous === 'space') spaceBreak = true;
      previous = 'break';
    } else previous = 'other';
  });
  const first = chars[0] as string;
  const last = chars.at(-1) as string;
  const isOdd = spaceBreak || isSpecial;
  const hasEdge = first === ' ' || last === ' ' || isBreak(first) || isBreak(last);
  return {
    isMultiline: hasBreaks,
    plain: !(isOdd || hasEdge || breakSpace || hasBreaks || indicators),
    single: !(isOdd || breakSpace),
    block: !(isOdd || last === ' '),
  };
}

/**
 * Go's order of keys: like strings, but runs of digits count as numbers (`a2` before `a10`), and other characters
 * come before letters.
 */
export function compareKeys(a: string, b: string): number {
  const x = Array.from(a);
  const y = Array.from(b);
  for (let i = 0; i < x.length && i < y.length; i++) {
    const xc = x[i] as string;
    const yc = y[i] as string;
    if (xc !== yc) return compareFrom(x, y, i);
  }
  return x.length - y.length;
}

function compareFrom(x: readonly string[], y: readonly string[], at: number): number {
  const xc = x[at] as string;
  const yc = y[at] as string;
  const byCode = (xc.codePointAt(0) as number) - (yc.codePointAt(0) as number);
  const isXLetter = /\p{L}/u.test(xc);
  const isYLetter = /\p{L}/u.test(yc);
  if (isXLetter && isYLetter) return byCode;
  if (isXLetter || isYLetter) return isYLetter ? -1 : 1;
  const start = xc === '0' || yc === '0' ? leadOf(x, at) : 0n;
  const [xn, xEnd] = numberAt(x, at, start);
  const [yn, yEnd] = numberAt(y, at, start);
  if (xn !== yn) return xn < yn ? -1 : 1;
  return xEnd === yEnd ? byCode : xEnd - yEnd;
}

/** 1 after a digit other than 0, because a zero is then significant. */
function leadOf(chars: readonly string[], at: number): bigint {
  for (let i = at - 1; i >= 0 && /\p{Nd}/u.test(chars[i] as string); i--) if (chars[i] !== '0') return 1n;
  return 0n;
}

function numberAt(chars: readonly string[], at: number, start: bigint): [bigint, number] {
  let value = start;
  let end = at;
  while (end < chars.length && /\p{Nd}/u.test(chars[end] as string)) {
    value = BigInt.asIntN(64, value * 10n + BigInt((chars[end] as string).codePointAt(0) as number) - 48n);
    end++;
  }
  return [value, end];
}
