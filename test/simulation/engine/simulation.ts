/** One simulated cluster with its processes, its user, and its invariants. */
import type { Client } from '../../../src/runtime/types.ts';
import { backendOf } from '../cluster/backend.ts';
import { collectGarbage } from '../cluster/garbage.ts';
import { noFaults, type FaultRates } from '../../../src/testing/network/faults.ts';
import { Network } from '../../../src/testing/network/network.ts';
import { NAMESPACE, kinds } from '../cluster/objects.ts';
import { Process, type Part } from '../cluster/process.ts';
import { Server } from '../cluster/server.ts';
import { itemLaws, missingBefore } from '../invariants/items.ts';
import { fleetLaws } from '../invariants/fleet.ts';
import { handoverLaws } from '../invariants/hand-over.ts';
import { jobLaws } from '../invariants/jobs.ts';
import { enforce } from '../invariants/law.ts';
import { Violation } from '../../../src/testing/violation.ts';
import { leftovers, outOfStep, unrest } from '../invariants/rest.ts';
import { Tempo } from '../invariants/tempo.ts';
import { Outside, scriptedDeployers } from '../landscape/deployer.ts';
import { SCRIPT_TYPE } from '../landscape/render.ts';
import { Chance } from '../../../src/testing/engine/chance.ts';
import { Scheduler } from '../../../src/testing/engine/scheduler.ts';

export interface SimulationOptions {
  readonly seed: number;
  readonly wrapClient?: (client: Client, chance: Chance) => Client;
  readonly wrapLeases?: (client: Client) => Client;
  /** Default: drawn. */
  readonly isLagging?: boolean;
  /** The number of processes of each kind that share the work; default: one, which does all of it. */
  readonly replicas?: number;
}

/** Longest pause from growing intervals: 60 s for a retry, 30 s for a watch, and some lag. */
const PATIENCE_MS = 110_000;
/** While an item may be pending that hangs or has no deployer. */
const PATIENCE_WITH_ITEMS_MS = 200_000;
/** Nothing takes longer to arrive. */
const CALM_MS = 6_000;
/** Longer than the periodic reconcile, the safety net below all waits. */
const HOLD_MS = 6 * 60_000;
const ALL_MS = 3 * 3_600_000;
const LOOK_MS = 1_000;

/** A replica that joins during a run does so within this time. */
const LATE_START_MS = 20_000;

type Layout = ReadonlyMap<
  string,
  { readonly parts: readonly Part[]; readonly fleet: string | undefined; readonly isFirst: boolean }
>;

/** All in one process, or deployers separately, each of them as often as there are replicas. */
function layoutOf(isOne: boolean, replicas: number | undefined): Layout {
  const groups: readonly (readonly [string, readonly Part[]])[] = isOne
    ? [['main', ['landscaper', 'deployers']]]
    : [
        ['main', ['landscaper']],
        ['deployer', ['deployers']],
      ];
  const layout = groups.flatMap(([name, parts]) =>
    Array.from({ length: replicas ?? 1 }, (_, i) => {
      const one = { parts, fleet: replicas === undefined ? undefined : name, isFirst: i === 0 };
      return [i === 0 ? name : `${name}-${String(i + 1)}-`, one] as const;
    }),
  );
  return new Map(layout);
}

/** Requests that a process sends to show that it is alive, not for its work. */
const isUpkeep = (kind: string): boolean => kind === 'Event' || kind === 'Lease';

