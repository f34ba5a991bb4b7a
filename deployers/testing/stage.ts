/** The environment of checks: a namespace of a cluster in which the suite acts as the core. */
import { randomUUID } from 'node:crypto';
import { contextKind } from '../../src/api/kinds/context.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import { targetKind } from '../../src/api/kinds/target.ts';
import { API_VERSION, GROUP, NO_TARGET_NAME, annotations } from '../../src/api/labels.ts';
import { timestamp, type Clock } from '../../src/lib/clock.ts';
import { ownField } from '../../src/lib/objects.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import { getIfThere } from '../../src/runtime/transport/read.ts';
import type { Cache, Client, Kind, Obj, View } from '../../src/runtime/types.ts';
import type { Direction, ItemPlan } from '../sdk/index.ts';
import { planOfProgram } from '../sdk/plan-program.ts';
import type { RequestedTarget } from '../sdk/plan-protocol.ts';
import { filled } from './fill.ts';
import type { Subject } from './subject.ts';

type Fields = Readonly<Record<string, unknown>>;
type Status = Partial<NonNullable<View<DeployItem>['status']>>;

const namespaceKind: Kind = builtin('Namespace', 'namespaces', false);
const secretKind: Kind<Obj & { data?: Record<string, string> }> = builtin('Secret', 'secrets', true);

function builtin(kind: string, plural: string, namespaced: boolean): Kind<never> {
  return { group: '', version: 'v1', kind, plural, namespaced };
}

/** A deployer violates a rule; the message says the observed state. */
export class ContractBroken extends Error {
  override readonly name = 'ContractBroken';
}

interface StagePorts {
  readonly client: Client;
  /** Deploy items, watched. */
  readonly items: Cache<DeployItem>;
  readonly clock: Clock;
  /** The cluster itself, for subjects whose target it is. */
  readonly kubeconfig: string;
  /** Time limit for each wait. */
  readonly patienceMs: number;
  /** Aborts all waits. */
  readonly signal?: AbortSignal;
  /** The deployer's program, which can be asked for plans. */
  readonly command?: readonly string[] | undefined;
}

export class Stage {
  readonly subject: Subject;
  readonly namespace: string;
  readonly #ports: StagePorts;
  readonly #histories = new Map<string, Status[]>();
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #count = 0;

  constructor(subject: Subject, namespace: string, ports: StagePorts) {
    this.subject = subject;
    this.namespace = namespace;
    this.#ports = ports;
    this.#unsubscribe = ports.items.subscribe({
      name: 'deployer-conformance',
      ownEvents: 'deliver',
      on: (change) => {
        const { metadata, status } = change.obj;
        if (metadata.namespace !== namespace) return;
        const history = this.#histories.get(metadata.name) ?? [];
        this.#histories.set(metadata.name, history);
        if (status) history.push(status);
        for (const listener of [...this.#listeners]) listener();
      },
    });
  }

  /** Creates a namespace with a Context and, if the subject has one, a Target. */
  async open(): Promise<void> {
    const { client } = this.#ports;
    const metadata = { name: this.namespace };
    await client.send({
      verb: 'create',
      kind: namespaceKind,
      object: { apiVersion: 'v1', kind: 'Namespace', metadata },
    });
    await client.send({
      verb: 'apply',
      kind: contextKind,
      manager: 'deployer-conformance',
      force: true,
      object: {
        apiVersion: API_VERSION,
        kind: 'Context',
        metadata: { name: 'default', namespace: this.namespace },
      },
    });
    const spec = this.#targetSpec();
    if (!spec) return;
    const target = { metadata: { name: TARGET, namespace: this.namespace }, spec };
    const object = { apiVersion: API_VERSION, kind: 'Target', ...target };
    await client.send({ verb: 'create', kind: targetKind, object: object as never });
  }

  /** Removes all finalizers of deploy items, and deletes the namespace. */
  async close(): Promise<void> {
    this.#unsubscribe();
    const { client } = this.#ports;
    // From the server, because the watch may be behind.
    for await (const { items } of client.list(deployItemKind, { namespace: this.namespace }))
      for (const { metadata } of items) await this.vanish(metadata.name);
    await client.send({ verb: 'delete', kind: namespaceKind, key: this.namespace });
  }

