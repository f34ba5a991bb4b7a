/** A reservation of new objects in a tree. */
import type { Reservation } from '../../src/landscape/tree-size.ts';

export const reservation = (change: Partial<Reservation> = {}): Reservation => ({
  root: 'top',
  present: 1,
  reserved: 0,
  added: 1,
  limit: 10_000,
  isGranted: true,
  ...change,
});
