/** Effects that write data objects and targets if they have changed, or delete those of an earlier job. Pure. */
import { dataObjectKind } from '../../src/api/kinds/dataobject.ts';
import { targetKind } from '../../src/api/kinds/target.ts';
import { conditionReasons, conditionTypes } from '../../src/api/conditions.ts';
import { labels } from '../../src/api/labels.ts';
import { overlay, type WriteConflict } from '../../src/dataflow/objects.ts';
import { create, remove, type Effect, type Refusal } from '../../src/machine/decision.ts';
import { update } from '../../src/machine/update.ts';
import type { Kind } from '../../src/runtime/types.ts';
import type { DataOrTarget, Upsert } from './snapshot.ts';

const kindOf = (object: { readonly kind: string }): Kind =>
  object.kind === targetKind.kind ? targetKind : dataObjectKind;

/** Why an object is written, and how a failed write is reported. */
export interface Purpose {
  readonly condition: 'CreateImports' | 'CreateExports';
  readonly operation: string;
  readonly reason: string;
}

export const asImport: Purpose = {
  condition: 'CreateImports',
  operation: 'handlePhaseInit',
  reason: 'CreateImportsAndSubobjects',
};
export const asExport: Purpose = {
  condition: 'CreateExports',
  operation: 'handlePhaseCompleting',
  reason: 'CreateOrUpdateExports',
};

/** Creates or updates the object; no effect if it is up to date. */
export function upsert({ wanted, existing }: Upsert, purpose: Purpose): Effect[] {
  const ifRefused = cannotWrite(wanted, purpose);
  if (!existing) return [{ ...create(kindOf(wanted), wanted), ifRefused }];
  const next = overlay(existing, wanted);
  const effect = next && update(kindOf(wanted), existing, next);
  return effect ? [{ ...effect, ifRefused }] : [];
}

/** The problem and the condition for an object that cannot be written, without the cause. */
export function cannotWrite(wanted: DataOrTarget, { condition, operation, reason }: Purpose): Refusal {
  const isTarget = wanted.kind === targetKind.kind;
  const what = isTarget ? 'target' : 'data object';
  const role = condition === 'CreateImports' ? 'import' : 'export';
  const key = wanted.metadata.labels?.[labels.dataKey] ?? '';
  const isNull = !isTarget && 'data' in wanted && wanted.data === null;
  const why = isNull ? `: ${role} "${key}" has the value null, which cannot be stored` : '';
  return {
    operation,
    reason,
    message: `unable to create or update ${what} ${wanted.metadata.name} for ${role} ${key}${why}`,
    condition: {
      type: conditionTypes[condition],
      status: 'False',
      reason: isTarget ? conditionReasons.CreateTargets : conditionReasons.CreateDataObjects,
      message: `unable to create ${what} for ${role} ${key}`,
    },
  };
}

/** The refusal to write an object, with the cause. */
export const refused = (wanted: DataOrTarget, purpose: Purpose, { message }: WriteConflict): Refusal => {
  const refusal = cannotWrite(wanted, purpose);
  return { ...refusal, message: `${refusal.message}: ${message}` };
};

export const deleteObject = (object: DataOrTarget): Effect => remove(kindOf(object), object);
