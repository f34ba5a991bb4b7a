/** Columns and cells of the built-in kinds. A kind is a list of columns and a function that returns the cells. */
import { table } from '../../lib/objects.ts';
import { ageOf } from './human-duration.ts';
import type { Cells, ColumnDefinition, Columns, Printer, PrinterRows } from './cells.ts';
import { clusterPrinters } from './cluster.ts';
import { networkPrinters } from './network.ts';
import { policyPrinters } from './policy.ts';
import { storagePrinters } from './storage.ts';
import { workloadPrinters } from './workload.ts';

const TYPES: Readonly<Record<string, string>> = table({ '#': 'integer', '?': 'boolean', '@': 'date' });

function columnOf(text: string): ColumnDefinition {
  const found = /^(.*?)([#?@]?)(\*?)(!?)$/.exec(text);
  const name = found?.[1] ?? text;
  return {
    name,
    type: TYPES[found?.[2] ?? ''] ?? 'string',
    format: name === 'Name' || found?.[4] === '!' ? 'name' : '',
    description: '',
    priority: found?.[3] === '*' ? 1 : 0,
  };
}

function printer(columns: Columns, cells: Cells): Printer {
  return {
    columns: columns.map(columnOf),
    cells: (object, nowMs) =>
      cells(object, (timestamp) => ageOf(timestamp ?? object.metadata.creationTimestamp, nowMs)),
  };
}

const createdAt: readonly [Columns, Cells] = [
  ['Name', 'Created At@'],
  (object) => [object.metadata.name, object.metadata.creationTimestamp ?? null],
];

const fallback: readonly [Columns, Cells] = [['Name', 'Age'], (object, age) => [object.metadata.name, age()]];

const own: PrinterRows = {
  'rbac.authorization.k8s.io/Role': createdAt,
  'rbac.authorization.k8s.io/ClusterRole': createdAt,
  'apiextensions.k8s.io/CustomResourceDefinition': createdAt,
  LimitRange: createdAt,
};

const rows: PrinterRows = {
  ...own,
  ...workloadPrinters,
  ...clusterPrinters,
  ...networkPrinters,
  ...policyPrinters,
  ...storagePrinters,
};

const cache = new Map<string, Printer>();

export function builtinPrinter(group: string, kind: string): Printer {
  const key = group === '' ? kind : `${group}/${kind}`;
  let found = cache.get(key);
  if (!found) {
    const [columns, cells] = rows[key] ?? fallback;
    found = printer(columns, cells);
    cache.set(key, found);
  }
  return found;
}
