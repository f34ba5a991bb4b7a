/** Which of the values that templates see are secret: those of secrets and targets, and what deploy items export. */
import { maskOf, type Mask } from '../lib/masking.ts';
import { ownField } from '../lib/objects.ts';
import type { ExportSources } from './exports.ts';
import type { ImportSet } from './importset.ts';

/**
 * Hides them in messages. A name, a type and other facts about a target are none.
 * @param states documents that executions keep between jobs
 */
export function maskFor(
  { data, targets, targetLists, targetMaps }: ImportSet,
  sources?: ExportSources,
  states: readonly unknown[] = [],
): Mask {
  const fromSecrets = [...data.values()].filter(({ isSecret }) => isSecret).map(({ value }) => value);
  const all = [
    ...targets.values(),
    ...[...targetLists.values()].flat(),
    ...[...targetMaps.values()].flatMap((map) => Object.values(map)),
    ...Object.values(sources?.targets ?? {}).flat(),
  ];
  const configs = all.map((target) => ownField(ownField(target, 'spec'), 'config'));
  return maskOf([...fromSecrets, ...configs, ...Object.values(sources?.deployitems ?? {}), ...states]);
}
