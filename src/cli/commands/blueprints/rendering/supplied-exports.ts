/** The exports file: supplied exports of deploy items, or of whole sub-installations. */
import type { InstallationExports } from '../../../../api/kinds/installation.ts';
import type { ExportValues } from '../../../../blueprint/exports.ts';
import { hintFor } from '../../../../lib/closest.ts';
import { isObject, ownField, type View } from '../../../../lib/objects.ts';
import { UsageError } from '../../../errors.ts';

/** Values by path: `item`, `child/item`, or `child`, whose value contains all exports of the child. */
export interface SuppliedExports {
  readonly values: ReadonlyMap<string, unknown>;
}

/** @throws UsageError */
export function suppliedExports(file: unknown, name: string): SuppliedExports {
  if (file === null || file === undefined) return { values: new Map() };
  if (!isObject(file)) {
    throw new UsageError(`${name} must be a map from the names of deploy items to their exports`);
  }
  return { values: new Map(Object.entries(file)) };
}

/** A message for each supplied path that does not exist. @param known paths of all items and children */
export function unknownExports({ values }: SuppliedExports, known: readonly string[]): readonly string[] {
  const all = `there are ${known.join(', ') || 'none'}`;
  return [...values.keys()]
    .filter((path) => !known.includes(path))
    .map((path) => `there is no deploy item or sub-installation ${path}; ${hintFor(path, known, all)}`);
}

/** The supplied exports of a whole child; undefined if there are none. */
export function suppliedChildExports(
  { values }: SuppliedExports,
  path: string,
  { exports }: { readonly exports?: View<InstallationExports> | undefined },
): ExportValues | undefined {
  const own = values.get(path);
  if (!isObject(own)) return undefined;
  const data = (exports?.data ?? [])
    .filter(({ name }) => Object.hasOwn(own, name))
    .map(({ name, dataRef }) => ({ name, ref: dataRef, value: own[name] }));
  const targets = (exports?.targets ?? [])
    .filter(({ name }) => Object.hasOwn(own, name))
    .map(({ name, target = '' }) => {
      const value = ownField(own[name], 'spec') ?? own[name];
      const named = ownField(value, 'type');
      const type = typeof named === 'string' ? named : '';
      return { name, ref: target, type, config: ownField(value, 'config'), labels: {}, annotations: {} };
    });
  return { data, targets };
}
