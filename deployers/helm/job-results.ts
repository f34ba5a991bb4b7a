/**
 * Results of steps that a job needs again when it is reconciled again: the chart and the rendered objects. A job may
 * wait for hours, and charts determine how large its results are. So large results share a limited part of the memory
 * of the process; one that had to make place for others is computed again. Those that reconciles use have a limit of
 * their own; a reconcile for which too little is left ends, and is repeated.
 */
import { ByteBudget, type ByteShare } from '../../src/lib/byte-budget.ts';
import { SizedMap } from '../../src/lib/sized-map.ts';
import { valuesIn } from '../objects/manifests/kept-objects.ts';
import { wait, type Outcome } from '../sdk/outcome.ts';
import type { HelmContext } from './helm-context.ts';

/** Of all large results. */
const MAX_BYTES = 64 * 2 ** 20;
/** Of all reconciles that use large results at the same time; at most half of it for several of one namespace. */
const MAX_BYTES_IN_USE = 256 * 2 ** 20;
/** A reconcile that uses less does not count. */
const FREE_BYTES = 4 * 2 ** 20;
const REPEAT_AFTER_MS = 5_000;
/** What the last reconcile of a job needed and did not get, in its scratch: the next one loads nothing before it has that. */
const NEEDED = 'bytes in use';
/** Smaller results are kept with the job, and end with it. */
const SMALL_BYTES = 64 * 2 ** 10;
/** Of a value, including up to 64 characters of a string. */
const VALUE_BYTES = 64;

const STEPS = ['chart', 'capabilities', 'values', 'manifests', 'released'] as const;
type Step = (typeof STEPS)[number];

/** Too little memory is left for the results of a reconcile. */
class TooMuchInUse extends Error {}

/** What a reconcile uses, and what is reserved for it. */
interface Use {
  bytes: number;
  reserved: number;
  share?: ByteShare;
}

interface Large {
  readonly result: unknown;
  readonly bytes: number;
}

export class JobResults {
  readonly #large = new SizedMap<Large>(MAX_BYTES, ({ bytes }) => bytes);
  readonly #budget = new ByteBudget(MAX_BYTES_IN_USE);
  /** By the uid of the item, which is not reconciled twice at the same time. */
  readonly #uses = new Map<string, Use>();

  /** Bytes of all large results. */
  get size(): number {
    return this.#large.size;
  }

  /** Runs a reconcile, whose large results count while it runs. Waits if other reconciles use too much memory. */
  async during<S>(ctx: HelmContext, reconcile: () => Promise<Outcome<S>>): Promise<Outcome<S>> {
    const { uid = '' } = ctx.item.metadata;
    const use: Use = { bytes: 0, reserved: 0 };
    this.#uses.set(uid, use);
    try {
      this.#reserve(ctx, use, Number(ctx.scratch.get(NEEDED) ?? 0));
      return this.#untilEnd(ctx, await reconcile());
    } catch (error) {
      if (!(error instanceof TooMuchInUse)) throw error;
      this.#forget(ctx);
      const message = `the large charts of other deploy items use the memory; the next attempt is in ${String(REPEAT_AFTER_MS / 1000)} s`;
      const why = { operation: 'Reconcile', reason: 'MemoryInUse', message };
      return wait({ why, onTimeout: why, requeueAfterMs: REPEAT_AFTER_MS });
    } finally {
      this.#uses.delete(uid);
      use.share?.release();
    }
  }

  /** Runs a step once per job and generation, even if the job is reconciled several times. */
  async once<T>(
    ctx: HelmContext,
    step: Step,
    work: () => Promise<T>,
    bytesOf: (result: T) => number = jsonBytes,
  ): Promise<T> {
    if (ctx.scratch.has(step)) return ctx.scratch.get(step) as T;
    const key = keyOf(ctx, step);
    const known = this.#large.get(key);
    if (known) return this.#used(ctx, known) as T;
    const result = await work();
    const bytes = bytesOf(result);
    if (bytes <= SMALL_BYTES) {
      ctx.scratch.set(step, result);
      return result;
    }
    this.#used(ctx, { result, bytes });
    this.#large.set(key, { result, bytes });
    return result;
  }

  /** @throws TooMuchInUse */
  #used(ctx: HelmContext, { result, bytes }: Large): unknown {
    const use = this.#uses.get(ctx.item.metadata.uid ?? '');
    if (!use) return result;
    use.bytes += bytes;
    this.#reserve(ctx, use, use.bytes);
    return result;
  }

  /** @throws TooMuchInUse */
  #reserve({ item, scratch }: HelmContext, use: Use, bytes: number): void {
    if (bytes <= Math.max(use.reserved, FREE_BYTES)) return;
    // One share for all, so that a reconcile alone may have more than half.
    use.share?.release();
    const share = this.#budget.takeNow(bytes, item.metadata.namespace ?? '');
    if (!share) {
      scratch.set(NEEDED, bytes);
      throw new TooMuchInUse();
    }
    use.share = share;
    use.reserved = bytes;
  }

  /** Releases the large results if the outcome ends the job. Those of jobs that end otherwise make place for others. */
  #untilEnd<S>(ctx: HelmContext, outcome: Outcome<S>): Outcome<S> {
    if (outcome.kind === 'done' || outcome.kind === 'fail') this.#forget(ctx);
    return outcome;
  }

  #forget(ctx: HelmContext): void {
    for (const step of STEPS) this.#large.delete(keyOf(ctx, step));
  }
}

function keyOf({ item }: HelmContext, step: Step): string {
  const { uid = '', generation = 0 } = item.metadata;
  return [uid, item.status?.jobID ?? '', String(generation), step].join(' ');
}

/** Approximate bytes of JSON in memory. */
export const jsonBytes = (value: unknown): number => VALUE_BYTES * valuesIn(value, MAX_BYTES / VALUE_BYTES);
