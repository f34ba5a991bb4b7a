/** The steps of a run: look, then create, update, delete or wait. Each ends with a status write. */
import type { Rng } from '../../lib/rng.ts';
import { NoRetryError, NotFound } from '../errors.ts';
import { removeFinalizer } from '../controller/finalizer.ts';
import { jittered } from '../queue/retry.ts';
import type { Client, View } from '../types.ts';
import { pollIntervalError, pollIntervalMs } from './annotations.ts';
import {
  failedMarks,
  graceLeftMs,
  interruptedMessage,
  pendingMarks,
  succeededMarks,
  type Marks,
} from './creation.ts';
import { OutcomeUnknown } from './errors.ts';
import { ended, failed, messageOf, REST, type Outcome } from './outcome.ts';
import type { ExternalReconcile, ExternalReconcilePorts } from './external-reconcile.ts';
import { needsFinalizer, type Policies } from './policies.ts';
import type { Publisher, SecretPlace } from './secret.ts';
import type {
  Created,
  ConnectionDetails,
  ExternalHandler,
  ExternalObject,
  Observation,
  Updated,
} from './types.ts';

export interface StepPorts<M extends ExternalObject> extends ExternalReconcilePorts<M> {
  readonly client: Client;
  readonly rng: Rng;
  /** Absent: details are not published. */
  readonly publisher?: Publisher | undefined;
  readonly secretOf: (object: View<M>) => SecretPlace | undefined;
  /** Milliseconds between two looks at something that is as it should be, unless the object says otherwise. */
  readonly pollMs: number;
  /** What objects may ask for at least. */
  readonly minPollMs: number;
  /** Milliseconds between two looks at something that is being worked on. */
  readonly pendingMs: number;
}

const POLL_JITTER = 0.1;
const NOT_THERE: Observation = { exists: false, upToDate: false, state: 'unknown' };

export class Steps<M extends ExternalObject> {
  readonly #ports: StepPorts<M>;
  /** Ends of creations that could not be written down, by uid: the first thing to do in the next run. */
  readonly #unrecorded = new Map<string, Marks>();

  constructor(ports: StepPorts<M>) {
    this.#ports = ports;
  }

