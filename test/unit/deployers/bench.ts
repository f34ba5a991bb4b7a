/**
 * A test bench for a deployer: host and target cluster in memory, a clock that stands still, and a runtime reduced to
 * what a deployer relies on: one reconcile at a time per item, events of others, `again` timers, retries after
 * failures.
 */
import { deployerController } from '../../../deployers/sdk/controller.ts';
import type { DeployerDeps, DeployerPlugin, Watched } from '../../../deployers/sdk/deployer.ts';
import type { DeployItem, DeployItemStatus } from '../../../deployers/sdk/kinds.ts';
import { equal } from '../../../src/lib/json.ts';
import { seededRng } from '../../../src/lib/rng.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import type { ControllerSpec } from '../../../src/runtime/controller/spec.ts';
import { keyOf } from '../../../src/runtime/keys.ts';
import type { Cache, Caches, Context, Kind, Obj, View, Writer } from '../../../src/runtime/types.ts';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { FakeClock, settle } from '../../support/clock.ts';
import { FakeCluster, type Any } from './fake-cluster.ts';

export const LS = 'landscaper.gardener.cloud';
const API = `${LS}/v1alpha1`;

export interface BenchOptions extends Partial<
  Pick<DeployerDeps, 'config' | 'timeouts' | 'self' | 'connect' | 'metrics' | 'reader' | 'log' | 'signal'>
> {
  /** The cluster behind every valid kubeconfig; default a new one with namespace `app`. */
  readonly target?: FakeCluster;
}

export class Bench {
  readonly clock = new FakeClock('2026-01-01T00:00:00Z');
  readonly host = new FakeCluster('proj');
  readonly target: FakeCluster;
  readonly events: string[] = [];
  /** Every stored state of an item's status, oldest first. */
  readonly history: DeployItemStatus[] = [];
  /** Changes of objects in the host cluster, with the phases of items, oldest first. */
  readonly changes: string[] = [];
  /** Kubeconfigs with which clients connected. */
  readonly opened: string[] = [];
  passes = 0;
  /** What each reconcile that did not throw asked for, oldest first: milliseconds until the next, or undefined. */
  readonly requeues: (number | undefined)[] = [];
  /** Aborts when the process is told to stop. */
  readonly shutdown = new AbortController();
  #spec: ControllerSpec<DeployItem>;
  readonly #options: BenchOptions;
  #watched: readonly Watched[] = [];
  readonly #running = new Map<string, AbortController>();
  readonly #dirty = new Set<string>();
  readonly #queued = new Set<string>();
  readonly #timers = new Map<string, () => void>();
  readonly #own = new Set<string>();
  readonly #attempts = new Map<string, number>();

  /** @param given the plugin, or a function that creates one for the host cluster of this bench */
  constructor(given: DeployerPlugin | ((host: FakeCluster) => DeployerPlugin), options: BenchOptions = {}) {
    const plugin = typeof given === 'function' ? given(this.host) : given;
    this.target = options.target ?? new FakeCluster('app');
    this.host.put({ apiVersion: API, kind: 'Context', metadata: { name: 'default', namespace: 'proj' } });
    this.#options = options;
    this.#spec = this.#start(plugin);
    this.host.onChange = (kind, key, before, after) => {
      this.#changed(kind, key, before, after);
    };
  }

