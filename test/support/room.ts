/** Room for new objects in a tree. */
import type { Room } from '../../src/landscape/tree-size.ts';

export const room = (change: Partial<Room> = {}): Room => ({
  ...{ root: 'top', present: 1, claimed: 0, added: 1, limit: 10_000, isGranted: true },
  ...change,
});