  #targetSpec(): unknown {
    const { target } = this.subject;
    if (target !== 'cluster') return target && filled(target, this.#places(''));
    const config = { kubeconfig: this.#ports.kubeconfig };
    return { type: CLUSTER_TYPE, config };
  }

  #requestedTarget(): RequestedTarget | undefined {
    const spec = this.#targetSpec();
    const type = ownField(spec, 'type');
    if (typeof type !== 'string') return undefined;
    return {
      name: TARGET,
      namespace: this.namespace,
      type,
      config: ownField(spec, 'config'),
      ...(type === CLUSTER_TYPE && { kubeconfig: this.#ports.kubeconfig }),
    };
  }

  #places = (item: string): Readonly<Record<string, string>> => ({
    $NAMESPACE: this.namespace,
    $ITEM: item,
  });

  // ---------------------------------------------------------------- actions of the core

  /** Creates a deploy item. @returns its name */
  async create(config: Fields | undefined, more: ItemOptions = {}): Promise<string> {
    const name = `item-${String(++this.#count)}`;
    const type = more.type ?? this.subject.type;
    const target = more.target ?? (this.subject.target ? TARGET : undefined);
    const notes = {
      [annotations.deployerType]: type,
      [annotations.deployerTargetName]: target ?? NO_TARGET_NAME,
      ...more.annotations,
    };
    const object = {
      apiVersion: API_VERSION,
      kind: 'DeployItem',
      metadata: { name, namespace: this.namespace, annotations: notes },
      spec: {
        type,
        ...(target !== undefined && { target: { name: target, namespace: this.namespace } }),
        ...(config && { config: filled(config, this.#places(name)) }),
        timeout: more.timeout ?? this.#itemTimeout(),
        ...(more.updateOnChangeOnly && { updateOnChangeOnly: true }),
      },
    };
    await this.#ports.client.send({ verb: 'create', kind: deployItemKind, object: object as never });
    return name;
  }

  /** So long that the suite stops waiting before the item fails, also on a busy machine. */
  #itemTimeout(): string {
    return `${String(Math.max(MIN_ITEM_TIMEOUT_S, Math.ceil((2 * this.#ports.patienceMs) / 1000)))}s`;
  }

  /** Starts the next job of a deploy item. @returns its id */
  async trigger(item: string): Promise<string> {
    const jobID = randomUUID();
    const now = timestamp(this.#ports.clock);
    const before = (await this.#read(item))?.status;
    await this.writeStatus(item, {
      observedGeneration: before?.observedGeneration ?? 0,
      jobID,
      jobIDGenerationTime: now,
      transitionTimes: { triggerTime: now, initTime: null, waitTime: null, finishedTime: null },
    });
    return jobID;
  }

  async configure(item: string, config: Fields): Promise<void> {
    const value = filled(config, this.#places(item));
    const ops = [{ op: 'add', path: '/spec/config', value }] as const;
    const key = this.#key(item);
    await this.#ports.client.send({ verb: 'json', kind: deployItemKind, key, ops } as never);
  }

  async annotate(item: string, notes: Readonly<Record<string, string>>): Promise<void> {
    await this.#patch(item, { metadata: { annotations: notes } });
  }

  async writeStatus(item: string, status: Fields): Promise<void> {
    const body = { status };
    await this.#ports.client.send({
      verb: 'merge',
      kind: deployItemKind,
      key: this.#key(item),
      body,
      sub: 'status',
    } as never);
  }

  async delete(item: string): Promise<void> {
    await this.#ports.client.send({ verb: 'delete', kind: deployItemKind, key: this.#key(item) });
  }

  /** Deletes a deploy item by removing its finalizers, as a user can do. */
  async vanish(item: string): Promise<void> {
    try {
      await this.delete(item);
      await this.#patch(item, { metadata: { finalizers: null } });
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  }

  async #patch(item: string, body: object): Promise<void> {
    await this.#ports.client.send({ verb: 'merge', kind: deployItemKind, key: this.#key(item), body });
  }

  // ---------------------------------------------------------------- observed state

  item(name: string): View<DeployItem> | undefined {
    return this.#ports.items.get(this.#key(name));
  }

  /** All observed states of the item's status, oldest first. */
  history(name: string): readonly Status[] {
    return this.#histories.get(name) ?? [];
  }

  /** The deploy item from the server, which may be newer than the cache. */
  #read = (item: string): Promise<View<DeployItem> | undefined> =>
    getIfThere(this.#ports.client, deployItemKind, this.#key(item));

  async fresh(item: string): Promise<View<DeployItem>> {
    const found = await this.#read(item);
    if (!found) throw new ContractBroken(`${item} is gone`);
    return found;
  }

  /** The value in the export secret; throws when there is none. */
  async exported(item: string): Promise<{ readonly value: unknown; readonly owners: readonly string[] }> {
    const { status } = await this.fresh(item);
    const reference = status?.exportRef;
    if (!reference) throw new ContractBroken(`status.exportRef of ${item} is empty`);
    const key = `${reference.namespace ?? this.namespace}/${reference.name}`;
    const secret = await this.#ports.client.get(secretKind, key);
    const text = Buffer.from(secret.data?.['config'] ?? '', 'base64').toString();
    return {
      value: JSON.parse(text === '' ? 'null' : text),
      owners: (secret.metadata.ownerReferences ?? []).map(({ uid }) => uid),
    };
  }

  /** @throws ContractBroken if the deployer does not follow the protocol */
  async plan(item: string, direction: Direction): Promise<ItemPlan> {
    const { clock, command = [], signal = new AbortController().signal } = this.#ports;
    const request = { direction, deployItem: await this.fresh(item), target: this.#requestedTarget() };
    try {
      return await planOfProgram(command, request, { clock, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw new ContractBroken((error as Error).message, { cause: error });
    }
  }

  /** Waits until the deploy item is in the expected state. @throws ContractBroken with its actual state */
  async until(
    item: string,
    what: string,
    isSo: (item: View<DeployItem> | undefined) => boolean,
  ): Promise<void> {
    const { clock, patienceMs, signal } = this.#ports;
    signal?.throwIfAborted();
    if (isSo(this.item(item))) return;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!isSo(this.item(item))) return;
        end();
        resolve();
      };
      const cancel = clock.at(clock.now() + patienceMs, () => {
        end();
        const seconds = String(patienceMs / 1000);
        reject(new ContractBroken(`not within ${seconds} s: ${what}; ${picture(this.item(item))}`));
      });
      const onAbort = (): void => {
        end();
        reject(signal?.reason as Error);
      };
      const end = (): void => {
        cancel();
        this.#listeners.delete(check);
        signal?.removeEventListener('abort', onAbort);
      };
      this.#listeners.add(check);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Waits for the end of a job. */
  async ended(item: string, jobID: string): Promise<Status> {
    await this.until(item, `job ${jobID} has ended`, (i) => i?.status?.jobIDFinished === jobID);
    return this.item(item)?.status ?? {};
  }

  /** Creates a deploy item, starts a job and waits for its end. */
  async run(
    config: Fields,
    more: ItemOptions = {},
  ): Promise<{ readonly name: string; readonly status: Status }> {
    const name = await this.create(config, more);
    const status = await this.ended(name, await this.trigger(name));
    return { name, status };
  }

  /** Waits until the deployer has handled a deploy item that was created later. */
  async meanwhile(): Promise<void> {
    for (let i = 0; i < 2; i++) await this.run(this.subject.succeeds);
  }

  #key = (item: string): string => `${this.namespace}/${item}`;
}

const TARGET = 'target';
const MIN_ITEM_TIMEOUT_S = 300;
const CLUSTER_TYPE = `${GROUP}/kubernetes-cluster`;

interface ItemOptions {
  readonly type?: string;
  readonly target?: string;
  readonly timeout?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly updateOnChangeOnly?: boolean;
}

function picture(item: View<DeployItem> | undefined): string {
  if (!item) return 'the item is deleted';
  const { phase = 'none', jobID = 'none', jobIDFinished = 'none', lastError } = item.status ?? {};
  const error = lastError ? `, lastError ${lastError.reason}: ${lastError.message}` : '';
  return `phase ${phase}, jobID ${jobID}, jobIDFinished ${jobIDFinished}${error}`;
}
