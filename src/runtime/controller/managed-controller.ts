/** A controller as others see it: sources and authors, and its manager. */
import type { TakeOver } from './share.ts';
import type { Source } from '../sources/sources.ts';
import type { Cache, Key, Kind, Obj, View } from '../types.ts';

/** A controller from the outside. */
export interface Controller<P extends Obj = Obj> {
  readonly name: string;
  readonly kind: Kind<P>;
  /** Queues a primary; keys that do not exist are ignored. */
  enqueue(key: Key, why?: string): void;
  /**
   * Adds a source to a running controller; resolves when it is synced. A source whose name already exists is ignored.
   */
  addSource(source: Source<P>): Promise<void>;
  removeSource(name: string): void;
  hasSource(name: string): boolean;
}

/** A controller as its manager uses it: the steps of its life cycle, in order. */
export interface ManagedController extends Controller {
  readonly cache: Cache<Obj>;
  /** Subscribes to all caches and sources; called before the caches start. */
  attach(): void;
  /** Resolves when all sources are synced. @throws DefinitionError before `attach` */
  startSources(signal: AbortSignal): Promise<void>;
  startWorkers(): void;
  /** See `Revisit.prepare`. */
  prepare(objects: TakeOver, signal: AbortSignal): Promise<void>;
  /** Queues the objects that `concerns` accepts. Never rejects. */
  revisit(concerns: (object: View<Obj>) => boolean): Promise<void>;
  revisitOne(object: View<Obj>): void;
  /** Starts and schedules no more reconciles; resolves when the last active one has ended. */
  stop(): Promise<void>;
  /** Aborts the signals of all active reconciles. */
  abortReconciles(reason: Error): void;
  /** The objects that are being reconciled. */
  readonly active: readonly Key[];
  /** Number of active reconciles and ready keys. */
  readonly pending: number;
}
