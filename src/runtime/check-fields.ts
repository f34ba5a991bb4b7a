/**
 * Checks what the functions of an author return, before any of it takes effect. The compiler knows neither numbers nor objects
 * that other code has built.
 */
import { hintFor } from '../lib/closest.ts';
import { isObject, type Fields } from '../lib/objects.ts';
import { shown } from '../lib/positive.ts';

/** What a value must be, as the end of a sentence; undefined if it is valid. Values that may be secrets are not in it. */
export type Check = (value: unknown) => string | undefined;

/** The fields that a function may return. */
interface Returned {
  /** The function, for messages. */
  readonly method: string;
  readonly checks: Readonly<Record<string, Check>>;
  readonly required: readonly string[];
  /** What to return instead. */
  readonly wayOut?: string;
}

/** @throws TypeError that names the field and the way out */
export function checkFields(value: unknown, { method, checks, required, wayOut }: Returned): Fields {
  const refused = (what: string): TypeError =>
    new TypeError(`${method} returned ${what}${wayOut === undefined ? '' : `; ${wayOut}`}`);
  if (!isObject(value)) throw refused(value === undefined ? 'nothing' : shown(value));
  for (const field of required) if (value[field] === undefined) throw refused(`no "${field}"`);
  for (const [field, given] of Object.entries(value)) {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined;
    if (!check)
      throw new TypeError(
        `${method} returned the unknown field "${field}"; ${hintFor(field, Object.keys(checks))}`,
      );
    const wanted = given === undefined ? undefined : check(given);
    if (wanted !== undefined)
      throw new TypeError(`${method} returned an invalid "${field}": it must be ${wanted}`);
  }
  return value;
}