export class Simulation {
  readonly scheduler: Scheduler;
  readonly server: Server;
  readonly network: Network;
  readonly outside = new Outside();
  readonly tempo: Tempo;
  readonly #options: SimulationOptions;
  readonly #chance: (stream: string) => Chance;
  readonly #faultChance: Chance;
  readonly #running = new Map<string, Process>();
  readonly #layout: Layout;
  #types: readonly string[] = [SCRIPT_TYPE];
  #unrest: string[] = [];
  #isStale = true;
  #boots = 0;
  #faults: FaultRates = noFaults;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#chance = (stream) => new Chance(options.seed, stream);
    this.scheduler = new Scheduler(this.#chance('order'));
    const { scheduler } = this;
    const setting = this.#chance('setting');
    this.server = new Server(scheduler.clock);
    const lags = new Map<string, number>();
    this.network = new Network({
      server: backendOf(this.server),
      scheduler,
      chance: this.#chance('network'),
      streamsLists: setting.happens(0.7),
      lagMs: (kind) => {
        const lag =
          lags.get(kind) ?? (options.isLagging === false ? 0 : setting.pick([0, 0, 5, 50, 500, 2_000]));
        lags.set(kind, lag);
        return lag;
      },
    });
    this.#faultChance = this.#chance('faults');
    this.#layout = layoutOf(setting.happens(0.7), options.replicas);
    const onViolation = (violation: Violation): void => scheduler.fail(violation);
    this.tempo = new Tempo(scheduler.clock, onViolation);
    collectGarbage(this.server, scheduler, this.#chance('garbage'));
    const laws = [
      ...jobLaws,
      ...itemLaws(this.outside),
      ...handoverLaws,
      ...(options.replicas ? fleetLaws : []),
    ];
    enforce(laws, this.server, onViolation);
    this.server.onChange(({ object }) => {
      if (object.kind === 'Event' || object.kind === 'Lease') return;
      this.tempo.changed();
      this.#isStale = true;
    });
    this.network.onRequest = (sent) => this.tempo.request(sent);
    this.network.onLoss = () => this.tempo.changed();
    this.network.beforeArrival = () => this.#perhapsCrash();
    this.outside.onApply = (item) => {
      const stored = this.server.find(kinds.item, `${NAMESPACE}/${item.metadata.name}`);
      const job = item.status?.jobID ?? '';
      if (!stored || stored.status?.['jobID'] !== job || stored.status['jobIDFinished'] === job) return;
      const missing = missingBefore(item, job, this.server);
      if (missing)
        onViolation(
          new Violation(
            'no item is installed before what it depends on is done',
            `${item.metadata.name} before ${missing}`,
          ),
        );
    };
  }

  chance(stream: string): Chance {
    return this.#chance(stream);
  }

  // -------------------------------------------------------------- processes

  boot(): void {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    if (!this.server.find(kinds.namespace, NAMESPACE))
      this.server.write({ verb: 'create', kind: kinds.namespace, object }, 'user');
    for (const [name, { isFirst }] of this.#layout) {
      if (isFirst) this.#start(name);
      else this.scheduler.add(() => this.#start(name), this.#faultChance.between(0, LATE_START_MS));
    }
  }

  /** A deployer for the items that have had none so far; the running processes have to be restarted for it. */
  serve(types: readonly string[]): void {
    this.#types = types;
    for (const [name, { parts }] of this.#layout) if (parts.includes('deployers')) this.crash(name);
  }

  crash(name: string): void {
    const process = this.#running.get(name);
    if (!process?.isAlive) return;
    this.scheduler.trace.note(() => `${process.name} DIES`);
    process.crash();
    this.network.forget(process);
    this.#startLater(name);
  }

  #perhapsCrash(): void {
    const { crash, stop } = this.#faults;
    const names = [...this.#running.keys()];
    if (names.length === 0) return;
    if (this.#faultChance.happens(crash)) this.crash(this.#faultChance.pick(names));
    else if (this.#faultChance.happens(stop)) this.#stop(this.#faultChance.pick(names));
  }

  #stop(name: string): void {
    const process = this.#running.get(name);
    if (!process?.isAlive || process.isStopping) return;
    this.scheduler.trace.note(() => `${process.name} is asked to stop`);
    void process.stop().then(() => {
      this.scheduler.trace.note(() => `${process.name} has ended`);
      this.network.forget(process);
      this.#startLater(name);
    });
  }

  #startLater(name: string): void {
    this.#running.delete(name);
    this.scheduler.add(() => this.#start(name), this.#faultChance.between(0, 3_000));
  }

  #start(name: string): void {
    if (this.#running.has(name)) return;
    const fullName = `${name}${++this.#boots}`;
    this.scheduler.trace.note(() => `${fullName} starts`);
    const same = (client: Client): Client => client;
    const { wrapClient = same, wrapLeases = same } = this.#options;
    const { parts = [], fleet } = this.#layout.get(name) ?? {};
    const process: Process = new Process(fullName, parts, {
      fleet,
      scheduler: this.scheduler,
      network: this.network,
      chance: this.#chance(fullName),
      plugins: (host) => scriptedDeployers(this.outside, this.scheduler, host, this.#types),
      onPass: (controller, key) => this.tempo.pass(controller, key),
      onBug: (description) => this.scheduler.fail(new Violation('no programming error occurs', description)),
      wrapLeases,
      wrapClient: (client) => wrapClient(client, this.#chance(`${fullName} client`)),
    });
    this.#running.set(name, process);
  }

  // -------------------------------------------------------------- time

  trouble(faults: FaultRates): void {
    this.#faults = faults;
    this.network.faults = faults;
  }

  async for(ms: number): Promise<void> {
    await this.scheduler.run(this.scheduler.clock.now() + ms);
  }

  async until(what: string, isSo: () => boolean, ms = ALL_MS): Promise<void> {
    let isMet = false;
    await this.scheduler.run(this.scheduler.clock.now() + ms, () => (isMet = isSo()));
    if (!isMet) throw new Violation('what is waited for comes', what);
  }

  /** Runs without faults until there is nothing left to do. @throws Violation if that state is not reached */
  async rest(): Promise<void> {
    this.trouble(noFaults);
    this.tempo.changed();
    const { clock } = this.scheduler;
    const deadline = clock.now() + ALL_MS;
    while (!this.#isAtRest()) {
      if (clock.now() >= deadline) throw new Violation('the operator settles', this.unrest.join('\n'));
      await this.scheduler.run(clock.now() + LOOK_MS, () => this.#isAtRest());
    }
    this.#check(leftovers(this.server), 'nothing is made twice');
  }

  /** @throws Violation if something is left to do and no process does it */
  #isAtRest(): boolean {
    const calmMs = this.scheduler.clock.now() - this.tempo.changedAt;
    if (calmMs < CALM_MS || this.network.outstanding > 0 || this.#running.size < this.#layout.size)
      return false;
    const left = this.unrest;
    if (left.length === 0) return true;
    if (calmMs > (this.#isItemPending ? PATIENCE_WITH_ITEMS_MS : PATIENCE_MS))
      throw new Violation('every wait is ended by an event', left.join('\n'));
    return false;
  }

  /** Stays at rest for longer than the periodic reconcile, and writes nothing meanwhile. */
  async hold(): Promise<void> {
    const { version } = this.server;
    const { onRequest } = this.network;
    const sent: string[] = [];
    this.network.onRequest = (request) => {
      if (request.verb !== 'watch' && request.verb !== 'list' && !isUpkeep(request.kind))
        sent.push(`${request.verb} ${request.kind} ${request.key}`);
      onRequest(request);
    };
    await this.for(HOLD_MS);
    this.network.onRequest = onRequest;
    if (this.server.version !== version && sent.length > 0)
      throw new Violation('a settled operator writes nothing', sent.slice(0, 20).join('\n'));
    if (sent.length > 0) throw new Violation('rest costs no request', sent.slice(0, 20).join('\n'));
    for (const process of this.#running.values())
      this.#check(outOfStep(this.server, process.caches), 'caches at rest hold what the server holds');
  }

  get unrest(): string[] {
    if (this.#isStale) this.#unrest = unrest(this.server);
    this.#isStale = false;
    return this.#unrest;
  }

  get #isItemPending(): boolean {
    return this.unrest.some((line) => line.startsWith('DeployItem'));
  }

  #check(problems: readonly string[], law: string): void {
    if (problems.length > 0) throw new Violation(law, problems.join('\n'));
  }
}
