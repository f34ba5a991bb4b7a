/** Functions for all table printers. */
import { table } from '../../lib/objects.ts';
import { plainText } from '../schema/field-errors.ts';
import { isObject, type JsonObject, type KubeObject } from '../types.ts';

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Printer {
  readonly columns: readonly ColumnDefinition[];
  /** One cell per column. @param nowMs milliseconds since 1970, for ages */
  cells(object: KubeObject, nowMs: number): unknown[];
}

/** Columns as `Name Type* Count#`: `*` only with `-o wide`, `#` an integer, `?` a boolean, `@` a date. */
export type Columns = readonly string[];

/** Returns the cells after the name. */
export type Cells = (object: KubeObject, age: (timestamp?: unknown) => string) => unknown[];

export type PrinterRows = Readonly<Record<string, readonly [Columns, Cells]>>;

/** The value at a path; undefined if any step does not exist. */
export function at(object: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce(
    (value: unknown, name) =>
      isObject(value) ? value[name] : Array.isArray(value) ? (value as unknown[])[Number(name)] : undefined,
    object,
  );
}

export const textAt = (object: unknown, ...path: readonly (string | number)[]): string =>
  plainText(at(object, ...path));

export const numberAt = (object: unknown, ...path: readonly (string | number)[]): number => {
  const value = at(object, ...path);
  return typeof value === 'number' ? value : 0;
};

export const listAt = (object: unknown, ...path: readonly (string | number)[]): readonly JsonObject[] => {
  const value = at(object, ...path);
  return Array.isArray(value) ? (value as JsonObject[]) : [];
};

export const orNone = (text: string, none = '<none>'): string => (text === '' ? none : text);

export const count = (object: unknown): number => (isObject(object) ? Object.keys(object).length : 0);

/** `a=1,b=2`, or `<none>`. */
export const formatLabels = (labels: unknown): string =>
  orNone(
    Object.entries(isObject(labels) ? labels : {})
      .map(([key, value]) => `${key}=${String(value)}`)
      .sort()
      .join(','),
  );

const SELECTOR_FORMS: Readonly<Record<string, (key: string, values: string) => string>> = table({
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
});

/** A LabelSelector object as a selector string; empty is `<none>`. */
export function formatSelector(selector: unknown): string {
  const labels = Object.entries((at(selector, 'matchLabels') ?? {}) as Record<string, string>).map(
    ([key, value]) => [key, `${key}=${value}`] as const,
  );
  const expressions = listAt(selector, 'matchExpressions').map((expression) => {
    const key = textAt(expression, 'key');
    const values = [...((expression['values'] ?? []) as string[])].sort().join(',');
    return [key, SELECTOR_FORMS[textAt(expression, 'operator')]?.(key, values) ?? '<error>'] as const;
  });
  const parts = [...labels, ...expressions].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return orNone(parts.map(([, text]) => text).join(','));
}

/** Names and images of a pod's containers. */
export const containerCells = (podSpec: unknown): [string, string] => [
  listAt(podSpec, 'containers')
    .map((container) => textAt(container, 'name'))
    .join(','),
  listAt(podSpec, 'containers')
    .map((container) => textAt(container, 'image'))
    .join(','),
];
