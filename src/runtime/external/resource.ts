/**
 * The reconcile of an external resource: observe, then create, update, delete or wait, and store the result.
 *
 * Decisions are based on the spec and on the response of the service, never on conditions, so an object that lost its
 * status is handled like any other. Failures of the service are results, which the object shows. Failures of the API
 * server are thrown, and the controller retries.
 */
import { NoRetryError } from '../errors.ts';
import { hasFinalizer } from '../controller/finalizer.ts';
import type { Context, View } from '../types.ts';
import { annotationOf } from './annotations.ts';
import { withChangeLog, type ChangeLog } from './change-log.ts';
import { schemaProblem, type Schema } from './check-schema.ts';
import { isInterrupted } from './creation.ts';
import type { Initializer } from './initializers.ts';
import { failed, WAIT_FOR_EVENT, type Outcome } from './outcome.ts';
import { ExternalReconcile } from './external-reconcile.ts';
import { deletesResource, readPolicies, type ManagementPolicy, type Policies } from './policies.ts';
import { resolveReferences, type CachedReference } from './references.ts';
import { Steps, type StepPorts } from './steps.ts';
import type { Connector, ExternalHandler, ExternalObject } from './types.ts';

type ExternalPolicySets = readonly (readonly ManagementPolicy[])[];

interface ResourcePorts<M extends ExternalObject> extends StepPorts<M> {
  readonly connector: Connector<M>;
  readonly policySets?: ExternalPolicySets | undefined;
  readonly initializers: readonly Initializer<M>[];
  readonly references: readonly CachedReference[];
  readonly specSchema?: Schema<unknown> | undefined;
  readonly changeLog?: ChangeLog | undefined;
}

/**
 * The steps of an external resource, to be called one by one: each observes, acts, and ends with one status write.
 * Failures are in the outcome. They are thrown only if the object or its status cannot be read or written.
 */
export class ExternalResource<M extends ExternalObject> {
  readonly #ports: ResourcePorts<M>;
  readonly #steps: Steps<M>;

  constructor(ports: ResourcePorts<M>) {
    this.#ports = ports;
    this.#steps = new Steps(ports);
  }

