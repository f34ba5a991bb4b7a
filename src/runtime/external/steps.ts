/** The steps of a reconcile: observe, then create, update, delete or wait. Each ends with a status write. */
import { messageOf } from '../../lib/message-of.ts';
import type { Rng } from '../../lib/rng.ts';
import { isPositive, shown } from '../../lib/positive.ts';
import { NoRetryError, NotFound } from '../errors.ts';
import { removeFinalizer } from '../controller/finalizer.ts';
import { jittered } from '../queue/retry.ts';
import type { Client, View } from '../types.ts';
import { pollIntervalError, pollIntervalMs } from './annotations.ts';
import { checkCreated, checkObservation, checkRecovered, checkUpdated } from './check-answers.ts';
import { schemaProblem, type Schema } from './check-schema.ts';
import {
  creationStart,
  failedAnnotations,
  graceLeftMs,
  interruptedMessage,
  pendingAnnotations,
  succeededAnnotations,
  unseenLeftMs,
  type CreationAnnotations,
} from './creation.ts';
import { OutcomeUnknown } from './errors.ts';
import { ended, failed, missing, WAIT_FOR_EVENT, type Outcome } from './outcome.ts';
import type { ExternalReconcile, ExternalReconcilePorts } from './external-reconcile.ts';
import { needsFinalizer, type Policies } from './policies.ts';
import type { Drifts } from './drift.ts';
import type { Publisher, SecretPlace } from './secret.ts';
import type {
  Created,
  ConnectionDetails,
  ExternalHandler,
  ExternalObject,
  Observation,
  Recovered,
  Updated,
} from './types.ts';

export interface StepPorts<M extends ExternalObject> extends ExternalReconcilePorts<M> {
  readonly client: Client;
  readonly rng: Rng;
  /** Absent: connection details are not published. */
  readonly publisher?: Publisher | undefined;
  readonly secretOf: (object: View<M>) => SecretPlace | undefined;
  /** Milliseconds between two observations of a resource that is up to date, unless the object has an annotation. */
  readonly pollMs: number | ((object: View<M>) => number);
  /** Random share by which this time varies. */
  readonly pollJitter: number;
  /** How long a created resource may be invisible. */
  readonly graceMs: number;
  readonly drifts?: Drifts | undefined;
  readonly attributesSchema?: Schema<unknown> | undefined;
  /** Minimum for the annotation. */
  readonly minPollMs: number;
  /** Milliseconds between two observations while the service is working. */
  readonly pendingMs: number;
}

const NOT_THERE: Observation = { exists: false, upToDate: false, state: 'unknown' };

export class Steps<M extends ExternalObject> {
  readonly #ports: StepPorts<M>;
  /** Results of creations that could not be stored, by uid. The next reconcile stores them first. */
  readonly #unrecorded = new Map<string, CreationAnnotations>();

  constructor(ports: StepPorts<M>) {
    this.#ports = ports;
  }

