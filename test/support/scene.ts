/**
 * One namespace of a cluster and what a test does there: create and annotate objects as a user, process deploy items
 * as a deployer, and wait for results.
 */
import { dataObjectKind, type DataObject } from '../../src/api/kinds/dataobject.ts';
import { deployItemKind, type DeployItem } from '../../src/api/kinds/deployitem.ts';
import { executionKind, type Execution } from '../../src/api/kinds/execution.ts';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { syncObjectKind } from '../../src/api/kinds/syncobject.ts';
import { targetKind, type Target } from '../../src/api/kinds/target.ts';
import { isBeingDeleted, isFinished } from '../../src/api/job.ts';
import { FINALIZER, annotations, labels } from '../../src/api/labels.ts';
import { configMapKind, index, namespaceKind, secretKind } from '../../src/landscape/world.ts';
import { NotFound } from '../../src/runtime/errors.ts';
import type { Cache, Kind, Obj, View } from '../../src/runtime/types.ts';
import type { Cluster } from './cluster.ts';
import { root } from './landscape.ts';
import { eventually, inTime } from './waiting.ts';

/** Interval for polling the server. */
const LOOK_MS = 5;

/** If nothing is written to the server for this long, it counts as settled. */
const CALM_MS = 2_000;
/** Time is skipped in this many steps, each followed by requests that let due timers do their work. */
const CALM_PARTS = 8;
const ROUND_TRIPS = 5;

const versions = (objects: readonly View<Obj>[]): string =>
  objects
    .map(({ metadata: { name, uid, resourceVersion } }) => [name, uid, resourceVersion].join(' '))
    .sort()
    .join();

export interface Wait {
  readonly ms?: number;
}

type Nothing = undefined | false | '';
type Status = Record<string, unknown>;
type WithJob = View<Installation> | View<Execution> | View<DeployItem>;

export class Scene {
  readonly ns: string;
  readonly cluster: Cluster;

  constructor(cluster: Cluster, ns: string) {
    this.cluster = cluster;
    this.ns = ns;
  }

  // -------------------------------------------------------------- current objects

  installation(name: string): View<Installation> | undefined {
    return this.cluster.world.installations.get(`${this.ns}/${name}`);
  }
  execution(name: string): View<Execution> | undefined {
    return this.cluster.world.executions.get(`${this.ns}/${name}`);
  }
  dataObject(name: string): View<DataObject> | undefined {
    return this.cluster.world.dataObjects.get(`${this.ns}/${name}`);
  }
  target(name: string): View<Target> | undefined {
    return this.cluster.world.targets.get(`${this.ns}/${name}`);
  }
  get installations(): View<Installation>[] {
    return [...this.cluster.world.installations.list(this.ns)];
  }
  /** The sub-installations of a parent for a template, including those under deletion. */
  children(parent: string, template?: string): View<Installation>[] {
    return this.installations.filter(
      ({ metadata: { labels: l, annotations: a } }) =>
        l?.[labels.encompassedBy] === parent &&
        (template === undefined || a?.[annotations.subinstallationName] === template),
    );
  }
  child(parent: string, template: string): View<Installation> | undefined {
    return this.children(parent, template).find((c) => !isBeingDeleted(c.metadata));
  }
  items(execution: string): readonly View<DeployItem>[] {
    return this.cluster.world.deployItems.byIndex(index.managedBy, `${this.ns}/${execution}`);
  }
  item(execution: string, template: string): View<DeployItem> | undefined {
    return this.items(execution).find((i) => i.metadata.labels?.[labels.executionName] === template);
  }

  // -------------------------------------------------------------- history

  /** Observed versions of an object, in order. */
  seen<T extends Obj>(kind: Kind<T>, name: string): readonly View<T>[] {
    return this.cluster
      .history(this.ns)
      .map(({ object }) => object)
      .filter((o) => o.kind === kind.kind && o.metadata.name === name) as unknown as View<T>[];
  }
  /** Ids of all jobs of an installation, in order. */
  jobs(name: string): readonly string[] {
    const ids = this.seen(installationKind, name).map((i) => i.status?.jobID);
    return [...new Set(ids)].filter((id): id is string => Boolean(id));
  }
  /** Observed phases, without repetitions. */
  phases(kind: Kind<Installation> | Kind<Execution>, name: string): readonly string[] {
    const all = this.seen(kind as Kind, name).map((o) => (o as WithJob).status?.phase ?? '');
    return all.filter((phase, i) => phase !== '' && phase !== all[i - 1]);
  }

  // -------------------------------------------------------------- actions of a user

