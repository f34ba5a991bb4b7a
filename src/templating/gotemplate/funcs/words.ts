/** Functions for words and letters: case styles, wrapping, abbreviations. */
import type { FunctionTable } from '../env.ts';
import { byteLength, bytesOf, byteSlice, stringOf } from '../../go/go-string.ts';
import { isSpace } from '../../go/spaces.ts';
import { fn } from '../signature.ts';

const isUpper = (c: string): boolean => /\p{Lu}/u.test(c);
const isConnector = (c: string): boolean => c === '-' || c === '_' || isSpace(c);

/** Converts one character to one character, like Go's `unicode.ToUpper`: `ß` stays. */
const upperRune = (c: string): string => {
  const up = c.toUpperCase();
  return Array.from(up).length === 1 ? up : c;
};
const lowerRune = (c: string): string => {
  const low = c.toLowerCase();
  return Array.from(low).length === 1 ? low : c;
};

const toUpper = (s: string): string => Array.from(s, upperRune).join('');
const toLower = (s: string): string => Array.from(s, lowerRune).join('');

/** Upper case at the start of every word; a word ends at a character that is not a letter, digit, `_` or quote. */
function title(s: string): string {
  let previous = ' ';
  let out = '';
  for (const c of s) {
    const isStart =
      !/[\p{L}\p{N}_]/u.test(previous) && (previous.codePointAt(0) as number) < 0x80
        ? previous !== '_'
        : isSpace(previous);
    out += isStart ? upperRune(c) : c;
    previous = c;
  }
  return out;
}

function untitle(s: string): string {
  let isStart = true;
  return Array.from(s, (c) => {
    if (isSpace(c)) {
      isStart = true;
      return c;
    }
    const out = isStart ? lowerRune(c) : c;
    isStart = false;
    return out;
  }).join('');
}

function swapCase(s: string): string {
  return Array.from(s, (c) => {
    if (/\p{Lu}|\p{Lt}/u.test(c)) return lowerRune(c);
    return /\p{Ll}/u.test(c) ? upperRune(c) : c;
  }).join('');
}

/** Each byte of a string as a character, which is how upstream's library iterates over strings. */
const bytesAsRunes = (s: string): string => bytesOf(s).toString('latin1');

function initials(s: string): string {
  let isStart = true;
  return Array.from(bytesAsRunes(s), (c) => {
    const isInitial = isStart && !isSpace(c);
    isStart = isSpace(c);
    return isInitial ? c : '';
  }).join('');
}

function deleteSpace(s: string): string {
  const bytes = Array.from(bytesAsRunes(s));
  const kept = bytes.filter((c) => !isSpace(c));
  return kept.length === bytes.length ? s : kept.join('');
}

/**
 * `some_words` to `SomeWords`; leading and repeated connectors stay. In a string of only connectors, the last one
 * is doubled.
 */
function pascalCase(s: string): string {
  const runes = Array.from(s);
  let out = '';
  let i = 0;
  while (i < runes.length && isConnector(runes[i] as string)) out += runes[i++] as string;
  if (i === runes.length) return out + (runes.at(-1) ?? '');
  let isInUpper = isUpper(runes[i] as string);
  let current = upperRune(runes[i++] as string);
  for (; i < runes.length; i++) {
    const previous = current;
    current = runes[i] as string;
    if (isConnector(current) && isConnector(previous)) {
      out += previous;
      continue;
    }
    if (isConnector(previous)) {
      isInUpper = isUpper(current);
      current = upperRune(current);
      continue;
    }
    if (isInUpper) {
      if (isUpper(current)) current = lowerRune(current);
      else isInUpper = false;
    }
    out += previous;
  }
  return out + current;
}

type WordKind = 'number' | 'letters' | 'capitals' | 'connector' | 'punctuation' | 'other' | 'none';

/** Splits off the next word: a run of one kind, where a capital starts a new word. */
function nextWord(s: string): { kind: WordKind; word: string; rest: string } {
  const patterns: readonly [WordKind, RegExp][] = [
    ['connector', /^[-_\s]+/u],
    ['punctuation', /^(?![-_])\p{P}+/u],
    ['capitals', /^\p{Lu}+(?=\p{Lu}(?:(?!\p{Lu})\p{L}))|^\p{Lu}(?:(?!\p{Lu})\p{L})+|^\p{Lu}+/u],
    ['letters', /^(?:(?!\p{Lu})\p{L})+/u],
    ['number', /^\p{N}+/u],
    ['other', /^[^-_\s\p{L}\p{N}\p{P}]+/u],
  ];
  for (const [kind, pattern] of patterns) {
    const word = pattern.exec(s)?.[0];
    if (word !== undefined && word !== '') return { kind, word, rest: s.slice(word.length) };
  }
  return { kind: 'none', word: s, rest: '' };
}

