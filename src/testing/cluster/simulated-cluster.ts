/** A simulated cluster with one operator: the server, the network, the process, and when nothing is left to do. */
import { seededRng } from '../../lib/rng.ts';
import { keyOf } from '../../runtime/keys.ts';
import { getIfThere } from '../../runtime/transport/read.ts';
import { ServedConversion } from '../../runtime/conversion/served.ts';
import type { Client, Key, Kind, Obj, Write } from '../../runtime/types.ts';
import { Chance } from '../engine/chance.ts';
import { Scheduler } from '../engine/scheduler.ts';
import { noFaults, type FaultRates, type ScriptedFault } from '../network/faults.ts';
import type { SentRequest } from '../network/exchange.ts';
import { Network } from '../network/network.ts';
import { OperatorProcess, type FleetMembership } from '../process/operator-process.ts';
import { ReplicaLaws } from '../process/replica-laws.ts';
import type { Law, OperatorUnderTest, RequestMatch, TestCluster } from '../scenario.ts';
import { Violation } from '../violation.ts';
import { installConversions } from './conversions.ts';
import { createCrds, readCrds } from './crds.ts';
import { isWrite, RequestedFaults } from './requested-faults.ts';
import { startLocalCluster, type LocalCluster } from './local-cluster.ts';

/** Longer than the longest pause from growing delays: 60 s for a retry, 30 s for a watch, and some lag. */
const CALM_MS = 110_000;
/** The operator settles within this time. */
const ALL_MS = 3 * 3_600_000;
const STEP_MS = 1_000;
const UNTIL_MS = 600_000;
const RESTART_MS = 3_000;
/** Replicas other than the first start within this time. */
const LATE_START_MS = 20_000;
const OPERATOR = 'operator';
export class SimulatedCluster implements TestCluster {
  readonly client: Client;
  readonly random: Chance;
  readonly writes: string[] = [];
  /** Writes of the operator that took effect and changed nothing. */
  readonly idleWrites: string[] = [];
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly #cluster: LocalCluster;
  readonly #operator: OperatorUnderTest;
  readonly #seed: number;
  readonly #requested = new RequestedFaults();
  readonly #primaries = new Map<string, Kind>();
  #faults: FaultRates = noFaults;
  /** By replica; undefined while none is running. */
  readonly #processes: (OperatorProcess | undefined)[];
  readonly #fleet: FleetMembership | undefined;
  #boots = 0;
  #isClosed = false;
  /** Number of changes on the server, and when the last one happened. */
  changes = 0;
  #changedAt = 0;
  readonly #changesBy = new Map<string, number>();
  /** The last error of a reconcile, for messages. */
  lastFailure: string | undefined;