  async sync(
    reconcile: ExternalReconcile<M>,
    handler: ExternalHandler<M>,
    policies: Policies,
  ): Promise<Outcome> {
    let seen: Observation;
    try {
      seen = await this.#observe(reconcile, handler);
      this.#checkAttributes(seen);
    } catch (error) {
      return failed(reconcile, 'ObserveFailed', error);
    }
    reconcile.note('succeed', 'Observed');
    if (!seen.exists) return this.#absent(reconcile, handler, policies);
    if (seen.lateInitialized && policies.allowed.has('LateInitialize') && (await reconcile.storeLateValues()))
      reconcile.ctx.event(
        'Normal',
        'LateInitialized',
        'Unset fields now contain the values that the service chose.',
      );
    if (needsFinalizer(policies)) await reconcile.prepare(reconcile.nameAnnotations());
    reconcile.observed(seen);
    reconcile.note(`observe ${seen.state}`, observedReason[seen.state], seen.message);
    // In every state: a password may be rotated while the service is still updating the resource.
    const refused = await this.#publish(reconcile, seen.connectionDetails);
    if (refused) return refused;
    if (seen.state === 'creating' || seen.state === 'updating' || seen.state === 'deleting')
      return ended(reconcile, this.#ports.pendingMs);

    if (seen.upToDate) this.#ports.drifts?.inSync(reconcile.object);
    else this.#ports.drifts?.differs(reconcile.object);
    if (!seen.upToDate && policies.allowed.has('Update'))
      return this.update(reconcile, handler, seen.message);
    if (seen.upToDate) reconcile.note('in step', 'UpToDate');
    return ended(reconcile, this.#pollMs(reconcile));
  }

  async #absent(
    reconcile: ExternalReconcile<M>,
    handler: ExternalHandler<M>,
    policies: Policies,
  ): Promise<Outcome> {
    const graceMs = this.#graceLeftMs(reconcile);
    if (graceMs > 0) return ended(reconcile, graceMs);
    this.#ports.drifts?.differs(reconcile.object);
    if (policies.allowed.has('Create')) return this.create(reconcile, handler);
    if (reconcile.draft.status) delete reconcile.draft.status.state;
    return missing(reconcile, this.#pollMs(reconcile));
  }

  async create(reconcile: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Outcome> {
    reconcile.note('begin create', 'CreationRequested');
    const begunAt = reconcile.wall;
    await reconcile.prepare(pendingAnnotations(begunAt, reconcile.name));
    const status = (reconcile.draft.status ??= {});
    delete status.state;
    let created: Created;
    try {
      created = checkCreated(await handler.create(reconcile.draft, reconcile.name ?? ''));
    } catch (error) {
      const isUnknown = error instanceof OutcomeUnknown || reconcile.ctx.signal.aborted;
      if (isUnknown && !this.#ports.names.isDeterministic) {
        if (handler.recover) return failed(reconcile, 'CreationInterrupted', error);
        const message = `${messageOf(error)}; ${interruptedMessage(reconcile.object)}`;
        return failed(reconcile, 'CreationInterrupted', new NoRetryError({ message, cause: error }));
      }
      // If the clock was set back, the result must not look older than the start.
      await this.#record(reconcile, failedAnnotations(Math.max(begunAt, reconcile.wall)));
      if (error instanceof NoRetryError) reconcile.note('give up creating', 'CreateFailed', error.message);
      return failed(reconcile, 'CreateFailed', error);
    }
    await this.#record(
      reconcile,
      succeededAnnotations(Math.max(begunAt, reconcile.wall), created.externalName),
    );
    if (reconcile.name !== undefined) status.id = reconcile.name;
    reconcile.draft.status = status;
    report(reconcile, 'Created', 'the creation');
    return (
      (await this.#publish(reconcile, created.connectionDetails)) ?? ended(reconcile, this.#ports.pendingMs)
    );
  }

  /**
   * Asks the handler what an interrupted creation created, and records it.
   * @returns the end of the reconcile; undefined if it can go on
   */
  async recover(reconcile: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Outcome | undefined> {
    if (!handler.recover) {
      const message = interruptedMessage(reconcile.object);
      return failed(reconcile, 'CreationInterrupted', new NoRetryError({ message }));
    }
    const start = creationStart(reconcile.object);
    let found: Recovered;
    try {
      found = checkRecovered(await handler.recover(reconcile.draft, start.text));
    } catch (error) {
      return failed(reconcile, 'RecoverFailed', error);
    }
    // If the clock was set back, the result must not look older than the start.
    const now = Math.max(start.ms, reconcile.wall);
    if (found.created) {
      await this.#record(reconcile, succeededAnnotations(now, found.externalName));
      const note = `Found ${found.externalName}, which an interrupted creation had created.`;
      reconcile.ctx.event('Normal', 'Recovered', note);
      return undefined;
    }
    const unseenMs = unseenLeftMs(reconcile.object, reconcile.wall, this.#ports.graceMs);
    if (unseenMs > 0) return ended(reconcile, unseenMs);
    await this.#record(reconcile, failedAnnotations(now));
    return undefined;
  }

  async update(
    reconcile: ExternalReconcile<M>,
    handler: ExternalHandler<M>,
    difference?: string,
  ): Promise<Outcome> {
    reconcile.note('begin update', 'Different', difference);
    let updated: Updated;
    try {
      updated = checkUpdated(await handler.update(reconcile.draft, reconcile.name ?? ''));
    } catch (error) {
      return failed(reconcile, 'UpdateFailed', error);
    }
    report(reconcile, 'Updated', 'an update');
    return (
      (await this.#publish(reconcile, updated.connectionDetails)) ?? ended(reconcile, this.#ports.pendingMs)
    );
  }

  async delete(reconcile: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Outcome> {
    reconcile.note('begin delete', 'DeletionRequested');
    let seen: Observation;
    try {
      seen = await this.#observe(reconcile, handler);
    } catch (error) {
      return failed(reconcile, 'ObserveFailed', error);
    }
    // A resource that was just created may exist although it is not visible yet, or not visible again.
    const hiddenMs = reconcile.object.status?.state === 'deleting' ? 0 : this.#graceLeftMs(reconcile);
    if (!seen.exists && hiddenMs === 0) return this.release(reconcile);
    try {
      await handler.delete(reconcile.draft, reconcile.name ?? '');
    } catch (error) {
      return failed(reconcile, 'DeleteFailed', error);
    }
    report(reconcile, 'Deleted', 'the deletion');
    if (seen.exists) reconcile.observed({ ...seen, state: 'deleting' });
    reconcile.note('succeed', 'Observed');
    return ended(reconcile, seen.exists ? this.#ports.pendingMs : hiddenMs);
  }

  /** Nothing is left to do in the service: removes the finalizer. */
  async release(reconcile: ExternalReconcile<M>): Promise<Outcome> {
    const { publisher, secretOf, kind, finalizer, client } = this.#ports;
    const { write, signal } = reconcile.ctx;
    const place = secretOf(reconcile.object);
    if (publisher && place) {
      try {
        await publisher.remove(reconcile.object, place, { write, signal });
      } catch (error) {
        if (!(error instanceof NotFound)) return failed(reconcile, 'UnpublishFailed', error);
      }
    }
    await removeFinalizer(kind, reconcile.object, finalizer, { client, write, signal });
    return WAIT_FOR_EVENT;
  }

  // ------------------------------------------------------------ helpers

  /** Without a name, the resource cannot be observed. */
  async #observe(reconcile: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Observation> {
    if (reconcile.name === undefined) return NOT_THERE;
    return checkObservation(await handler.observe(reconcile.draft, reconcile.name));
  }

  /** @throws TypeError that names the attribute */
  #checkAttributes({ exists, attributes }: Observation): void {
    const { attributesSchema: schema } = this.#ports;
    if (!schema || !exists) return;
    const problem = schemaProblem(schema, attributes, 'attributes');
    if (problem !== undefined) throw new TypeError(`observe returned invalid attributes: ${problem}`);
  }

  async #publish(
    reconcile: ExternalReconcile<M>,
    details: ConnectionDetails | undefined,
  ): Promise<Outcome | undefined> {
    const place = this.#ports.secretOf(reconcile.object);
    if (!details || !place || !this.#ports.publisher) return undefined;
    const { write, signal } = reconcile.ctx;
    try {
      await this.#ports.publisher.publish(reconcile.object, place, details, { write, signal });
      return undefined;
    } catch (error) {
      return failed(reconcile, 'PublishFailed', error);
    }
  }

  /** Stores the result of a creation on the object, now or at the start of the next reconcile. */
  async #record(reconcile: ExternalReconcile<M>, creation: CreationAnnotations): Promise<void> {
    try {
      await reconcile.record(creation);
    } catch (error) {
      this.#unrecorded.set(reconcile.object.metadata.uid ?? '', creation);
      throw error;
    }
  }

  /** @returns whether the object still exists */
  async recordLate(reconcile: ExternalReconcile<M>): Promise<boolean> {
    const uid = reconcile.object.metadata.uid ?? '';
    const creation = this.#unrecorded.get(uid);
    if (!creation) return true;
    try {
      await reconcile.record(creation);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#unrecorded.delete(uid);
      return false;
    }
    this.#unrecorded.delete(uid);
    return true;
  }

  /** The object is deleted, so the result of its creation cannot be stored any more. */
  forget(object: View<M>): void {
    this.#unrecorded.delete(object.metadata.uid ?? '');
    this.#ports.drifts?.forget(object);
  }

  #pollMs(reconcile: ExternalReconcile<M>): number {
    const { pollMs: given, pollJitter, minPollMs, rng } = this.#ports;
    const chosen = typeof given === 'function' ? given(reconcile.draft as View<M>) : given;
    if (!isPositive(chosen))
      throw new TypeError(`pollMs returned ${shown(chosen)}; it must be a positive number of milliseconds`);
    const pollMs = typeof given === 'function' ? Math.max(minPollMs, chosen) : chosen;
    const problem = pollIntervalError(reconcile.object);
    if (problem !== undefined) reconcile.ctx.event('Warning', 'InvalidPollInterval', problem);
    return jittered(pollIntervalMs(reconcile.object, pollMs, minPollMs), pollJitter, rng);
  }

  #graceLeftMs({ object, wall }: ExternalReconcile<M>): number {
    return graceLeftMs(object, wall, this.#ports.graceMs);
  }
}

const report = <M extends ExternalObject>(
  { ctx, name }: ExternalReconcile<M>,
  reason: string,
  request: string,
): void => ctx.event('Normal', reason, `Requested ${request} of ${name ?? 'the resource'}.`);

const observedReason = {
  creating: 'BeingCreated',
  ready: 'Available',
  updating: 'BeingUpdated',
  deleting: 'BeingDeleted',
  failed: 'FailedOutside',
  unknown: 'StateUnknown',
} as const;
