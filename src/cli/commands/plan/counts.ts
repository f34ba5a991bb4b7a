/** How many objects a plan creates, changes and deletes. Pure. */
import type { PlannedChange } from '../../../../deployers/sdk/index.ts';
import type { PlannedTree } from './planned.ts';

export type Counts = Readonly<Record<PlannedChange | 'unknown' | 'problems', number>>;

export function countsOf({ items, problems }: PlannedTree): Counts {
  const objects = items.flatMap(({ plan }) => plan?.objects ?? []);
  const count = (change: PlannedChange): number => objects.filter((one) => one.change === change).length;
  return {
    create: count('create'),
    change: count('change'),
    delete: count('delete'),
    unchanged: count('unchanged'),
    kept: count('kept'),
    unknown:
      items.filter(({ plan, problem }) => !plan && problem === undefined).length +
      problems.filter(({ isUnknown }) => isUnknown).length,
    problems:
      items.filter(({ problem }) => problem !== undefined).length +
      objects.filter(({ problem }) => problem !== undefined).length +
      problems.filter(({ isUnknown }) => !isUnknown).length,
  };
}

export const hasChanges = ({ create, change, delete: gone }: Counts): boolean => create + change + gone > 0;