  create<T extends Obj>(object: T): Promise<T> {
    const placed = { ...object, metadata: { ...object.metadata, namespace: this.ns } };
    const kind = kinds[object.kind];
    if (!kind) throw new Error(`no test creates a ${object.kind}`);
    return this.cluster.client.send({ verb: 'create', kind: kind as Kind<T>, object: placed });
  }
  patch<T extends Obj>(kind: Kind<T>, name: string, body: object): Promise<T> {
    return this.cluster.client.send({ verb: 'merge', kind, key: `${this.ns}/${name}`, body });
  }
  patchStatus<T extends Obj>(kind: Kind<T>, name: string, status: Status): Promise<T> {
    const body = { status };
    return this.cluster.client.send({ verb: 'merge', kind, key: `${this.ns}/${name}`, body, sub: 'status' });
  }
  annotate<T extends Obj>(kind: Kind<T>, name: string, values: Record<string, string | null>): Promise<T> {
    return this.patch(kind, name, { metadata: { annotations: values } });
  }
  /** Requests a job of an installation, or an interrupt. */
  operation(name: string, operation: string): Promise<Installation> {
    return this.annotate(installationKind, name, { [annotations.operation]: operation });
  }
  setBlueprint(name: string, document: object): Promise<Installation> {
    const filesystem = { 'blueprint.yaml': JSON.stringify(document) };
    return this.patch(installationKind, name, { spec: { blueprint: { inline: { filesystem } } } });
  }
  async remove(kind: Kind, name: string): Promise<void> {
    await this.cluster.client.send({ verb: 'delete', kind, key: `${this.ns}/${name}` });
  }
  delete(name: string): Promise<void> {
    return this.remove(installationKind, name);
  }
  /** Deletes an object at once, with or without finalizers, and waits until it is gone. */
  async force(kind: Kind, name: string): Promise<void> {
    await this.remove(kind, name).catch(ignoreNotFound);
    await this.patch(kind, name, { metadata: { finalizers: null } }).catch(ignoreNotFound);
    await this.gone(kind, name);
  }

  // -------------------------------------------------------------- actions of a deployer

  /** Waits until an item has a job that no deployer has picked up. */
  waiting(execution: string, template: string, wait?: Wait): Promise<View<DeployItem>> {
    return this.until(
      `item ${template} of ${execution} waits for its deployer`,
      () => {
        const item = this.item(execution, template);
        return item && !isFinished(item) ? item : undefined;
      },
      wait,
    );
  }
  /** Ends the job of an item, once it has one. */
  async answer(execution: string, template: string, phase = 'Succeeded', more: Status = {}): Promise<void> {
    const item = await this.waiting(execution, template);
    const { jobID } = item.status ?? {};
    const status = { observedGeneration: item.metadata.generation, phase, jobIDFinished: jobID, ...more };
    const answered = await this.patchStatus(deployItemKind, item.metadata.name, status);
    const version = Number(answered.metadata.resourceVersion);
    await this.until('the answer is in view', () => {
      const seen = this.cluster.world.deployItems.get(`${this.ns}/${item.metadata.name}`);
      return !seen || Number(seen.metadata.resourceVersion) >= version;
    });
  }
  /** Uninstalls an item, once its deletion is requested, and waits until it is gone. */
  async uninstall(execution: string, template: string): Promise<void> {
    const item = await this.until(`item ${template} of ${execution} is asked to go`, () =>
      this.items(execution).find(
        (i) =>
          i.metadata.labels?.[labels.executionName] === template &&
          isBeingDeleted(i.metadata) &&
          !isFinished(i),
      ),
    );
    const { name } = item.metadata;
    const finalizers = (item.metadata.finalizers ?? []).filter((f) => f !== FINALIZER);
    await this.patch(deployItemKind, name, { metadata: { finalizers } });
    await this.gone(deployItemKind, name);
  }

  // -------------------------------------------------------------- waiting

