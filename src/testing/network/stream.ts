/** One open watch: frames wait here until the scheduler delivers them, late, in batches, or never. */
import { append } from '../../lib/lists.ts';
import { TransportError } from '../../runtime/errors.ts';
import type { Frame, Kind, Obj, WatchQuery } from '../../runtime/types.ts';
import type { Chance } from '../engine/chance.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Backend } from './backend.ts';
import { STALL_MS, drawFault, type FaultRates } from './faults.ts';

interface StreamPorts {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly faults: () => FaultRates;
  readonly isAlive: () => boolean;
  readonly owner: string;
  readonly lagMs: number;
}

export class Stream {
  readonly kind: Kind;
  readonly #ports: StreamPorts;
  /** In transit. */
  readonly #sent: Frame<Obj>[] = [];
  /** Arrived, not yet read. */
  readonly #arrived: Frame<Obj>[] = [];
  #wake: (() => void) | undefined;
  #isMoving = false;
  #isOver = false;
  #error: Error | undefined;
  #silentUntil = 0;
  #cancelTimeout = (): void => undefined;
  #close = (): void => undefined;

  constructor(kind: Kind, ports: StreamPorts) {
    this.kind = kind;
    this.#ports = ports;
  }

  get owner(): string {
    return this.#ports.owner;
  }

  async open(query: WatchQuery, server: Backend): Promise<void> {
    const { clock } = this.#ports.scheduler;
    const { timeoutSeconds = 300 } = query;
    this.#close = await server.watch(this.kind, query, {
      push: (frame) => this.#push(frame),
      end: () => this.end(),
    });
    this.#cancelTimeout = clock.at(clock.now() + timeoutSeconds * 1_000, () => {
      this.end();
    });
  }

  stall(ms: number): void {
    this.#silentUntil = Math.max(this.#silentUntil, this.#ports.scheduler.clock.now() + ms);
  }

  /** The next frame; undefined if the server has ended the watch. @throws the error that ended it */
  async next(): Promise<Frame<Obj> | undefined> {
    for (;;) {
      const frame = this.#arrived.shift();
      if (frame) return frame;
      if (this.#error) throw this.#error;
      if (this.#isOver) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Frames in transit are lost; a new watch can request them again. */
  end(error?: Error): void {
    if (this.#isOver) return;
    this.#error = error;
    this.abandon();
    this.#wake?.();
  }

  /** Breaks the connection. */
  cut(): void {
    this.end(new TransportError({ message: 'the watch was cut', safeToRepeat: true }));
  }

  /** Ends the watch of a killed process, which does not notice it. */
  abandon(): void {
    this.#isOver = true;
    this.#sent.length = 0;
    this.#cancelTimeout();
    this.#close();
  }

  #push(frame: Frame<Obj>): void {
    if (this.#isOver) return;
    this.#sent.push(frame);
    this.#move();
  }

  #move(): void {
    if (this.#isMoving || this.#sent.length === 0) return;
    this.#isMoving = true;
    const { scheduler, chance, lagMs } = this.#ports;
    const silence = Math.max(0, this.#silentUntil - scheduler.clock.now());
    scheduler.add(() => this.#deliver(), silence + (lagMs > 0 ? chance.between(0, lagMs) : 0));
  }

  #deliver(): void {
    this.#isMoving = false;
    const { chance, scheduler, isAlive, faults } = this.#ports;
    if (this.#isOver || !isAlive() || this.#sent.length === 0) return;
    const { watch, stall } = faults();
    if (chance.happens(stall)) {
      scheduler.trace.note(() => `${this.owner}   ~ watch ${this.kind.kind}  [stalled]`);
      this.stall(chance.between(100, STALL_MS));
      this.#move();
      return;
    }
    const fault = drawFault(watch, chance);
    if (fault) {
      scheduler.trace.note(() => `${this.owner}   ~ watch ${this.kind.kind}  [${fault}]`);
      this.#break(fault);
      return;
    }
    const frames = this.#sent.splice(0, chance.between(1, this.#sent.length));
    scheduler.trace.note(
      () => `${this.owner}   ~ watch ${this.kind.kind}: ${frames.map(describeFrame).join(', ')}`,
    );
    append(this.#arrived, frames);
    this.#wake?.();
    this.#move();
  }

  #break(fault: 'cut' | 'ended' | 'gone'): void {
    if (fault === 'gone') {
      const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
      this.#arrived.push({ type: 'ERROR', status });
    }
    if (fault === 'cut') this.cut();
    else this.end();
  }
}

const describeFrame = (frame: Frame<Obj>): string =>
  'object' in frame
    ? `${frame.type} ${frame.object.metadata.name} v${frame.object.metadata.resourceVersion ?? ''}`
    : frame.type;
