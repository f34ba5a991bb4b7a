/** The speed of this machine, so that limits in milliseconds mean the same on a slower one. */
import { processorMs } from './slices.ts';

/** Milliseconds of `work()` on the machine for which the limits were chosen, with Node.js 20. */
const REFERENCE_MS = 5.5;
/** Linux counts processor time in steps of 4 ms, so one turn is too short to be measured. */
const TIMES = 50;

const sample = JSON.stringify(
  Array.from({ length: 4_000 }, (_, i) => ({
    metadata: { name: `object-${String(i)}`, namespace: 'default', labels: { app: 'yardstick' } },
    spec: { replicas: i, steps: ['one', 'two', 'three'], settings: { a: 1, b: true, c: null } },
  })),
);

/** What a start mostly does: parses objects, and keeps them by name. */
function work(): number {
  const objects = JSON.parse(sample) as readonly { readonly metadata: { readonly name: string } }[];
  return new Map(objects.map((object) => [object.metadata.name, object])).size;
}

/** How many times slower this machine is than the one for which the limits were chosen; at least 1. */
export function slowness(): number {
  const start = processorMs();
  for (let i = 0; i < TIMES; i++) work();
  return Math.max(1, (processorMs() - start) / TIMES / REFERENCE_MS);
}
