/** Which of the values that templates see are secret: values from secrets and targets, and exports of deploy items. */
import { maskOf, type Mask } from '../lib/masking.ts';
import { ownField } from '../lib/objects.ts';
import type { ExportSources } from './exports.ts';
import type { ImportSet } from './import-set.ts';

/** Masks them in messages. @param states documents that executions keep between jobs */
export const maskFor = (imports: ImportSet, sources?: ExportSources, states: readonly unknown[] = []): Mask =>
  maskOf([
    ...secretValues(imports, Object.values(sources?.targets ?? {}).flat()),
    ...Object.values(sources?.deployitems ?? {}),
    ...states,
  ]);

/**
 * Names, types and similar facts about a target are not secret.
 * @param others targets besides the imported ones
 */
export function secretValues(
  { data, targets, targetLists, targetMaps }: ImportSet,
  others: readonly unknown[] = [],
): readonly unknown[] {
  const fromSecrets = [...data.values()].filter(({ isSecret }) => isSecret).map(({ value }) => value);
  const all = [
    ...targets.values(),
    ...[...targetLists.values()].flat(),
    ...[...targetMaps.values()].flatMap((map) => Object.values(map)),
    ...others,
  ];
  return [...fromSecrets, ...all.map((target) => ownField(ownField(target, 'spec'), 'config'))];
}