const isWord = (kind: WordKind): boolean => kind === 'letters' || kind === 'number';
const isEnd = (kind: WordKind): boolean => kind === 'none' || kind === 'connector' || kind === 'punctuation';

/** `HTTPServer` to `http_server`, `http2xx` to `http_2xx`. */
function joinWords(s: string, connector: string): string {
  if (s === '') return '';
  let out = '';
  const put = (kind: WordKind, word: string): void => {
    if (kind === 'connector') out += connector.repeat(Array.from(word).length);
    else out += kind === 'capitals' ? toLower(word) : word;
  };
  let at = nextWord(s);
  while (at.rest !== '') {
    if (at.kind !== 'connector') put(at.kind, at.word);
    const previous = at;
    at = nextWord(at.rest);
    if (previous.kind === 'connector') put('connector', previous.word);
    else if (previous.kind === 'number') {
      while (isWord(at.kind)) {
        put(at.kind, at.word);
        at = nextWord(at.rest);
      }
      if (!isEnd(at.kind)) out += connector;
    } else if (previous.kind !== 'punctuation') {
      if (at.kind !== 'number') {
        if (at.kind !== 'connector' && at.kind !== 'punctuation') out += connector;
      } else if (at.rest !== '') at = afterNumber(at);
    }
  }
  put(at.kind, at.word);
  return out;

  /** A number belongs to the word before it, unless lower case letters follow. */
  function afterNumber(number: ReturnType<typeof nextWord>): ReturnType<typeof nextWord> {
    let next = nextWord(number.rest);
    if (next.kind !== 'letters') {
      put('number', number.word);
      if (next.kind !== 'connector' && next.kind !== 'punctuation') out += connector;
      return next;
    }
    out += connector;
    put('number', number.word);
    while (isWord(next.kind)) {
      put(next.kind, next.word);
      next = nextWord(next.rest);
    }
    if (!isEnd(next.kind)) out += connector;
    return next;
  }
}

function abbreviate(s: string, left: number, right: number): string {
  if (right < 4 || (left > 0 && right < 7) || s === '' || byteLength(s) <= right) return s;
  const length = byteLength(s);
  let offset = Math.min(left, length);
  if (length - offset < right - 3) offset = length - (right - 3);
  if (offset <= 4) return `${byteSlice(s, 0, right - 3)}...`;
  if (offset + right - 3 < length) {
    const tail = byteSlice(s, offset);
    return `...${byteLength(tail) <= right - 3 ? tail : `${byteSlice(tail, 0, right - 6)}...`}`;
  }
  return `...${byteSlice(s, length - (right - 3))}`;
}

/** Breaks into lines of at most `width` bytes at blanks; long words are only broken if `isHard`. */
function wrap(text: string, width: number, separator: string, isHard: boolean): string {
  const limit = Math.max(width, 1);
  const s = bytesAsRunes(text);
  const parts: string[] = [];
  let offset = 0;
  while (s.length - offset > limit) {
    if (s[offset] === ' ') {
      offset++;
      continue;
    }
    let end = s.lastIndexOf(' ', offset + limit);
    let next = end + 1;
    if (end < offset) {
      end = isHard ? offset + limit : s.indexOf(' ', offset + limit);
      if (end < 0) end = s.length;
      next = isHard ? end : end + 1;
    }
    parts.push(s.slice(offset, end));
    offset = next;
    if (end === s.length) break;
  }
  if (offset <= s.length) parts.push(s.slice(offset));
  return parts.map((part) => stringOf(Buffer.from(part, 'latin1'))).join(separator);
}

export const wordFunctions: FunctionTable = {
  upper: fn('string', toUpper),
  lower: fn('string', toLower),
  title: fn('string', title),
  untitle: fn('string', untitle),
  swapcase: fn('string', swapCase),
  initials: fn('string', initials),
  camelcase: fn('string', pascalCase),
  snakecase: fn('string', (s: string) => joinWords(s, '_')),
  kebabcase: fn('string', (s: string) => joinWords(s, '-')),
  nospace: fn('string', deleteSpace),
  abbrev: fn('int string', (width: number, s: string) => abbreviate(s, 0, width)),
  abbrevboth: fn('int int string', (left: number, right: number, s: string) => abbreviate(s, left, right)),
  wrap: fn('int string', (width: number, s: string) => wrap(s, width, '\n', false)),
  wrapWith: fn('int string string', (width: number, sep: string, s: string) =>
    wrap(s, width, sep || '\n', true),
  ),
  plural: fn('string string int', (one: string, many: string, count: number) => (count === 1 ? one : many)),
};
