/** What a worker of the pool runs: takes a job, does it, answers with the result or the error. */
import { givenArgument } from '../../lib/child-channel.ts';
import { systemClock, type Clock } from '../../lib/clock.ts';
import { secureRng } from '../../lib/secure-rng.ts';
import { DEFAULT_LIMITS, type TemplateLimits } from '../../templating/budget.ts';
import { ownCpuClock } from '../../templating/worker/cpu-time.ts';
import { toWire } from '../../templating/worker/errors-on-the-wire.ts';
import { serve } from '../../templating/worker/serve.ts';
import { work, type WorkWorld } from '../work.ts';
import { pack, sizeOf } from './parcels.ts';
import { unpackJob, type WireAnswer, type WireJob } from './work-on-the-wire.ts';

const cpuMs = ownCpuClock();
/** Durations are processor time of this worker: limits do not count what others take from it. */
const clock: Clock = { ...systemClock, now: cpuMs };
const limits = givenArgument() as Partial<TemplateLimits>;
const { maxOutputBytes } = { ...DEFAULT_LIMITS, ...limits };
const world: WorkWorld = { clock, rng: secureRng, limits };

function answer(job: WireJob, parcel: (id: string) => unknown): WireAnswer {
  try {
    const run = work[job.kind] as (job: unknown, world: WorkWorld) => unknown;
    const value = run(unpackJob(job, parcel), world);
    // Strings alone, within a limit of their own.
    if (job.kind === 'unpackItems') return { result: { value } };
    const result = pack(value);
    return sizeOf(result) > maxOutputBytes ? { tooLarge: true } : { result };
  } catch (error) {
    return { error: toWire(error) };
  }
}

serve({ answer: (job, parcel) => answer(job as WireJob, parcel), cpuMs });
