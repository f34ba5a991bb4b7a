/** The entry point of a worker of the pool: takes a job, runs it, and answers with the result or the error. */
import { givenArgument } from '../../lib/child-channel.ts';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import { DEFAULT_LIMITS, type TemplateLimits } from '../../templating/budget.ts';
import { ownCpuClock } from '../../templating/worker/cpu-time.ts';
import { toWire } from '../../templating/worker/errors-on-the-wire.ts';
import { serve } from '../../templating/worker/serve.ts';
import { work, type WorkWorld } from '../work.ts';
import { pack, sizeOf } from './messages.ts';
import { unpackJob, type WireAnswer, type WireJob } from './wire.ts';

const cpuMs = ownCpuClock();
/** Durations are processor time of this worker, so the load of other processes does not count against the limits. */
const clock: Clock = { ...systemClock, now: cpuMs };
const limits = givenArgument() as Partial<TemplateLimits>;
const { maxOutputBytes } = { ...DEFAULT_LIMITS, ...limits };
const world: WorkWorld = { clock, rng: secureRng, limits };

function answer(job: WireJob, sharedData: (id: string) => unknown): WireAnswer {
  try {
    const run = work[job.kind] as (job: unknown, world: WorkWorld) => unknown;
    const value = run(unpackJob(job, sharedData), world);
    // Strings only, up to their own limit.
    if (job.kind === 'unpackItems') return { result: { value } };
    const result = pack(value);
    return sizeOf(result) > maxOutputBytes ? { tooLarge: true } : { result };
  } catch (error) {
    return { error: toWire(error) };
  }
}

serve({ answer: (job, sharedData) => answer(job as WireJob, sharedData), cpuMs });
