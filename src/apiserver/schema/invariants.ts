/** Rules in addition to the schema's keywords: unique items of sets and maps, and members of embedded resources. */
import { append } from '../../lib/lists.ts';
import { duplicate, invalid, required } from './field-errors.ts';
import type { Shape } from './shape.ts';
import { childPath } from './types.ts';
import { isObject, type FieldError } from '../types.ts';

/** Findings about lists of type set and map whose items are not unique. */
export function duplicateItems(value: unknown, shape: Shape, path = ''): FieldError[] {
  const errors: FieldError[] = [];
  collect(value, shape, path, errors);
  return errors;
}

function collect(value: unknown, shape: Shape, path: string, errors: FieldError[]): void {
  if (!shape.hasUnique) return;
  if (Array.isArray(value)) {
    if (shape.listType === 'set') reportTwins(value, (item) => item, path, errors);
    if (shape.listType === 'map') collectMap(value, shape.listKeys, path, errors);
    const items = shape.items;
    if (items) value.forEach((item, index) => collect(item, items, `${path}[${index}]`, errors));
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const field = shape.fields.get(name);
    if (field) collect(value[name], field, childPath(path, name), errors);
    else if (shape.values) collect(value[name], shape.values, `${path}[${name}]`, errors);
  }
}

function collectMap(
  list: readonly unknown[],
  keys: readonly string[],
  path: string,
  errors: FieldError[],
): void {
  const alien = list.findIndex((item) => item !== null && !isObject(item));
  if (alien >= 0) {
    const why = 'must be an object for an array of list-type map';
    errors.push(invalid(`${path}[${alien}]`, list[alien], why));
    return;
  }
  const keyOf = (item: unknown): unknown =>
    Object.fromEntries(
      keys.flatMap((key) => (isObject(item) && item[key] !== undefined ? [[key, item[key]]] : [])),
    );
  reportTwins(list, keyOf, path, errors);
}

/** Reports the second of equal items, but no further ones. */
function reportTwins(
  list: readonly unknown[],
  keyOf: (item: unknown) => unknown,
  path: string,
  errors: FieldError[],
): void {
  if (list.length < 2) return;
  const seen = new Map<string, number>();
  list.forEach((item, index) => {
    const key = keyOf(item);
    const text = JSON.stringify(key);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) errors.push(duplicate(`${path}[${index}]`, key));
  });
}

/** Embedded resources need an apiVersion and a kind. */
export function embeddedResources(value: unknown, shape: Shape, path = '', isRoot = true): FieldError[] {
  const errors: FieldError[] = [];
  if (Array.isArray(value)) {
    const items = shape.items;
    if (items)
      value.forEach((item, i) => append(errors, embeddedResources(item, items, `${path}[${i}]`, false)));
    return errors;
  }
  if (!isObject(value)) return errors;
  if (shape.isEmbedded && !isRoot) {
    for (const member of ['apiVersion', 'kind']) {
      const found = value[member];
      if (found === undefined) errors.push(required(`${path}.${member}`));
      else if (found === '') errors.push(invalid(`${path}.${member}`, found, 'must not be empty'));
    }
  }
  for (const name of Object.keys(value)) {
    const field = shape.fields.get(name);
    if (field) append(errors, embeddedResources(value[name], field, childPath(path, name), false));
    else if (shape.values)
      append(errors, embeddedResources(value[name], shape.values, `${path}[${name}]`, false));
  }
  return errors;
}

/** Whether any embedded resource can occur; most kinds can skip the check. */
export const hasEmbedded = (shape: Shape, isRoot = true): boolean =>
  (!isRoot && shape.isEmbedded) ||
  [
    ...shape.fields.values(),
    ...(shape.values ? [shape.values] : []),
    ...(shape.items ? [shape.items] : []),
  ].some((below) => hasEmbedded(below, false));
