/**
 * `--set key=value`, with the syntax of Helm: `a.b=1,c[0].d=x,e={x,y}`. A backslash before a special character removes
 * its meaning. `true`, `false`, `null` and integers have their types; everything else is a string. `{}` is an empty list,
 * which Helm cannot express. Pure.
 */
import { define } from '../../../lib/json.ts';
import { isObject, ownField, type Fields } from '../../../lib/objects.ts';
import { UsageError } from '../../errors.ts';

type Step = string | number;

const MAX_INDEX = 1000;

/** The values with the assignments of one option. @throws UsageError */
export function withSetOption(values: Fields, option: string): Fields {
  const reader = new Reader(option);
  let result = values;
  while (!reader.isAtEnd) {
    const path = readPath(reader);
    result = withValue(result, path, readValue(reader)) as Fields;
  }
  return result;
}

/** Reads an option from left to right. */
class Reader {
  readonly option: string;
  #at = 0;

  constructor(option: string) {
    this.option = option;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.option.length;
  }

  /** Whether the next character is this one, which is then skipped. */
  skips(character: string): boolean {
    const isNext = this.option[this.#at] === character;
    if (isNext) this.#at++;
    return isNext;
  }

  /** Reads up to one of the characters in `stops`, and skips it; '' as the stop means the end of the option. */
  until(stops: string): { readonly text: string; readonly stop: string } {
    let text = '';
    while (!this.isAtEnd) {
      const character = this.option[this.#at++] ?? '';
      if (character === '\\') text += this.option[this.#at++] ?? '';
      else if (stops.includes(character)) return { text, stop: character };
      else text += character;
    }
    return { text, stop: '' };
  }

  fail(why: string): never {
    throw new UsageError(`--set ${this.option}: ${why}; write it like image.tag=0.2.0`);
  }
}

/** The keys and indices before `=`. */
function readPath(reader: Reader): readonly Step[] {
  const path: Step[] = [];
  for (;;) {
    const { text, stop } = reader.until('.=[,');
    if (stop === '' || stop === ',') reader.fail(`"${text}" has no value`);
    // Nothing is between an index and the character after it.
    if (text !== '') path.push(text);
    else if (typeof path.at(-1) !== 'number') reader.fail('a key is empty');
    if (stop === '=') return path;
    if (stop === '[') path.push(readIndex(reader));
  }
}

function readIndex(reader: Reader): number {
  const { text, stop } = reader.until(']');
  if (stop === ']' && /^\d{1,4}$/.test(text) && Number(text) <= MAX_INDEX) return Number(text);
  return reader.fail(`"[${text}${stop}" is not an index from 0 to ${String(MAX_INDEX)}`);
}

function readValue(reader: Reader): unknown {
  if (!reader.skips('{')) return typed(reader.until(',').text);
  const items: unknown[] = [];
  for (;;) {
    const { text, stop } = reader.until(',}');
    if (stop === '') reader.fail('a list has no "}"');
    if (text !== '' || stop === ',' || items.length > 0) items.push(typed(text));
    if (stop === ',') continue;
    if (!reader.isAtEnd && !reader.skips(',')) reader.fail('there must be a comma after "}"');
    return items;
  }
}

const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function typed(text: string): unknown {
  const word = text.toLowerCase();
  if (WORDS.has(word)) return WORDS.get(word);
  return /^(0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text;
}

function withValue(before: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list: unknown[] = Array.isArray(before) ? [...(before as readonly unknown[])] : [];
    while (list.length < step) list.push(null);
    list[step] = withValue(list[step], rest, value);
    return list;
  }
  const map: Fields = isObject(before) ? { ...before } : {};
  define(map, step, withValue(ownField(map, step), rest, value));
  return map;
}
