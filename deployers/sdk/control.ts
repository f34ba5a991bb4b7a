/** What a reconcile of a deploy item asks of the runtime: it has written everything itself. */
import type { UpdateControl } from '../../src/runtime/types.ts';
import type { DeployItem } from './kinds.ts';

export type Control = UpdateControl<DeployItem>;

/** Until an event. */
export const rest: Control = { write: 'none' };

export const requeueAfter = (ms: number): Control => ({
  write: 'none',
  requeueAfterMs: Math.max(1, Math.round(ms)),
});
