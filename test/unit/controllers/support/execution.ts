/** The parts that an execution controller needs besides the API server. */
import type { ExecutionPorts } from '../../../../controllers/execution/index.ts';
import { inThisThread } from '../../../../src/blueprint/work.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { createTreeSizes } from '../../../../src/landscape/tree-size.ts';
import type { Ports } from './stage.ts';

/** @param limit the maximum number of objects of a tree */
export const portsOf = (
  { world, client, clock }: Ports,
  limit?: number,
  more: Partial<ExecutionPorts> = {},
): ExecutionPorts => ({
  world,
  client,
  clock,
  sources: {
    open: () => Promise.reject(new Error('no source cluster here')),
    close: () => Promise.resolve(),
  },
  servedTypes: new Set(),
  trees: createTreeSizes(world, limit),
  runnerOf: () => inThisThread({ clock, rng: seededRng(1) }),
  ...more,
});
