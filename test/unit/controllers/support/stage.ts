/** A controller of the product on an API server in memory and a clock that stands still. */
import { seededRng } from '../../../../src/lib/rng.ts';
import { createWorld, type World } from '../../../../src/landscape/world.ts';
import { silentLogger } from '../../../../src/observability/log.ts';
import { createMetrics } from '../../../../src/observability/metrics.ts';
import { createCaches } from '../../../../src/runtime/cache/cache.ts';
import type { ControllerSpec } from '../../../../src/runtime/controller/controller.ts';
import { createManager } from '../../../../src/runtime/manager/manager.ts';
import type { CoreEvent } from '../../../../src/runtime/controller/recorder.ts';
import type { Caches, Kind, Obj, Page, Query, Write } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { FakeCluster } from '../../runtime/support/fake-cluster.ts';
import { inTime } from '../../../support/waiting.ts';

/** An API server that records preconditions of deletions and supports selectors by name as well. */
export class Server extends FakeCluster {
  /** uids that deletions were limited to. */
  readonly deleted: (string | undefined)[] = [];

  override async *list<T extends Obj>(
    kind: Kind<T>,
    query: Query,
    signal?: AbortSignal,
  ): AsyncIterable<Page<T>> {
    const name = query.fields?.replace(/^metadata\.name=/, '');
    for await (const page of super.list(kind, query, signal)) {
      yield {
        ...page,
        items: page.items.filter((item) => name === undefined || item.metadata.name === name),
      };
    }
  }

  override async send<T extends Obj>(write: Write<T>, signal?: AbortSignal): Promise<T> {
    if (write.verb === 'delete') this.deleted.push(write.uid);
    return super.send(write, signal);
  }

  /** The writes so far, without events. */
  get changes(): string[] {
    return this.writes.filter((write) => !write.startsWith('create Event'));
  }

  /** The events so far, as `Warning Reason: note`. */
  get told(): string[] {
    return this.requests
      .filter(({ verb, kind }) => verb === 'create' && kind === 'Event')
      .map(({ body }) => body as CoreEvent)
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }
}

export interface Ports {
  readonly world: World;
  readonly caches: Caches;
  readonly client: Server;
  readonly clock: FakeClock;
}

export interface Stage extends Ports {
  /** Keys of the reconciled objects, in order; a failed one is repeated. */
  readonly runs: string[];
  /** Starts the controller, and lets it do everything it can. */
  start(): Promise<void>;
  /** Lets it do everything it can without time passing. */
  settle(): Promise<void>;
  end(): Promise<void>;
}

export function stage<P extends Obj>(describe: (ports: Ports) => ControllerSpec<P>): Stage {
  const clock = new FakeClock();
  const client = new Server();
  const rng = seededRng(1);
  const caches = createCaches({ client, clock, rng, log: silentLogger, freeze: true });
  const ports: Ports = { world: createWorld(caches), caches, client, clock };
  const metrics = createMetrics();
  const manager = createManager({
    client,
    caches,
    clock,
    rng,
    metrics,
    log: silentLogger,
    identity: 'test-0',
  });
  const runs: string[] = [];
  manager.add(noted(describe(ports), runs));
  const calm = () => settle(60);
  return {
    ...ports,
    runs,
    async start() {
      const started = manager.start();
      await calm();
      await inTime('the start of the manager', started);
      await calm();
    },
    settle: calm,
    async end() {
      const stopped = manager.stop();
      stopped.catch(() => undefined);
      await clock.advance(31_000);
      await inTime('the end of the manager', stopped);
    },
  };
}

const noted = <P extends Obj>(spec: ControllerSpec<P>, runs: string[]): ControllerSpec<P> => ({
  ...spec,
  reconciler: {
    ...spec.reconciler,
    reconcile(primary, ctx) {
      runs.push(ctx.key);
      return spec.reconciler.reconcile(primary, ctx);
    },
  },
});
