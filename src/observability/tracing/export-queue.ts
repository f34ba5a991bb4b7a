/**
 * Sends spans in batches, one batch at a time. Reconciles never wait for it: if the collector is slow or not reachable,
 * the queue fills up and further spans are counted and dropped.
 */
import { messageOf } from '../../lib/message-of.ts';
import { sleep, type Clock } from '../../lib/clock.ts';
import { append } from '../../lib/lists.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Span } from './span.ts';

/** Limits of the queue; the names in the comments are those of the standard environment variables. */
export interface QueueLimits {
  /** OTEL_BSP_SCHEDULE_DELAY */
  readonly delayMs: number;
  /** OTEL_BSP_MAX_QUEUE_SIZE */
  readonly maxSpans: number;
  /** OTEL_BSP_MAX_EXPORT_BATCH_SIZE */
  readonly batchSpans: number;
}

interface QueuePorts {
  /** Sends one batch; rejects if the collector did not accept it. */
  readonly send: (spans: readonly Span[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Metrics;
}

/** How long `close` waits for the collector. */
export const CLOSE_MS = 5_000;

type Outcome = 'exported' | 'dropped';

export class ExportQueue {
  readonly #ports: QueuePorts;
  readonly #limits: QueueLimits;
  readonly #count: (outcome: Outcome, spans: number) => void;
  #spans: Span[] = [];
  #sending: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #isFailing = false;
  #isClosed = false;

  constructor(limits: QueueLimits, ports: QueuePorts) {
    this.#limits = limits;
    this.#ports = ports;
    const counter = ports.metrics.counter({
      name: 'espalier_trace_spans_total',
      help: 'Spans by outcome: exported to the collector, or dropped.',
      labels: ['outcome'],
      zero: [{ outcome: 'exported' }, { outcome: 'dropped' }],
    });
    this.#count = (outcome, spans) => {
      if (spans > 0) counter.inc({ outcome }, spans);
    };
  }

  add(spans: readonly Span[]): void {
    const fitting = this.#isClosed ? 0 : Math.max(0, this.#limits.maxSpans - this.#spans.length);
    this.dropped(spans.length - Math.min(fitting, spans.length));
    append(this.#spans, spans.slice(0, fitting));
    if (this.#spans.length >= this.#limits.batchSpans) void this.#sendAll(this.#limits.batchSpans);
    else this.#schedule();
  }

  dropped(spans: number): void {
    this.#count('dropped', spans);
  }

  /** Sends what is left, for at most `CLOSE_MS`; the rest is dropped. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    const late = new AbortController();
    await Promise.race([
      this.#sendAll(1),
      sleep(this.#ports.clock, CLOSE_MS, late.signal).catch(() => undefined),
    ]);
    late.abort();
    this.dropped(this.#spans.length);
    this.#spans = [];
  }

  #schedule(): void {
    if (this.#cancelTimer || this.#spans.length === 0 || this.#isClosed) return;
    const { clock } = this.#ports;
    this.#cancelTimer = clock.at(clock.now() + this.#limits.delayMs, () => {
      this.#cancelTimer = undefined;
      void this.#sendAll(1);
    });
  }

  /** Sends batches until fewer than `least` spans are left; after `close`, all of them. */
  #sendAll(least: number): Promise<void> {
    this.#sending ??= this.#pump(least).finally(() => {
      this.#sending = undefined;
      this.#schedule();
    });
    return this.#sending;
  }

  async #pump(least: number): Promise<void> {
    while (this.#spans.length >= (this.#isClosed ? 1 : least)) {
      await this.#send(this.#spans.splice(0, this.#limits.batchSpans));
    }
  }

  async #send(batch: readonly Span[]): Promise<void> {
    const { send, log } = this.#ports;
    try {
      await send(batch);
      this.#count('exported', batch.length);
      if (this.#isFailing) log.info({}, 'traces are exported again');
      this.#isFailing = false;
    } catch (error) {
      this.#count('dropped', batch.length);
      // One line for each outage, however long it lasts; the metric shows how much is lost.
      if (!this.#isFailing) log.warn({ err: messageOf(error) }, 'exporting traces failed, dropping spans');
      this.#isFailing = true;
    }
  }
}