  #start(plugin: DeployerPlugin): ControllerSpec<DeployItem> {
    this.#watched = plugin.watches?.(cachesOf(this.host)) ?? [];
    return deployerController(plugin, {
      client: this.host,
      caches: cachesOf(this.host),
      clock: this.clock,
      rng: seededRng(1),
      log: silentLogger,
      identity: 'bench',
      connect: (kubeconfig) => {
        this.opened.push(kubeconfig);
        return Promise.resolve(this.target);
      },
      ...this.#options,
    });
  }

  /**
   * A new process replaces the old one, which sends no further request and passes nothing on. As at every start, all
   * items are reconciled.
   */
  async restart(plugin: DeployerPlugin): Promise<void> {
    for (const cancel of this.#timers.values()) cancel();
    for (const all of [this.#timers, this.#running, this.#dirty, this.#queued, this.#own, this.#attempts])
      all.clear();
    this.#spec = this.#start(plugin);
    for (const key of this.host.names('DeployItem')) this.#enqueue(key);
    await this.rest();
  }

  // ------------------------------------------------------------ targets and items

  /** A Target with a valid kubeconfig in a secret. */
  givenTarget(name = 'cluster-a', metadata: object = {}): void {
    this.host.put({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${name}-kc`, namespace: 'proj' },
      data: { kubeconfig: Buffer.from(kubeconfigOf(name)).toString('base64') },
    });
    this.host.put({
      apiVersion: API,
      kind: 'Target',
      metadata: {
        name,
        namespace: 'proj',
        annotations: { env: 'dev' },
        labels: { region: 'eu' },
        ...metadata,
      },
      spec: { type: `${LS}/kubernetes-cluster`, secretRef: { name: `${name}-kc`, key: 'kubeconfig' } },
    });
  }

  giveItem(config: object | undefined, options: ItemOptions = {}): void {
    const { name = 'web', type = `${LS}/kubernetes-manifest`, target = 'cluster-a', ...more } = options;
    const { annotations, finalizers, labels, ...spec } = more;
    this.host.put({
      apiVersion: API,
      kind: 'DeployItem',
      metadata: {
        name,
        namespace: 'proj',
        ...(labels && { labels }),
        ...(finalizers && { finalizers }),
        annotations: {
          [`${LS}/deployer-type`]: type,
          [`${LS}/deployer-target-name`]: target ?? '.noTargetName',
          ...annotations,
        },
      },
      spec: {
        type,
        ...(target !== null && { target: { name: target, namespace: 'proj' } }),
        timeout: '2m',
        ...(config && { config }),
        ...spec,
      },
    });
  }

  item(name = 'web'): DeployItem {
    const item = this.host.find('DeployItem', `proj/${name}`);
    if (!item) throw new Error(`no item ${name}`);
    return item as unknown as DeployItem;
  }

  isGone(name = 'web'): boolean {
    return this.host.find('DeployItem', `proj/${name}`) === undefined;
  }

  status(name = 'web'): Partial<DeployItemStatus> {
    return this.item(name).status ?? {};
  }

  configure(config: object, name = 'web'): void {
    this.host.edit('DeployItem', `proj/${name}`, { spec: { config } });
  }

  /** Acts as the core: starts the next job, and lets time pass. */
  async kick(job: string, name = 'web'): Promise<void> {
    const now = new Date(this.clock.wall()).toISOString().replace(/\.\d+/, '');
    this.host.edit('DeployItem', `proj/${name}`, {
      status: {
        observedGeneration: this.status(name).observedGeneration ?? 0,
        jobID: job,
        jobIDGenerationTime: now,
        transitionTimes: { triggerTime: now, initTime: null, waitTime: null, finishedTime: null },
      },
    });
    await this.rest();
  }

  /** Requests the deletion, as kubectl does. */
  async delete(name = 'web'): Promise<void> {
    const item = this.item(name);
    if ((item.metadata.finalizers ?? []).length === 0) this.host.drop('DeployItem', `proj/${name}`);
    else
      this.host.edit('DeployItem', `proj/${name}`, {
        metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' },
      });
    await this.rest();
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.rest();
  }

  async rest(): Promise<void> {
    await settle(40);
  }

  /** Phases in the order in which they were stored, without repetitions. */
  phases(): string[] {
    return this.history
      .map(({ phase }) => phase ?? '')
      .filter((phase, i, all) => phase !== '' && phase !== all[i - 1]);
  }

  // ------------------------------------------------------------ the runtime

  #changed(kind: string, key: string, before: Any | undefined, after: Any | undefined): void {
    const { phase } = (after?.['status'] ?? {}) as DeployItemStatus;
    this.changes.push([kind, key, phase].filter(Boolean).join(' '));
    if (kind !== 'DeployItem') {
      this.#wake(kind, after ?? before);
      return;
    }
    const old = before as unknown as View<DeployItem> | undefined;
    const obj = after as unknown as View<DeployItem> | undefined;
    if (obj?.status && !equal(old?.status, obj.status)) this.history.push(obj.status as DeployItemStatus);
    if (!obj || this.#own.delete(`${key}@writing`)) return; // gone, or the echo of a write of our own
    if (old) this.#maybeInterrupt(key, old, obj);
    const { filter } = this.#spec;
    const isWanted = old ? filter?.update?.(old, obj) : filter?.add?.(obj, false);
    if (isWanted !== false) this.#enqueue(key);
  }

  /** Events of the resources that a plugin watches trigger its items. */
  #wake(kind: string, object: Any | undefined): void {
    for (const { cache, toItems } of this.#watched) {
      if (cache.kind.kind !== kind || !object) continue;
      for (const key of toItems(object)) this.#enqueue(key);
    }
  }

  #maybeInterrupt(key: string, old: View<DeployItem>, obj: View<DeployItem>): void {
    const isMeant = this.#spec.interruptWhen?.({ type: 'update', old, obj, relisted: false });
    if (isMeant) this.#running.get(key)?.abort(new Error('interrupted'));
  }

  #enqueue(key: string): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    if (this.#running.has(key)) {
      this.#dirty.add(key);
    } else if (!this.#queued.has(key)) {
      this.#queued.add(key);
      setImmediate(() => void this.#run(key));
    }
  }

  async #run(key: string): Promise<void> {
    this.#queued.delete(key);
    if (this.#running.has(key)) return;
    const primary = this.host.find('DeployItem', key) as unknown as View<DeployItem> | undefined;
    if (!primary) return;
    const interrupt = new AbortController();
    this.#running.set(key, interrupt);
    this.passes++;
    let again: number | undefined;
    try {
      const answer = await this.#spec.reconciler.reconcile(
        primary,
        this.#context(key, primary, interrupt.signal),
      );
      if (answer.write !== 'none') throw new Error('the deployer writes its item by itself');
      again = answer.requeueAfterMs;
      this.requeues.push(again);
      this.#attempts.delete(key);
    } catch (error) {
      const attempt = (this.#attempts.get(key) ?? 0) + 1;
      this.#attempts.set(key, attempt);
      this.events.push(`thrown ${(error as Error).message}`);
      again = 1000 * attempt;
    } finally {
      this.#running.delete(key);
    }
    if (this.#dirty.delete(key)) this.#enqueue(key);
    else if (again !== undefined)
      this.#timers.set(
        key,
        this.clock.at(this.clock.now() + again, () => void this.#run(key)),
      );
  }

  #context(key: string, primary: View<DeployItem>, interrupt: AbortSignal): Context<DeployItem> {
    const write: Writer = async (w) => {
      const mark = `${key}@writing`;
      if (w.kind.kind === 'DeployItem') this.#own.add(mark);
      try {
        return await this.host.send(w);
      } finally {
        this.#own.delete(mark);
      }
    };
    return {
      key,
      controller: { name: 'bench', kind: deployItemKind, fieldManager: 'bench' },
      clock: this.clock,
      live: this.host,
      signal: this.shutdown.signal,
      interrupt,
      hasNewEvents: false,
      attempt: 0,
      lastAttempt: false,
      log: this.#options.log ?? silentLogger,
      write,
      draft: () => structuredClone(primary) as DeployItem,
      secondaries: () => [],
      secondary: () => undefined,
      valuesOf: () => [],
      expectations: { expect: () => undefined, resultOf: () => 'none', drop: () => undefined },
      event: (type, reason, note) => {
        this.events.push(`${type} ${reason}: ${note}`);
      },
    };
  }
}

export interface ItemOptions {
  readonly name?: string;
  readonly type?: string;
  readonly target?: string | null;
  readonly timeout?: string;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly finalizers?: string[];
  readonly updateOnChangeOnly?: boolean;
  readonly context?: string;
}

export const kubeconfigOf = (name: string, user: object = { token: 't' }): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: `https://${name}.invalid` } }],
    users: [{ name: 'u1', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u1' } }],
  });

/** Caches that are never behind. */
function cachesOf(host: FakeCluster): Caches {
  const of = <T extends Obj>(kind: Kind<T>): Cache<T> => {
    const indexes = new Map<string, (obj: View<T>) => readonly string[]>();
    const byIndex = (name: string, value: string): readonly View<T>[] =>
      host
        .names(kind.kind)
        .map((key) => host.find(kind.kind, key) as unknown as View<T>)
        .filter((one) => indexes.get(name)?.(one).includes(value));
    return {
      kind,
      name: kind.plural,
      isSynced: true,
      trouble: undefined,
      get: (key: string) => host.find(kind.kind, key) as unknown as View<T> | undefined,
      index: (name: string, keysOf: (obj: View<T>) => readonly string[]) => indexes.set(name, keysOf),
      byIndex,
      keysByIndex: (name: string, value: string) => byIndex(name, value).map(keyOf),
    } as unknown as Cache<T>;
  };
  return {
    of,
    bounded: () => {
      throw new Error('deployers have no bounded caches');
    },
    all: () => [],
    separate: (kind) => ({ cache: of(kind), release: () => undefined }),
  };
}

// ---------------------------------------------------------------- configurations

export const manifestConfig = (fields: object, version = 'v1alpha2'): object => ({
  apiVersion: `manifest.deployer.${LS}/${version}`,
  kind: 'ProviderConfiguration',
  ...fields,
});

/** A chart that is applied without a release. */
export const helmConfig = (fields: object): object => ({
  apiVersion: `helm.deployer.${LS}/v1alpha1`,
  kind: 'ProviderConfiguration',
  name: 'demo',
  namespace: 'app',
  helmDeployment: false,
  ...fields,
});

/** Without a kubelet the test has to set the status of pods. */
export const containerConfig = (fields: object = {}): object => ({
  apiVersion: `container.deployer.${LS}/v1alpha1`,
  kind: 'ProviderConfiguration',
  ...fields,
});

export const mockConfig = (fields: object = {}): object => ({
  apiVersion: `mock.deployer.${LS}/v1alpha1`,
  kind: 'ProviderConfiguration',
  ...fields,
});

export const configMap = (
  name: string,
  data: Record<string, string> = { a: 'b' },
  metadata: object = {},
): Any => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'app', ...metadata },
  data,
});

export const manage = (manifest: object, more: object = {}): object => ({
  policy: 'manage',
  manifest,
  ...more,
});
