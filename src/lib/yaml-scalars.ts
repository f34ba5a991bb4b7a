/** The types of plain YAML scalars in sigs.k8s.io/yaml: YAML 1.1 booleans and octals, no dates, no base 60. */

const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON']);
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF']);
const NULL = new Set(['', '~', 'null', 'Null', 'NULL']);
const INFINITE = /^[-+]?\.(inf|Inf|INF)$/;
const NOT_A_NUMBER = new Set(['.nan', '.NaN', '.NAN']);
const SMALL = /^(?:0|-?[1-9][0-9]*)$/;
const INTEGER = /^[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;
const DATE =
  /^\d{4}-(\d{1,2})-(\d{1,2})(?:$|[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)$| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?$)/;

const MIN_INT64 = -(2n ** 63n);
const MAX_UINT64 = 2n ** 64n - 1n;

export const isYamlNull = (text: string): boolean => text.length <= 4 && NULL.has(text);
export const isYamlBool = (text: string): boolean => text.length <= 5 && (TRUE.has(text) || FALSE.has(text));
export const yamlBool = (text: string): boolean => TRUE.has(text);

/** The integer in a plain scalar; undefined if it is not an integer, or does not fit into 64 bits. */
export function yamlInteger(text: string): bigint | undefined {
  const first = text.charCodeAt(0);
  if (!((first >= 48 && first <= 57) || first === 43 || first === 45)) return undefined;
  if (text.length < 16 && SMALL.test(text)) return BigInt(text);
  const plain = text.includes('_') ? text.replaceAll('_', '') : text;
  const match = INTEGER.exec(plain);
  if (!match) return undefined;
  let digits = (match[1] as string).toLowerCase();
  if (digits === '0o') return undefined;
  if (/^0[0-7]+$/.test(digits)) digits = `0o${digits.slice(1)}`;
  const value = plain.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= MIN_INT64 && value <= MAX_UINT64 ? value : undefined;
}

/** The double in a plain scalar; undefined if it is an integer, or not a number. */
export function yamlFloat(text: string): number | undefined {
  const first = text.charCodeAt(0);
  if (!((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46)) return undefined;
  if (INFINITE.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (NOT_A_NUMBER.has(text)) return Number.NaN;
  const plain = first === 46 ? text : text.replaceAll('_', '');
  if (!FLOAT.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

/** Whether go-yaml treats the text as a date; it is read as a string anyway, but quoted when it is written. */
export function isYamlDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [month = 0, day = 0, ...time] = match
    .slice(1)
    .filter((p) => p !== undefined)
    .map(Number);
  const [hour = 0, minute = 0, second = 0] = time;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 60;
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Whether a string would be read as another type without quotes. */
export function needsYamlQuotes(text: string): boolean {
  if (isYamlNull(text) || isYamlBool(text)) return true;
  const first = text.charCodeAt(0);
  if (!((first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46)) return false;
  return (
    yamlInteger(text) !== undefined || yamlFloat(text) !== undefined || isYamlDate(text) || BASE_60.test(text)
  );
}
