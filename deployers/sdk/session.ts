/**
 * One reconcile of one deploy item: its last state in a response of the server, and the only functions that write it.
 */
import { hasFinalizer, withFinalizer, withoutFinalizer } from '../../src/api/job.ts';
import { mergeDiff } from '../../src/lib/merge.ts';
import { Conflict, NotFound } from '../../src/runtime/errors.ts';
import type { AddReadiness } from '../../src/machine/readiness.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { View, Write, Writer } from '../../src/runtime/types.ts';
import { DEPLOY_ITEM, type DeployItem, type DeployItemStatus } from './kinds.ts';

/** The deploy item was changed by another client, or deleted. Nothing of this reconcile was stored. */
export class ItemChanged extends Error {
  override readonly name = 'ItemChanged';
  readonly isGone: boolean;

  constructor(isGone: boolean, options?: ErrorOptions) {
    super(isGone ? 'deploy item deleted' : 'deploy item changed concurrently', options);
    this.isGone = isGone;
  }
}

interface SessionPorts {
  readonly write: Writer;
  readonly signal: AbortSignal;
  /** Completes each patch of the status; default: none is completed. */
  readonly readiness?: AddReadiness;
}

export class Session {
  #item: View<DeployItem>;
  readonly #send: Writer;
  readonly #readiness: AddReadiness | undefined;
  readonly #signal: AbortSignal;
  #failure: Error | undefined;

  constructor(item: View<DeployItem>, { write, signal, readiness }: SessionPorts) {
    this.#item = item;
    this.#send = write;
    this.#signal = signal;
    this.#readiness = readiness;
  }

  get item(): View<DeployItem> {
    return this.#item;
  }

  /** The error of a failed write, because a plugin may have wrapped or ignored it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Stores the difference between the status and `next`; nothing is sent if they are equal.
   * @throws ItemChanged, errors of the client
   */
  async writeStatus(next: DeployItemStatus): Promise<void> {
    const status = mergeDiff(this.#item.status ?? {}, next);
    if (status) await this.#patch({ status: this.#readiness?.(this.#item, status) ?? status }, 'status');
  }

  /** @throws ItemChanged, errors of the client */
  async addFinalizer(): Promise<void> {
    const { metadata } = this.#item;
    if (!hasFinalizer(metadata)) await this.#patch({ metadata: { finalizers: withFinalizer(metadata) } });
  }

  /** @throws ItemChanged, errors of the client */
  async removeFinalizer(): Promise<void> {
    const { metadata } = this.#item;
    if (hasFinalizer(metadata)) await this.#patch({ metadata: { finalizers: withoutFinalizer(metadata) } });
  }

  /** @throws ItemChanged, errors of the client */
  async removeAnnotation(key: string): Promise<void> {
    await this.#patch({ metadata: { annotations: { [key]: null } } });
  }

  async #patch(
    body: { readonly metadata?: object; readonly status?: object },
    sub?: 'status',
  ): Promise<void> {
    const write: Write<DeployItem> = {
      verb: 'merge',
      kind: DEPLOY_ITEM,
      key: keyOf(this.#item),
      body: { ...body, metadata: { ...body.metadata, resourceVersion: this.#item.metadata.resourceVersion } },
      lock: true,
      ...(sub && { sub }),
    };
    try {
      this.#item = await this.#send(write, this.#signal);
    } catch (error) {
      this.#failure = failureOf(error);
      throw this.#failure;
    }
  }
}

function failureOf(error: unknown): Error {
  if (error instanceof Conflict || error instanceof NotFound) {
    return new ItemChanged(error instanceof NotFound, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}