  /** @throws Error with what was missing, and the state of the namespace at the timeout */
  until<T>(what: string, look: () => T | Nothing, { ms }: Wait = {}): Promise<T> {
    let end = (): void => undefined;
    const seen = new Promise<T>((resolve, reject) => {
      const check = (): void => {
        try {
          const found = look();
          if (found) resolve(found);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      end = this.cluster.onChange(check);
      check();
    });
    return inTime(what, seen, { ...(ms !== undefined && { forMs: ms }), why: () => this.overview() }).finally(
      end,
    );
  }
  /**
   * Waits for the end of a job of an installation, and until all its objects are observed as well; of another job
   * than `after`, if that is given.
   */
  async finished(
    name: string,
    phase?: string,
    options: Wait & { after?: string | undefined } = {},
  ): Promise<View<Installation>> {
    const { after, ...wait } = options;
    const end = await this.until(
      `installation ${name} finished${phase ? ` in ${phase}` : ''}`,
      () => {
        const found = this.installation(name);
        const { jobID } = found?.status ?? {};
        if (!found || !jobID || jobID === after || !isFinished(found)) return undefined;
        if (phase === undefined || found.status?.phase === phase) return found;
        throw new Error(`${name} ended in ${found.status?.phase ?? ''}; ${this.overview()}`);
      },
      wait,
    );
    await this.inStep();
    return end;
  }
  /** Each kind has its own watch, and one may be behind another: waits until all show the state of the server. */
  async inStep(): Promise<void> {
    const { installations, executions, deployItems, dataObjects, targets } = this.cluster.world;
    const caches = [installations, executions, deployItems, dataObjects, targets] as readonly Cache<Obj>[];
    await Promise.all(caches.map((cache) => this.#catchUp(cache)));
  }
  async #catchUp(cache: Cache<Obj>): Promise<void> {
    const isInView = async (): Promise<boolean> => {
      const stored: Obj[] = [];
      for await (const page of this.cluster.client.list(cache.kind, { namespace: this.ns }))
        stored.push(...page.items);
      return versions(stored) === versions([...cache.list(this.ns)]);
    };
    const why = (): string => this.overview();
    await eventually(`all ${cache.kind.plural} are in view`, isInView, { everyMs: LOOK_MS, why });
  }
  /** Requests another job and waits for its end. */
  async again(name: string, phase?: string, wait?: Wait): Promise<View<Installation>> {
    const after = this.installation(name)?.status?.jobID;
    await this.operation(name, 'reconcile');
    return this.finished(name, phase, { after, ...wait });
  }
  /** Waits until an unfinished installation is in a phase. */
  busy(name: string, phase: string, reason?: string): Promise<View<Installation>> {
    return this.until(`installation ${name} is in ${phase}${reason ? ` for ${reason}` : ''}`, () => {
      const found = this.installation(name);
      if (!found || isFinished(found) || found.status?.phase !== phase) return undefined;
      return reason === undefined || found.status.lastError?.reason === reason ? found : undefined;
    });
  }
  gone(kind: Kind, name: string, wait?: Wait): Promise<true> {
    const { world } = this.cluster;
    const caches = [
      world.installations,
      world.executions,
      world.deployItems,
      world.dataObjects,
      world.targets,
    ];
    const cache = caches.find((c) => c.kind.kind === kind.kind);
    return this.until(
      `${kind.kind} ${name} is gone`,
      () => cache !== undefined && !cache.get(`${this.ns}/${name}`),
      wait,
    );
  }
  /** Waits until all our objects are gone from the namespace. */
  async empty(wait?: Wait): Promise<void> {
    const { world } = this.cluster;
    await this.until(
      'all installations, executions and items are gone',
      () =>
        [world.installations, world.executions, world.deployItems].every(
          (cache) => [...cache.list(this.ns)].length === 0,
        ),
      wait,
    );
  }

  /**
   * Waits until nothing changes any more: pending events have arrived, because a job that started later, in another
   * namespace, has ended, and after that nothing is written for two seconds of the controllers' clock, to no object
   * of any kind except for leases of controllers.
   */
  async calm(): Promise<void> {
    const elsewhere = await this.cluster.scene();
    let round = 0;
    const isCalm = async (): Promise<boolean> => {
      const marker = `marker-${++round}`;
      await elsewhere.create(root(marker));
      await elsewhere.finished(marker, 'Succeeded');
      const before = BigInt(await this.#revision()) - this.#leaseWrites();
      const after = BigInt(await this.#advance(CALM_MS)) - this.#leaseWrites();
      return after === before;
    };
    await eventually('the server settles', isCalm, { everyMs: 0, why: () => this.overview() });
  }
  /** @returns the version of the server afterwards */
  async #advance(ms: number): Promise<string> {
    let revision = '';
    for (let part = 0; part < CALM_PARTS; part++) {
      this.cluster.clock.advance(ms / CALM_PARTS);
      for (let trip = 0; trip < ROUND_TRIPS; trip++) revision = await this.#revision();
    }
    return revision;
  }
  /** Replicas renew their leases all the time, so that these do not count as writes. */
  #leaseWrites(): bigint {
    return BigInt(this.cluster.faults.reduce((sum, each) => sum + each.leaseWrites, 0));
  }
  /** The version of the server: every write to an object of any kind raises it by one. */
  async #revision(): Promise<string> {
    for await (const page of this.cluster.client.list(namespaceKind, { limit: 1 }))
      return page.resourceVersion;
    throw new Error('the server answered a list without a page');
  }

  /** All objects that take part in jobs, one line each. */
  overview(): string {
    const { world } = this.cluster;
    const all = [world.installations, world.executions, world.deployItems].flatMap((cache) => [
      ...cache.list(this.ns),
    ]) as WithJob[];
    const lines = all.map(({ kind, metadata, status }) => {
      const job = `${(status?.jobID ?? '').slice(0, 4)}/${(status?.jobIDFinished ?? '').slice(0, 4)}`;
      const error = status?.lastError && ` ${status.lastError.reason}: ${status.lastError.message}`;
      const going = isBeingDeleted(metadata) ? ' (going)' : '';
      return `${kind} ${metadata.name}${going} ${status?.phase ?? '-'} ${job}${error ?? ''}`;
    });
    return `in ${this.ns} there are:\n  ${lines.join('\n  ') || 'no objects'}`;
  }
}

const podKind: Kind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(
  [
    installationKind,
    executionKind,
    deployItemKind,
    dataObjectKind,
    targetKind,
    syncObjectKind,
    podKind,
    secretKind as Kind,
    configMapKind as Kind,
  ].map((k) => [k.kind, k]),
);

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
