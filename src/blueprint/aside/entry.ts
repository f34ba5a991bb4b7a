/** What a thread of the pool runs: takes a job, does it, answers with the result or the error. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../lib/clock.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import type { TemplateLimits } from '../../templating/budget.ts';
import { toWire } from '../../templating/worker/errors-on-the-wire.ts';
import type { Assignment } from '../../templating/worker/pool.ts';
import { work, type WorkWorld } from '../work.ts';
import { pack } from './parcels.ts';
import { unpackJob, type WireAnswer, type WireJob } from './work-on-the-wire.ts';

const world: WorkWorld = {
  clock: systemClock,
  rng: secureRng,
  limits: workerData as Partial<TemplateLimits>,
};
const parcels = new Map<string, unknown>();

function answer(job: WireJob): WireAnswer {
  try {
    const run = work[job.kind] as (job: unknown, world: WorkWorld) => unknown;
    return {
      result: pack(
        run(
          unpackJob(job, (id) => parcels.get(id)),
          world,
        ),
      ),
    };
  } catch (error) {
    return { error: toWire(error) };
  }
}

parentPort?.on('message', ({ work: job, parcels: fresh, forget }: Assignment) => {
  for (const id of forget) parcels.delete(id);
  for (const [id, content] of fresh) parcels.set(id, content);
  parentPort?.postMessage(answer(job as WireJob));
});
