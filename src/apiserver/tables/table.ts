/** Tables, the form of objects that kubectl requests: the columns of a kind, and a row of cells for each object. */
import { exactJson } from '../../lib/exact-json.ts';
import { compileJsonPath, type JsonPath } from '../../lib/json-path.ts';
import { ageOf } from './human-duration.ts';
import type { ColumnDefinition, Printer } from './cells.ts';
import { builtinPrinter } from './printers.ts';
import { isObject, type KubeObject } from '../types.ts';

export type { ColumnDefinition, Printer } from './cells.ts';

/** A column of a CustomResourceDefinition. */
interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly jsonPath?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: Record<string, unknown>;
  readonly columnDefinitions: readonly ColumnDefinition[] | null;
  readonly rows: readonly { readonly cells: unknown[]; readonly object: unknown }[] | null;
}

const NAME_COLUMN: ColumnDefinition = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name, unique among the objects of this kind in its namespace.',
  priority: 0,
};

const AGE_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'When the object was created.',
};

/** The printer of a custom kind; without its own columns it shows the age. */
export function crdPrinter(columns: readonly PrinterColumn[] | undefined): Printer {
  const shown = columns && columns.length > 0 ? columns : [AGE_COLUMN];
  const readers = shown.map((column) => ({ type: column.type, path: compiled(column.jsonPath ?? '') }));
  return {
    columns: [NAME_COLUMN, ...shown.map(definitionOf)],
    cells: (object, nowMs) => [
      object.metadata.name,
      ...readers.map(({ type, path }) => cellOf(type, path?.first(object), nowMs)),
    ],
  };
}

function compiled(jsonPath: string): JsonPath | undefined {
  try {
    return compileJsonPath(jsonPath);
  } catch {
    return undefined;
  }
}

const definitionOf = (column: PrinterColumn): ColumnDefinition => ({
  name: column.name,
  type: column.type,
  format: column.format ?? '',
  description:
    column.description ?? `Custom resource definition column (in JSONPath format): ${column.jsonPath ?? ''}`,
  priority: column.priority ?? 0,
});

/** A value that does not match the column's type is shown as missing. */
function cellOf(type: string, value: unknown, nowMs: number): unknown {
  if (value === undefined) return null;
  if (value === null) return type === 'string' ? '<no value>' : null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, nowMs) : null;
    case 'string':
      return typeof value === 'string' ? value : exactJson(value);
    default:
      return null;
  }
}

/** The printer of a built-in kind. */
export const printerOf = (group: string, kind: string): Printer => builtinPrinter(group, kind);

/**
 * A Table of objects.
 * @param options.metadata of the list, or of the single object
 * @param options.columns false omits the columns, as in every event of a watch except the first
 * @param options.nullWhenEmpty built-in lists without items have `rows: null`, custom ones `rows: []`
 */
export function toTable(
  printer: Printer,
  objects: readonly KubeObject[],
  options: {
    readonly nowMs: number;
    readonly includeObject?: IncludeObject;
    readonly metadata?: Record<string, unknown>;
    readonly version?: 'v1' | 'v1beta1';
    readonly columns?: boolean;
    readonly nullWhenEmpty?: boolean;
  },
): Table {
  const rows = objects.map((object) => ({
    cells: printer.cells(object, options.nowMs),
    object: rowObject(object, options.includeObject ?? 'Metadata', options.version ?? 'v1'),
  }));
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${options.version ?? 'v1'}`,
    metadata: options.metadata ?? {},
    columnDefinitions: options.columns === false ? null : printer.columns,
    rows: rows.length === 0 && options.nullWhenEmpty === true ? null : rows,
  };
}

function rowObject(object: KubeObject, include: IncludeObject, version: string): unknown {
  if (include === 'Object') return object;
  if (include === 'None') return null;
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

/** Metadata of the table of a single object. */
export const tableMetadata = (object: KubeObject): Record<string, unknown> =>
  isObject(object.metadata) && object.metadata.resourceVersion !== undefined
    ? { resourceVersion: object.metadata.resourceVersion }
    : {};
