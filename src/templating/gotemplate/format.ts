/** Go's `fmt`: Sprint, Sprintln and Sprintf for template values. format-value.ts formats single values. */
import { argumentError, formatValue, NO_FLAGS, type Flags } from './format-value.ts';
import { integerOf, typeName, type Value } from './values.ts';

/** Go refuses larger widths and precisions. */
const MAX_WIDTH = 1_000_000;

/** `%v` of one value. */
export function sprintValue(value: Value): string {
  return typeof value === 'string' ? value : formatValue(value, 'v', NO_FLAGS, 0);
}

/** Operands are separated by a blank if neither is a string. */
export function sprint(values: readonly Value[]): string {
  let out = '';
  let wasString = true;
  values.forEach((value, i) => {
    const isString = typeof value === 'string';
    if (i > 0 && !isString && !wasString) out += ' ';
    out += sprintValue(value);
    wasString = isString;
  });
  return out;
}

export const sprintln = (values: readonly Value[]): string => `${values.map(sprintValue).join(' ')}\n`;

/** Go's Sprintf, including its error output `%!verb(…)`. @throws nothing */
export const sprintf = (format: string, args: readonly Value[]): string => new Formatter(format, args).run();

class Formatter {
  readonly #format: string;
  readonly #args: readonly Value[];
  #at = 0;
  #arg = 0;
  #isReordered = false;
  #isGoodIndex = true;
  #out = '';

  constructor(format: string, args: readonly Value[]) {
    this.#format = format;
    this.#args = args;
  }

  run(): string {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at);
      this.#out += this.#format.slice(this.#at, percent < 0 ? undefined : percent);
      if (percent < 0) break;
      this.#at = percent + 1;
      this.#directive();
    }
    if (!this.#isReordered && this.#arg < this.#args.length) this.#extra();
    return this.#out;
  }

  #extra(): void {
    const rest = this.#args.slice(this.#arg).map((v) => {
      const isNil = v === undefined || v === null;
      return isNil ? '<nil>' : `${typeName(v)}=${formatValue(v, 'v', NO_FLAGS, 0)}`;
    });
    this.#out += `%!(EXTRA ${rest.join(', ')})`;
  }

  #directive(): void {
    this.#isGoodIndex = true;
    let flags = this.#flags();
    let afterIndex = this.#index();
    const width = this.#number(afterIndex, 'WIDTH');
    afterIndex = width.afterIndex;
    if (width.value !== undefined) {
      flags = { ...flags, width: Math.abs(width.value) };
      if (width.value < 0) flags = { ...flags, minus: true, zero: false };
    }
    if (this.#format[this.#at] === '.') {
      this.#at++;
      if (afterIndex) this.#isGoodIndex = false;
      afterIndex = this.#index();
      const precision = this.#number(afterIndex, 'PREC');
      afterIndex = precision.afterIndex;
      const isBad = precision.value !== undefined && precision.value < 0;
      if (isBad && precision.isStar) this.#out += '%!(BADPREC)';
      flags = {
        ...flags,
        precision: isBad ? undefined : (precision.value ?? (precision.isStar ? undefined : 0)),
      };
    }
    if (!afterIndex) this.#index();
    this.#verb(flags);
  }

  #flags(): Flags {
    const flags = { ...NO_FLAGS };
    for (; ; this.#at++) {
      const c = this.#format[this.#at];
      if (c === '#') flags.sharp = true;
      else if (c === '0') flags.zero = true;
      else if (c === '+') flags.plus = true;
      else if (c === '-') flags.minus = true;
      else if (c === ' ') flags.space = true;
      else return flags;
    }
  }

  /** `[n]`: the number of the next argument. */
  #index(): boolean {
    if (this.#format[this.#at] !== '[') return false;
    this.#isReordered = true;
    const end = this.#format.indexOf(']', this.#at);
    const digits = end < 0 ? '' : this.#format.slice(this.#at + 1, end);
    this.#at = end < 0 ? this.#at + 1 : end + 1;
    const index = /^[0-9]{1,7}$/.test(digits) ? Number(digits) : 0;
    if (index >= 1 && index <= this.#args.length) {
      this.#arg = index - 1;
      return true;
    }
    this.#isGoodIndex = false;
    return end >= 0;
  }

  /** A width or precision: digits, or `*` for the next argument. */
  #number(
    afterIndex: boolean,
    what: string,
  ): { value: number | undefined; afterIndex: boolean; isStar: boolean } {
    if (this.#format[this.#at] === '*') {
      this.#at++;
      const arg = this.#args[this.#arg++];
      const integer = integerOf(arg);
      const value = integer === undefined ? undefined : Number(integer);
      if (value === undefined || Math.abs(value) > MAX_WIDTH) {
        this.#out += `%!(BAD${what})`;
        return { value: undefined, afterIndex: false, isStar: true };
      }
      return { value, afterIndex: false, isStar: true };
    }
    const digits = /^[0-9]+/.exec(this.#format.slice(this.#at, this.#at + 9))?.[0];
    if (digits === undefined) return { value: undefined, afterIndex, isStar: false };
    this.#at += digits.length;
    if (afterIndex) this.#isGoodIndex = false;
    const value = Number(digits);
    return { value: value > MAX_WIDTH ? undefined : value, afterIndex, isStar: false };
  }

  #verb(flags: Flags): void {
    const code = this.#format.codePointAt(this.#at);
    if (code === undefined) {
      this.#out += '%!(NOVERB)';
      return;
    }
    const verb = String.fromCodePoint(code);
    this.#at += verb.length;
    if (verb === '%') this.#out += '%';
    else if (!this.#isGoodIndex) this.#out += `%!${verb}(BADINDEX)`;
    else if (this.#arg >= this.#args.length) this.#out += `%!${verb}(MISSING)`;
    else {
      const value = this.#args[this.#arg++];
      const isGeneral = verb === 'v' || verb === 'w';
      const used = isGeneral ? { ...flags, syntax: flags.sharp, sharp: false, plus: false } : flags;
      this.#out += verb === 'w' ? argumentError(value, verb, used) : formatValue(value, verb, used, 0);
    }
  }
}