  async sync(pass: ExternalReconcile<M>, handler: ExternalHandler<M>, policies: Policies): Promise<Outcome> {
    let seen: Observation;
    try {
      seen = await this.#observe(pass, handler);
    } catch (error) {
      return failed(pass, 'ObserveFailed', error);
    }
    pass.note('succeed', 'Observed');
    if (!seen.exists) return this.#absent(pass, handler, policies);
    if (seen.lateInitialized && policies.allowed.has('LateInitialize') && (await pass.storeLateValues()))
      pass.ctx.event(
        'Normal',
        'LateInitialized',
        'Unset fields now contain the values that the service chose.',
      );
    if (needsFinalizer(policies)) await pass.prepare(pass.nameMarks());
    pass.observed(seen);
    pass.note(`observe ${seen.state}`, observedReason[seen.state], seen.message);
    if (seen.state === 'creating' || seen.state === 'updating' || seen.state === 'deleting')
      return ended(pass, this.#ports.pendingMs);

    if (seen.state === 'ready') {
      const refused = await this.#publish(pass, seen.connectionDetails);
      if (refused) return refused;
    }
    if (!seen.upToDate && policies.allowed.has('Update')) return this.update(pass, handler, seen.message);
    if (seen.upToDate) pass.note('in step', 'UpToDate');
    return ended(pass, this.#pollMs(pass));
  }

  async #absent(
    pass: ExternalReconcile<M>,
    handler: ExternalHandler<M>,
    policies: Policies,
  ): Promise<Outcome> {
    const graceMs = graceLeftMs(pass.object, pass.wall);
    if (graceMs > 0) return ended(pass, graceMs);
    if (policies.allowed.has('Create')) return this.create(pass, handler);
    pass.note('observe unknown', 'NotFound');
    if (pass.draft.status) delete pass.draft.status.state;
    return ended(pass, this.#pollMs(pass));
  }

  async create(pass: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Outcome> {
    pass.note('begin create', 'CreationRequested');
    const begunAt = pass.wall;
    await pass.prepare(pendingMarks(begunAt, pass.name));
    const status = (pass.draft.status ??= {});
    delete status.state;
    let created: Created;
    try {
      created = await handler.create(pass.draft, pass.name ?? '');
    } catch (error) {
      const isUnknown = error instanceof OutcomeUnknown || pass.ctx.signal.aborted;
      if (isUnknown && !this.#ports.names.isDeterministic) {
        const message = `${messageOf(error)}; ${interruptedMessage(pass.object)}`;
        return failed(pass, 'CreationInterrupted', new NoRetryError({ message, cause: error }));
      }
      // A clock that was set back must not make the answer look older than the question.
      await this.#record(pass, failedMarks(Math.max(begunAt, pass.wall)));
      if (error instanceof NoRetryError) pass.note('give up creating', 'CreateFailed', error.message);
      return failed(pass, 'CreateFailed', error);
    }
    await this.#record(pass, succeededMarks(Math.max(begunAt, pass.wall), created.externalName));
    if (pass.name !== undefined) status.id = pass.name;
    pass.draft.status = status;
    pass.ctx.event('Normal', 'Created', `Requested the creation of ${pass.name ?? 'the resource'}.`);
    return (await this.#publish(pass, created.connectionDetails)) ?? ended(pass, this.#ports.pendingMs);
  }

  async update(
    pass: ExternalReconcile<M>,
    handler: ExternalHandler<M>,
    difference?: string,
  ): Promise<Outcome> {
    pass.note('begin update', 'Different', difference);
    let updated: Updated;
    try {
      updated = await handler.update(pass.draft, pass.name ?? '');
    } catch (error) {
      return failed(pass, 'UpdateFailed', error);
    }
    pass.ctx.event('Normal', 'Updated', `Requested an update of ${pass.name ?? 'the resource'}.`);
    return (await this.#publish(pass, updated.connectionDetails)) ?? ended(pass, this.#ports.pendingMs);
  }

  async delete(pass: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Outcome> {
    pass.note('begin delete', 'DeletionRequested');
    let seen: Observation;
    try {
      seen = await this.#observe(pass, handler);
    } catch (error) {
      return failed(pass, 'ObserveFailed', error);
    }
    // What was just created and never seen may be there all the same.
    const hiddenMs = pass.object.status?.state === undefined ? graceLeftMs(pass.object, pass.wall) : 0;
    if (!seen.exists && hiddenMs === 0) return this.letGo(pass);
    try {
      await handler.delete(pass.draft, pass.name ?? '');
    } catch (error) {
      return failed(pass, 'DeleteFailed', error);
    }
    if (seen.exists) pass.observed({ ...seen, state: 'deleting' });
    pass.note('succeed', 'Observed');
    return ended(pass, seen.exists ? this.#ports.pendingMs : hiddenMs);
  }

  /** Nothing is left to do in the service: the object may go. */
  async letGo(pass: ExternalReconcile<M>): Promise<Outcome> {
    const { publisher, secretOf, kind, finalizer, client } = this.#ports;
    const { write, signal } = pass.ctx;
    const place = secretOf(pass.object);
    if (publisher && place) {
      try {
        await publisher.remove(pass.object, place, { write, signal });
      } catch (error) {
        if (!(error instanceof NotFound)) return failed(pass, 'UnpublishFailed', error);
      }
    }
    await removeFinalizer(kind, pass.object, finalizer, { client, write, signal });
    return REST;
  }

  // ------------------------------------------------------------ parts of them

  /** A name that nobody has given yet cannot be asked for. */
  #observe(pass: ExternalReconcile<M>, handler: ExternalHandler<M>): Promise<Observation> {
    return pass.name === undefined ? Promise.resolve(NOT_THERE) : handler.observe(pass.draft, pass.name);
  }

  async #publish(
    pass: ExternalReconcile<M>,
    details: ConnectionDetails | undefined,
  ): Promise<Outcome | undefined> {
    const place = this.#ports.secretOf(pass.object);
    if (!details || !place || !this.#ports.publisher) return undefined;
    const { write, signal } = pass.ctx;
    try {
      await this.#ports.publisher.publish(pass.object, place, details, { write, signal });
      return undefined;
    } catch (error) {
      return failed(pass, 'PublishFailed', error);
    }
  }

  /** The end of a creation goes onto the object, now or at the beginning of the next run. */
  async #record(pass: ExternalReconcile<M>, marks: Marks): Promise<void> {
    try {
      await pass.record(marks);
    } catch (error) {
      this.#unrecorded.set(pass.object.metadata.uid ?? '', marks);
      throw error;
    }
  }

  /** @returns whether the object is still there */
  async recordLate(pass: ExternalReconcile<M>): Promise<boolean> {
    const uid = pass.object.metadata.uid ?? '';
    const marks = this.#unrecorded.get(uid);
    if (!marks) return true;
    try {
      await pass.record(marks);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      this.#unrecorded.delete(uid);
      return false;
    }
    this.#unrecorded.delete(uid);
    return true;
  }

  /** The object has gone, and with it the place for its marks. */
  forget({ metadata }: View<M>): void {
    this.#unrecorded.delete(metadata.uid ?? '');
  }

  #pollMs(pass: ExternalReconcile<M>): number {
    const { pollMs, minPollMs, rng } = this.#ports;
    const complaint = pollIntervalError(pass.object);
    if (complaint !== undefined) pass.ctx.event('Warning', 'InvalidPollInterval', complaint);
    return jittered(pollIntervalMs(pass.object, pollMs, minPollMs), POLL_JITTER, rng);
  }
}

const observedReason = {
  creating: 'BeingCreated',
  ready: 'Available',
  updating: 'BeingUpdated',
  deleting: 'BeingDeleted',
  failed: 'FailedOutside',
  unknown: 'StateUnknown',
} as const;