  /**
   * One reconcile: at most one step in the service, and one status write at the end.
   * @throws errors of the API server; errors of the service are in the outcome
   */
  async reconcile(object: View<M>, ctx: Context<M>): Promise<Outcome> {
    const reconcile = this.#begin(object, ctx);
    if (!(await this.#steps.recordLate(reconcile))) return WAIT_FOR_EVENT;
    if (annotationOf(reconcile.object, 'paused') === 'true') return this.#pause(reconcile, 'Annotated');
    const reading = readPolicies(reconcile.object, this.#ports.policySets);
    if (!reading.ok)
      return failed(reconcile, 'InvalidPolicy', new NoRetryError({ message: reading.problem }));
    const { policies } = reading;
    if (policies.allowed.size === 0) return this.#pause(reconcile, 'NothingAllowed');
    reconcile.note('resume', 'Resumed');
    const isDeleting = reconcile.object.metadata.deletionTimestamp !== undefined;
    const early = isDeleting
      ? await this.#beforeDeletion(reconcile, policies)
      : ((await this.#initialize(reconcile)) ?? (await this.#refuseSpec(reconcile)));
    if (early) return early;
    let handler: ExternalHandler<M>;
    try {
      handler = this.#recorded(await this.#ports.connector.connect(reconcile.object, ctx.signal), ctx);
    } catch (error) {
      return failed(reconcile, 'ConnectFailed', error);
    }
    try {
      const end = this.#isStuck(reconcile) ? await this.#steps.recover(reconcile, handler) : undefined;
      if (end) return end;
      return await (isDeleting
        ? this.#steps.delete(reconcile, handler)
        : this.#steps.sync(reconcile, handler, policies));
    } finally {
      await handler.disconnect?.().catch((error: unknown) => {
        ctx.log.warn({ err: String(error) }, 'closing the connection to the service failed');
      });
    }
  }

  /**
   * Creates a missing resource, updates a different one, and waits while the service is working. Ends with a status
   * write.
   */
  async sync(object: View<M>, handler: ExternalHandler<M>, ctx: Context<M>): Promise<Outcome> {
    const reading = readPolicies(object, this.#ports.policySets);
    const reconcile = this.#begin(object, ctx);
    if (!reading.ok)
      return failed(reconcile, 'InvalidPolicy', new NoRetryError({ message: reading.problem }));
    return (await this.#refuseSpec(reconcile)) ?? this.#steps.sync(reconcile, handler, reading.policies);
  }

  /** Deletes the resource. If it does not exist any more, removes the finalizer; otherwise ends with a status write. */
  delete(object: View<M>, handler: ExternalHandler<M>, ctx: Context<M>): Promise<Outcome> {
    return this.#steps.delete(this.#begin(object, ctx), handler);
  }

  create(object: View<M>, handler: ExternalHandler<M>, ctx: Context<M>): Promise<Outcome> {
    return this.#steps.create(this.#begin(object, ctx), handler);
  }

  update(object: View<M>, handler: ExternalHandler<M>, ctx: Context<M>): Promise<Outcome> {
    return this.#steps.update(this.#begin(object, ctx), handler);
  }

  /** Drops what is remembered about an object that is gone. */
  forget(object: View<M>): void {
    this.#steps.forget(object);
  }

  #begin(object: View<M>, ctx: Context<M>): ExternalReconcile<M> {
    return new ExternalReconcile(object, ctx, this.#ports);
  }

  #isStuck(reconcile: ExternalReconcile<M>): boolean {
    return !this.#ports.names.isDeterministic && isInterrupted(reconcile.object);
  }

  #recorded(handler: ExternalHandler<M>, { clock, log, key, controller }: Context<M>): ExternalHandler<M> {
    const { changeLog, kind } = this.#ports;
    if (!changeLog) return handler;
    const facts = { controller: controller.name, kind: kind.kind, key };
    return withChangeLog(handler, { changeLog, clock, log, ...facts });
  }

  /** Stores what references and initializers set. */
  async #initialize(reconcile: ExternalReconcile<M>): Promise<Outcome | undefined> {
    const { references, initializers } = this.#ports;
    if (references.length === 0 && initializers.length === 0) return undefined;
    let resolved: ReturnType<typeof resolveReferences>;
    let initial: (object | undefined)[];
    try {
      resolved = resolveReferences(reconcile.object, references);
      initial = initializers.map((initialize) => initialize(reconcile.object));
    } catch (error) {
      return failed(reconcile, 'InitializationFailed', error);
    }
    if (!resolved.ok) return failed(reconcile, 'ReferencesUnresolved', new Error(resolved.problem));
    await reconcile.amend([...initial, resolved.patch && { spec: resolved.patch }].filter(isPresent));
    return undefined;
  }

  /** Ends the reconcile of an object whose spec does not match the schema. */
  async #refuseSpec(reconcile: ExternalReconcile<M>): Promise<Outcome | undefined> {
    const { specSchema } = this.#ports;
    if (!specSchema) return undefined;
    try {
      const message = schemaProblem(specSchema, reconcile.object.spec, 'spec');
      if (message !== undefined) throw new NoRetryError({ message });
    } catch (error) {
      return failed(reconcile, 'InvalidSpec', error);
    }
    return undefined;
  }

  async #beforeDeletion(reconcile: ExternalReconcile<M>, policies: Policies): Promise<Outcome | undefined> {
    const { finalizer } = this.#ports;
    if (!hasFinalizer(reconcile.object, finalizer)) return WAIT_FOR_EVENT;
    if (!deletesResource(policies)) return this.#steps.release(reconcile);
    const others = reconcile.object.metadata.finalizers?.filter((each) => each !== finalizer) ?? [];
    if (others.length === 0) return undefined;
    reconcile.note('begin delete', 'WaitingForOthers', `waiting for the finalizers ${others.join(', ')}`);
    await reconcile.storeStatus();
    return WAIT_FOR_EVENT;
  }

  async #pause(reconcile: ExternalReconcile<M>, reason: string): Promise<Outcome> {
    reconcile.note('pause', reason);
    reconcile.synced(false, 'Paused');
    await reconcile.storeStatus();
    return WAIT_FOR_EVENT;
  }
}

const isPresent = <T>(value: T | undefined): value is T => value !== undefined;
