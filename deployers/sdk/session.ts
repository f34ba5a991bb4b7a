/** One pass over one item: the item as last answered by the server, and the only way to write it. */
import { hasFinalizer, withFinalizer, withoutFinalizer } from '../../src/api/job.ts';
import { mergeDiff } from '../../src/lib/merge.ts';
import { Conflict, NotFound } from '../../src/runtime/errors.ts';
import { keyOf } from '../../src/runtime/keys.ts';
import type { View, Write, Writer } from '../../src/runtime/types.ts';
import { DEPLOY_ITEM, type DeployItem, type DeployItemStatus } from './kinds.ts';

/** The item is not as this pass knows it: changed by somebody else, or gone. Nothing of the pass was stored. */
export class ItemMoved extends Error {
  override readonly name = 'ItemMoved';
  readonly isGone: boolean;

  constructor(isGone: boolean, options?: ErrorOptions) {
    super(isGone ? 'deploy item deleted' : 'deploy item changed concurrently', options);
    this.isGone = isGone;
  }
}

export class Session {
  #item: View<DeployItem>;
  readonly #send: Writer;
  readonly #signal: AbortSignal;
  #failure: Error | undefined;

  constructor(item: View<DeployItem>, send: Writer, signal: AbortSignal) {
    this.#item = item;
    this.#send = send;
    this.#signal = signal;
  }

  get item(): View<DeployItem> {
    return this.#item;
  }

  /** Why a write failed, if one did; a plugin may have wrapped or swallowed it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Stores the difference between the status and `next`; nothing is sent when there is none.
   * @throws ItemMoved, or what the client throws
   */
  async writeStatus(next: DeployItemStatus): Promise<void> {
    const status = mergeDiff(this.#item.status ?? {}, next);
    if (status) await this.#patch({ status }, 'status');
  }

  /** @throws ItemMoved, or what the client throws */
  async addFinalizer(): Promise<void> {
    const { metadata } = this.#item;
    if (!hasFinalizer(metadata)) await this.#patch({ metadata: { finalizers: withFinalizer(metadata) } });
  }

  /** Lets the item go. @throws ItemMoved, or what the client throws */
  async removeFinalizer(): Promise<void> {
    const { metadata } = this.#item;
    if (hasFinalizer(metadata)) await this.#patch({ metadata: { finalizers: withoutFinalizer(metadata) } });
  }

  /** @throws ItemMoved, or what the client throws */
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
    return new ItemMoved(error instanceof NotFound, { cause: error });
  }
  return error instanceof Error ? error : new Error(String(error));
}
