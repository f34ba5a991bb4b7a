/** An operator as a process of a simulated machine: it may be killed at any request, and then nothing of it runs again. */
import { messageOf } from '../../lib/message-of.ts';
import type { Logger } from '../../observability/log.ts';
import { createMetrics } from '../../observability/metrics.ts';
import { createCaches } from '../../runtime/cache/cache.ts';
import { createManager, type StartableManager } from '../../runtime/manager/manager.ts';
import { KubeconfigError } from '../../runtime/errors.ts';
import type { ControllerSpec } from '../../runtime/controller/spec.ts';
import type { Share } from '../../runtime/controller/share.ts';
import { createSharing, type Sharing } from '../../runtime/fleet/sharing.ts';
import type { Operator } from '../../runtime/operator/start-operator.ts';
import type { Context, Kind, Obj, View } from '../../runtime/types.ts';
import type { Chance } from '../engine/chance.ts';
import type { Scheduler } from '../engine/scheduler.ts';
import type { Host } from '../network/exchange.ts';
import type { Network } from '../network/network.ts';
import type { OperatorUnderTest } from '../scenario.ts';
import type { ReplicaLaws } from './replica-laws.ts';
import { bugReporter, describeError, hostClock, isBug, tracedLog } from './host.ts';

interface ProcessPorts {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly chance: Chance;
  readonly add: OperatorUnderTest['add'];
  readonly unreadable: 'fail' | 'skip';
  readonly namespaces: OperatorUnderTest['namespaces'];
  /** Shares the work with other processes; absent: does all of it. */
  readonly fleet?: FleetMembership;
  /** Called with the kind of each controller's primaries. */
  readonly onPrimary: (kind: Kind) => void;
  /** Called with each error of a reconcile. */
  readonly onFailure: (description: string) => void;
  /** Called with errors that indicate a bug of the program. */
  readonly onBug: (description: string) => void;
}

/** What replicas have in common. */
export interface FleetMembership {
  readonly namespace: string;
  readonly name: string;
  readonly place?: Sharing['place'];
  readonly laws: ReplicaLaws;
}

export class OperatorProcess implements Host {
  readonly name: string;
  isAlive = true;
  #isStopping = false;
  readonly #manager: StartableManager;
  readonly #life = new AbortController();

  constructor(name: string, ports: ProcessPorts) {
    this.name = name;
    const { network, chance, scheduler, onBug } = ports;
    const host = hostClock(scheduler.clock, this);
    const base = { clock: host.clock, rng: chance, log: bugReporter(onBug, ports.onFailure) };
    const client = network.client(this);
    const { unreadable, namespaces } = ports;
    const caches = createCaches({
      client,
      ...base,
      freeze: true,
      ...(namespaces && { namespaces }),
      ...(unreadable === 'skip' && { syncTimeoutMs: Infinity }),
    });
    // The probe of the event loop ticks forever.
    host.isMuted = true;
    const metrics = createMetrics();
    const { fleet } = ports;
    const shared = { ...base, client: network.client(this), metrics, identity: name };
    const share = fleet && shareOf(fleet, { ...shared, clusters: () => [{ client, caches }] });
    const manager = createManager({
      client,
      caches,
      metrics,
      identity: name,
      ...base,
      unreadable,
      ...(share && { share }),
    });
    host.isMuted = false;
    this.#manager = manager;
    const onError = (where: string, error: unknown): void => {
      if (isBug(error)) onBug(`${where}: ${describeError(error)}`);
      else ports.onFailure(`${where}: ${messageOf(error)}`);
    };
    const log = (of: string, inner: Logger): Logger =>
      tracedLog(inner, (line) => scheduler.trace.note(() => `${name} ${of}${line()}`));
    const operator: Operator = {
      client,
      caches,
      metrics,
      ...base,
      log: log('', base.log),
      signal: this.#life.signal,
      add: (spec) => {
        ports.onPrimary(spec.kind);
        const known = observed(spec, onError, (ctx) => log(`${spec.name} ${ctx.key} `, ctx.log));
        return manager.add(fleet ? guarded(known, this, fleet.laws) : known);
      },
      connect: () => Promise.reject(new KubeconfigError({ message: 'a simulation has only one cluster' })),
    };
    const services = {
      call: <T>(label: string, effect: () => T | Promise<T>) => network.call(this, label, effect),
    };
    void (async () => {
      await ports.add(operator, services);
      await manager.start();
    })().catch((error: unknown) => {
      if (this.isAlive && !this.#isStopping) onBug(`the operator did not start: ${String(error)}`);
    });
  }

  /** Whether an object is being reconciled, or could be. */
  get isBusy(): boolean {
    return this.#manager.pending > 0;
  }

  get notReady(): string | undefined {
    const problems = this.#manager.checks.flatMap((check) =>
      check.probe === 'ready' ? (check.problem() ?? []) : [],
    );
    return problems.length === 0 ? undefined : problems.join('; ');
  }

  /** Like a killed process. */
  kill(): void {
    this.isAlive = false;
  }

  /** Like a process that gets SIGTERM: active reconciles end first. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#life.abort();
    await this.#manager.stop();
    this.isAlive = false;
  }
}

function shareOf(
  { namespace, name, place }: FleetMembership,
  ports: Omit<Parameters<typeof createSharing>[1], 'namespace' | 'name'>,
): Share {
  return createSharing({ ...(place && { place }) }, { ...ports, namespace, name });
}

/** The same controller; the laws see its reconciles. */
function guarded<P extends Obj>(spec: ControllerSpec<P>, host: Host, laws: ReplicaLaws): ControllerSpec<P> {
  const { reconciler } = spec;
  const seen = async <T>(
    primary: View<P>,
    ctx: Context<P>,
    work: (ctx: Context<P>) => Promise<T>,
  ): Promise<T> => {
    const { ctx: noted, end } = laws.begin(host, primary, ctx);
    try {
      return await work(noted);
    } finally {
      end();
    }
  };
  const cleanup = reconciler.cleanup?.bind(reconciler);
  return {
    ...spec,
    reconciler: {
      ...reconciler,
      reconcile: (primary, ctx) => seen(primary, ctx, (noted) => reconciler.reconcile(primary, noted)),
      ...(cleanup && { cleanup: (primary, ctx) => seen(primary, ctx, (noted) => cleanup(primary, noted)) }),
    },
  };
}

/** The same controller; `note` gets the failures of its reconciles as well, and those of writing its result. Its log is traced. */
function observed<P extends Obj>(
  spec: ControllerSpec<P>,
  note: (where: string, error: unknown) => void,
  logOf: (ctx: Context<P>) => Logger,
): ControllerSpec<P> {
  const seen = (ctx: Context<P>): Context<P> => ({ ...ctx, log: logOf(ctx) });
  const { reconciler, name } = spec;
  const cleanup = reconciler.cleanup?.bind(reconciler);
  const forget = reconciler.forget?.bind(reconciler);
  return {
    ...spec,
    reconciler: {
      reconcile: (primary, ctx) => reconciler.reconcile(primary, seen(ctx)),
      ...(cleanup && {
        async cleanup(primary, ctx) {
          try {
            return await cleanup(primary, seen(ctx));
          } catch (error) {
            note(`${name} ${ctx.key}`, error);
            throw error;
          }
        },
      }),
      onError(primary, ctx, error) {
        note(`${name} ${ctx.key}`, error);
        return reconciler.onError?.(primary, ctx, error) ?? Promise.resolve('default');
      },
      ...(forget && { forget }),
    },
  };
}
