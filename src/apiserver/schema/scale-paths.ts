/** Validates the types of the values that the scale subresource of a custom kind reads. */
import { invalid, plainText } from './field-errors.ts';
import { isObject, type FieldError } from '../types.ts';

/** JSON paths of a version's `subresources.scale`. */
export interface ScalePathsOf {
  readonly spec: string;
  readonly status: string;
  readonly labelSelector?: string;
}

const MAX = 2 ** 31 - 1;

/** Errors in an object that prevent its scale subresource. */
export function scaleErrors(object: object, paths: ScalePathsOf): FieldError[] {
  const errors = [...replicasErrors(object, paths.spec), ...replicasErrors(object, paths.status)];
  const { labelSelector } = paths;
  if (labelSelector !== undefined && labelSelector !== '') {
    const found = valueAt(object, labelSelector, 'string');
    if ('problem' in found) errors.push(invalid(labelSelector, '', found.problem));
  }
  return errors;
}

function replicasErrors(object: object, path: string): FieldError[] {
  const found = valueAt(object, path, 'int64');
  if ('problem' in found) return [invalid(path, 0, found.problem)];
  const value = found.value as number | undefined;
  if (value === undefined) return [];
  if (value < 0) return [invalid(path, value, 'should be a non-negative integer')];
  return value > MAX ? [invalid(path, value, `should be less than or equal to ${MAX}`)] : [];
}

type Found = { readonly value: unknown } | { readonly problem: string };

/** The value at a dotted path; undefined if it does not exist, an error if it or a parent has the wrong type. */
function valueAt(object: object, path: string, wanted: 'int64' | 'string'): Found {
  const names = path.replace(/^\./, '').split('.');
  const text = `.${names.join('.')}`;
  let value: unknown = object;
  for (const name of names) {
    if (value === undefined) return { value: undefined };
    if (!isObject(value)) return { problem: accessorText(text, value, 'map[string]interface{}') };
    value = value[name];
  }
  if (value === undefined) return { value };
  const isRight = wanted === 'string' ? typeof value === 'string' : Number.isInteger(value);
  return isRight ? { value } : { problem: accessorText(text, value, wanted) };
}

const accessorText = (path: string, value: unknown, wanted: string): string =>
  `${path} accessor error: ${goText(value)} is of the type ${goType(value)}, expected ${wanted}`;

const goText = (value: unknown): string => (value === null ? '<nil>' : plainText(value));

function goType(value: unknown): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  return typeof value === 'boolean' ? 'bool' : 'string';
}
