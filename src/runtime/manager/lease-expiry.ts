/** When a lease of another process has expired. */
import type { Clock } from '../../lib/clock.ts';
import type { View } from '../types.ts';
import type { LeaseObject } from './lease.ts';

/** Clocks of machines differ by less than this. */
export const MAX_CLOCK_DIFFERENCE_MS = 600_000;

/** Whether a lease expired so long ago that its holder has stopped, by any clock. @param durationMs if it has none */
export function expiredLongAgo({ spec }: View<LeaseObject>, durationMs: number, clock: Clock): boolean {
  const renewedAt = Date.parse(spec?.renewTime ?? '');
  return renewedAt + durationOf(spec, durationMs) + MAX_CLOCK_DIFFERENCE_MS < clock.wall();
}

/** @param otherwise if the lease has no duration */
export const durationOf = (spec: View<LeaseObject>['spec'], otherwise: number): number =>
  spec?.leaseDurationSeconds === undefined ? otherwise : spec.leaseDurationSeconds * 1_000;
