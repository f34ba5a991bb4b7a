/** One reconcile of one object: its known state, the changes, and the writes. */
import { timestamp, type Clock } from '../../lib/clock.ts';
import { copy, equal } from '../../lib/json.ts';
import { mergeDiff, mergePatch } from '../../lib/merge.ts';
import { writeStatus } from '../controller/controls.ts';
import { ApiError, TransportError } from '../errors.ts';
import { hasFinalizer } from '../controller/finalizer.ts';
import { keyOf } from '../keys.ts';
import type { Context, Kind, Meta, View } from '../types.ts';
import { annotationOf, annotations } from './annotations.ts';
import { Conditions, type StepEvent } from './conditions.ts';
import type { CreationAnnotations } from './creation.ts';
import type { NameStrategy } from './names.ts';
import type { ExternalObject, Observation } from './types.ts';
import { filledIn } from './late-initialization.ts';

export interface ExternalReconcilePorts<M extends ExternalObject> {
  readonly kind: Kind<M>;
  readonly finalizer: string;
  readonly names: NameStrategy<M>;
  readonly clock: Clock;
  /** Field manager of writes. */
  readonly manager: string;
}

/** The annotations must be written: only this process knows that the resource exists. */
const MAX_TRIES = 3;

/** The parts of an object that initializers change. */
interface Amended {
  readonly metadata: object;
  readonly spec: object;
}

export class ExternalReconcile<M extends ExternalObject> {
  /** Passed to handlers; collects the status. */
  readonly draft: M;
  readonly ctx: Context<M>;
  readonly #ports: ExternalReconcilePorts<M>;
  readonly #conditions: Conditions;
  /** The object as stored on the server. */
  #base: View<M>;

  constructor(object: View<M>, ctx: Context<M>, ports: ExternalReconcilePorts<M>) {
    this.ctx = ctx;
    this.#ports = ports;
    this.#base = object;
    this.draft = copy(object) as M;
    this.#conditions = new Conditions(object.status?.conditions ?? []);
  }

  get object(): View<M> {
    return this.#base;
  }

  /** The name of the resource in the service; undefined if the service has not chosen it yet. */
  get name(): string | undefined {
    return annotationOf(this.#base, 'name') ?? this.#ports.names.nameOf(this.#base);
  }

  /** Milliseconds since 1970. */
  get wall(): number {
    return this.#ports.clock.wall();
  }

  note(event: StepEvent, reason: string, message = ''): void {
    this.#conditions.note(event, reason, message);
  }

  /** Whether the last reconcile did all that the object requests; shown as the condition Synced. */
  synced(isSynced: boolean, reason: string, message = ''): void {
    this.#conditions.set('Synced', isSynced, reason, message);
  }

  notReady(reason: string, message: string): void {
    this.#conditions.set('Ready', false, reason, message);
  }

  // ------------------------------------------------------------ writes

  /**
   * Adds the finalizer and the annotations that are missing.
   * @throws Conflict when the object has changed, so the decision may be outdated
   */
  async prepare(creation: CreationAnnotations): Promise<void> {
    const { finalizer } = this.#ports;
    const { metadata } = this.#base;
    const news = Object.entries(creation).filter(
      ([name, value]) => (metadata.annotations?.[name] ?? null) !== value,
    );
    const isHeld = hasFinalizer(this.#base, finalizer);
    if (news.length === 0 && isHeld) return;
    await this.#patch(
      {
        resourceVersion: metadata.resourceVersion,
        ...(news.length > 0 && { annotations: Object.fromEntries(news) }),
        ...(!isHeld && { finalizers: [...(metadata.finalizers ?? []), finalizer] }),
      },
      this.ctx.signal,
    );
  }

  /**
   * Writes the annotations even if the object has changed, and even if the reconcile has to stop.
   * @throws the error of the last attempt
   */
  async record(creation: CreationAnnotations): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await this.#patch(
          { uid: this.#base.metadata.uid, annotations: creation },
          new AbortController().signal,
        );
        return;
      } catch (error) {
        const isPassing = error instanceof ApiError || error instanceof TransportError;
        if (!isPassing || tries >= MAX_TRIES) throw error;
      }
    }
  }

  /**
   * Stores fields of metadata and spec before the first step. Nothing is sent if nothing differs.
   * @param patches JSON merge patches of the object, in this order
   * @throws Conflict when the object has changed
   */
  async amend(patches: readonly object[]): Promise<void> {
    const before: Amended = { metadata: this.#base.metadata, spec: this.#base.spec ?? {} };
    const after = patches.reduce<Amended>((each, patch) => mergePatch(each, patch), copy(before));
    const news = mergeDiff(before, { metadata: after.metadata, spec: after.spec }) as
      { metadata?: object; spec?: object } | undefined;
    if (!news) return;
    const { resourceVersion } = this.#base.metadata;
    const spec = news.spec && { spec: news.spec };
    await this.#patch({ ...news.metadata, resourceVersion }, this.ctx.signal, spec);
  }

  /** Stores values that the service chose for open fields of the spec; existing values stay. */
  async storeLateValues(): Promise<boolean> {
    const before = this.#base.spec ?? {};
    const spec = filledIn(before, this.draft.spec ?? {});
    if (equal(before, spec)) return false;
    const { resourceVersion } = this.#base.metadata;
    await this.#patch({ resourceVersion }, this.ctx.signal, { spec });
    return true;
  }

  /** Stores the status with at most one request. */
  async storeStatus(): Promise<void> {
    const { clock, kind, manager } = this.#ports;
    const status = (this.draft.status ??= {});
    const conditions = this.#conditions.render(timestamp(clock), this.#base.metadata.generation);
    if (conditions.length > 0) status.conditions = conditions;
    const request = annotationOf(this.#base, 'request');
    if (request !== undefined) status.lastRequest = request;
    const version = this.#base.metadata.resourceVersion;
    const ports = { kind, manager, write: this.ctx.write, observed: undefined };
    this.#base = await writeStatus(this.draft, this.#base, { version }, ports);
  }

  /** Copies an observation to the status. */
  observed({ state, providerState, attributes }: Observation): void {
    const status = (this.draft.status ??= {});
    if (this.name !== undefined) status.id = this.name;
    status.state = providerState ?? state;
    if (attributes) status.attributes = copy(attributes);
    const { generation } = this.#base.metadata;
    if (generation !== undefined) status.observedGeneration = generation;
  }

  async #patch(metadata: object, signal: AbortSignal, more: object = {}): Promise<void> {
    const { kind } = this.#ports;
    const body = { metadata, ...more };
    const lock = 'resourceVersion' in metadata;
    const key = keyOf(this.#base);
    this.#base = (await this.ctx.write({ verb: 'merge', kind, key, body, lock }, signal)) as View<M>;
    this.draft.metadata = copy(this.#base.metadata) as Meta;
    if (this.#base.spec) this.draft.spec = copy(this.#base.spec);
  }

  /** The annotation with the name of the resource, if the object does not have it yet. */
  nameAnnotations(): CreationAnnotations {
    const { name } = this;
    return name === undefined ? {} : { [annotations.name]: name };
  }
}