  private constructor(
    operator: OperatorUnderTest,
    seed: number,
    scheduler: Scheduler,
    cluster: LocalCluster,
    laws: readonly Law[],
  ) {
    this.#operator = operator;
    this.#seed = seed;
    this.scheduler = scheduler;
    this.#cluster = cluster;
    const { replicas = 1 } = operator;
    this.#processes = Array.from({ length: replicas }, () => undefined);
    this.#fleet = replicas > 1 ? this.#createFleet() : undefined;
    this.random = this.chance('user');
    const setting = this.chance('setting');
    const lags = new Map<string, number>();
    this.network = new Network({
      server: { ...cluster.backend, write: (write, actor) => this.#write(write, actor) },
      scheduler,
      chance: this.chance('network'),
      streamsLists: setting.happens(0.7),
      lagMs: (kind) => {
        const lag = lags.get(kind) ?? setting.pick([0, 0, 5, 50, 500]);
        lags.set(kind, lag);
        return lag;
      },
    });
    this.client = {
      ...cluster.clientOf('user'),
      send: (write) => cluster.backend.write(write, 'user') as Promise<never>,
    };
    this.network.onRequest = (sent) => this.#record(sent);
    this.network.scripted = (sent) => this.#requested.takeFault(sent);
    this.network.onCrash = (host) => this.#crash(this.#processes.find((each) => each === host));
    this.network.onLoss = () => this.#changed();
    const crashes = this.chance('crashes');
    this.network.beforeArrival = () => {
      if (crashes.happens(this.#faults.crash)) this.#crash(this.#oneOf(crashes));
      else if (crashes.happens(this.#faults.stop)) this.#stop(this.#oneOf(crashes));
    };
    cluster.onChange((change) => {
      this.changes++;
      if (change.by !== undefined) this.#changesBy.set(change.by, (this.#changesBy.get(change.by) ?? 0) + 1);
      this.#changed();
      this.#fleet?.laws.changed(change);
      for (const law of laws) {
        const what = law.broken(change);
        if (what !== undefined) scheduler.fail(new Violation(law.name, what));
      }
    });
  }

  /** Starts a server with the CRDs, without the operator. */
  static async start(
    operator: OperatorUnderTest,
    seed: number,
    laws: readonly Law[] = [],
  ): Promise<SimulatedCluster> {
    const { workloads = true } = operator;
    const conversions = (operator.conversions ?? []).map((each) => new ServedConversion(each));
    const crds = readCrds(operator.crds ?? []);
    const scheduler = new Scheduler(new Chance(seed, 'order'));
    const ports = { clock: scheduler.clock, rng: seededRng(seed) };
    const cluster = await startLocalCluster(ports, { workloads, conversions });
    const user = cluster.clientOf('user');
    await createCrds(user, crds);
    await installConversions(user, conversions);
    return new SimulatedCluster(operator, seed, scheduler, cluster, laws);
  }

  get notReady(): string | undefined {
    const problems = this.#processes.map((process) =>
      process ? process.notReady : 'the process has not started',
    );
    return problems.find((problem) => problem !== undefined);
  }

  get clock() {
    return this.scheduler.clock;
  }

  chance(stream: string): Chance {
    return new Chance(this.#seed, stream);
  }

  /** Kinds of the operator's primaries. */
  get primaries(): readonly Kind[] {
    return [...this.#primaries.values()];
  }

  /** What the operator, or the user, created and what still exists. */
  createdBy(actor: 'operator' | 'user'): readonly { readonly kind: Kind; readonly object: Obj }[] {
    return this.#cluster.createdBy(actor);
  }

  get<T extends Obj>(kind: Kind<T>, key: Key): Promise<T | undefined> {
    return getIfThere(this.client, kind, key);
  }

  // -------------------------------------------------------------- the process

  boot(): void {
    const late = this.chance('late replicas');
    this.#processes.forEach((_, replica) => {
      if (replica === 0) this.#boot(replica);
      else this.scheduler.add(() => this.#boot(replica), late.between(0, LATE_START_MS));
    });
  }

  #boot(replica: number): void {
    if (this.#processes[replica] || this.#isClosed) return;
    const name = `${OPERATOR}#${String(++this.#boots)}`;
    this.scheduler.trace.note(() => `${name} starts`);
    this.#processes[replica] = new OperatorProcess(name, {
      scheduler: this.scheduler,
      network: this.network,
      chance: this.chance(name),
      unreadable: this.#operator.unreadable ?? 'fail',
      namespaces: this.#operator.namespaces,
      add: (operator, services) => this.#operator.add(operator, services),
      ...(this.#fleet && { fleet: this.#fleet }),
      onPrimary: (kind) => {
        this.#primaries.set(`${kind.group}/${kind.plural}`, kind);
        this.#fleet?.laws.knowPrimary(kind);
      },
      onFailure: (description) => this.#failed(description),
      onBug: (description) => this.scheduler.fail(new Violation('no programming error occurs', description)),
    });
  }

  crash(): void {
    this.#crash(this.#oneOf(this.random));
  }

  stop(): void {
    this.#stop(this.#oneOf(this.random));
  }

  /** Kills all replicas. */
  crashAll(): void {
    for (const process of this.#processes) this.#crash(process);
  }

  /** A replica that is running. */
  #oneOf(chance: Chance): OperatorProcess | undefined {
    const running = this.#processes.filter((process) => process !== undefined);
    return running.length > 1 ? chance.pick(running) : running[0];
  }

  #createFleet(): FleetMembership {
    const { place } = this.#operator;
    const fleet = { namespace: 'default', name: OPERATOR, ...(place && { place }) };
    const laws = new ReplicaLaws({
      fleet,
      place: (primary) => place?.(primary) ?? keyOf(primary),
      holderOf: (lease) => this.#cluster.holderOf(lease),
      clock: this.clock,
      fail: (violation) => this.scheduler.fail(violation),
    });
    this.#cluster.onHolder((leases) => laws.assigned(leases));
    return { ...fleet, laws };
  }

  #crash(process: OperatorProcess | undefined): void {
    if (!process?.isAlive) return;
    this.scheduler.trace.note(() => `${process.name} DIES`);
    process.kill();
    this.#replace(process);
  }

  #stop(process: OperatorProcess | undefined): void {
    if (!process?.isAlive) return;
    this.scheduler.trace.note(() => `${process.name} is asked to stop`);
    void process.stop().then(() => {
      if (this.#processes.includes(process)) this.#replace(process);
    });
  }

  #replace(process: OperatorProcess): void {
    const replica = this.#processes.indexOf(process);
    this.network.forget(process);
    this.#processes[replica] = undefined;
    this.#changed();
    this.scheduler.add(() => this.#boot(replica), RESTART_MS);
  }

  // -------------------------------------------------------------- faults

  trouble(faults: FaultRates): void {
    this.#faults = faults;
    this.network.faults = faults;
  }

  failNext(fault: ScriptedFault, match: RequestMatch = {}): { readonly isInjected: boolean } {
    return this.#requested.add(fault, match);
  }

  cutWatches(kind?: string): void {
    this.network.cut(kind);
  }

  stallWatches(kind: string, ms: number): void {
    this.network.stall(kind, ms);
  }

  // -------------------------------------------------------------- time

  async advance(ms: number): Promise<void> {
    await this.scheduler.run(this.clock.now() + ms);
  }

  async until(
    what: string,
    isTrue: () => boolean | undefined | Promise<boolean | undefined>,
    limitMs = UNTIL_MS,
  ): Promise<void> {
    const deadline = this.clock.now() + limitMs;
    while (!(await isTrue())) {
      if (this.clock.now() >= deadline)
        throw new Violation(
          'the awaited state is reached',
          this.#said(`${what}: not within ${String(limitMs / 1000)} s`),
        );
      const { changes } = this;
      await this.scheduler.run(this.clock.now() + STEP_MS, () => this.changes !== changes);
    }
  }

  async settle(): Promise<void> {
    this.trouble(noFaults);
    this.#changed();
    const deadline = this.clock.now() + ALL_MS;
    while (!this.#isSettled) {
      if (this.clock.now() >= deadline) {
        const last = this.writes.slice(-5).join('\n');
        throw new Violation('the operator settles', this.#said(`the last writes:\n${last}`));
      }
      await this.scheduler.run(this.clock.now() + STEP_MS);
    }
  }

  get #isSettled(): boolean {
    const isQuiet = this.clock.now() - this.#changedAt >= CALM_MS && this.network.outstanding === 0;
    return isQuiet && this.#processes.every((process) => process?.isBusy === false);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const process of this.#processes) process?.kill();
    this.#cluster.close();
    await this.client.close();
  }

  #changed(): void {
    this.#changedAt = this.clock.now();
  }

  async #write(write: Write, actor: string): Promise<Obj> {
    const before = this.#changesBy.get(actor);
    const object = await this.#cluster.backend.write(write, actor);
    const { kind } = write.kind;
    const { verb } = write;
    if (isWrite({ verb, kind }) && !write.isDryRun && this.#changesBy.get(actor) === before)
      this.idleWrites.push([verb, kind, 'key' in write ? write.key : keyOf(write.object)].join(' '));
    return object;
  }

  #record({ verb, kind, key }: SentRequest): void {
    if (isWrite({ verb, kind })) this.writes.push([verb, kind, key].filter(Boolean).join(' '));
  }

  #failed(description: string): void {
    this.lastFailure = description;
    this.scheduler.trace.note(() => `reconcile failed: ${description}`);
  }

  #said(what: string): string {
    const { notReady, lastFailure } = this;
    const { lastFailure: workload } = this.#cluster;
    return [
      what,
      ...(notReady === undefined ? [] : [`the operator is not ready: ${notReady}`]),
      ...(lastFailure === undefined ? [] : [`the last error of a reconcile: ${lastFailure}`]),
      ...(workload === undefined ? [] : [`the last error of a simulated workload: ${workload}`]),
    ].join('\n');
  }
}
