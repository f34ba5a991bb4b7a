/** Everything a controller needs, on a clock that stands still. */
import { seededRng, type Rng } from '../../../../src/lib/rng.ts';
import { silentLogger, type Logger } from '../../../../src/observability/log.ts';
import { createMetrics, type Metrics } from '../../../../src/observability/metrics.ts';
import { createCaches } from '../../../../src/runtime/cache/cache.ts';
import type { Controller, ControllerSpec } from '../../../../src/runtime/controller/controller.ts';
import {
  createManager,
  type StartableManager,
  type ManagerOptions,
} from '../../../../src/runtime/manager/manager.ts';
import { exponential } from '../../../../src/runtime/queue/retry.ts';
import type { Caches, Context, Kind, Obj, UpdateControl, View } from '../../../../src/runtime/types.ts';
import { FakeClock, settle } from '../../../support/clock.ts';
import { FakeCluster } from './fake-cluster.ts';
import { inTime } from '../../../support/waiting.ts';

export interface Widget extends Obj {
  spec?: { size?: number };
  status?: { phase?: string; observedGeneration?: number; jobID?: string; jobIDFinished?: string };
}

export const widgets: Kind<Widget> = {
  group: 'example.io',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

export interface Part extends Obj {
  data?: Record<string, string>;
}

export const parts: Kind<Part> = {
  group: 'example.io',
  version: 'v1',
  kind: 'Part',
  plural: 'parts',
  namespaced: true,
};

export const widget = (
  key: string,
  more: Partial<Widget['metadata']> = {},
): Omit<Widget, 'apiVersion' | 'kind'> => {
  const [namespace = '', name = ''] = key.split('/');
  return { metadata: { namespace, name, ...more }, spec: { size: 1 } };
};

/** Random numbers that are always in the middle, so that jitter changes nothing. */
export const noChance: Rng = { next: () => 0.5 };

/** 1 s, 2 s, 4 s … without jitter. */
export const doubling = exponential({ initialMs: 1_000, factor: 2, maxMs: 300_000 });

export const nothing: UpdateControl<Widget> = { write: 'none' };

export type Reconcile = (primary: View<Widget>, ctx: Context<Widget>) => Promise<UpdateControl<Widget>>;

export interface World {
  readonly clock: FakeClock;
  readonly cluster: FakeCluster;
  readonly caches: Caches;
  readonly metrics: Metrics;
  readonly manager: StartableManager;
  /** `12 A/1`: the time in seconds at which a reconcile began, and its key. */
  readonly runs: string[];
  /** Adds a controller of widgets that records its reconciles. */
  control(reconcile: Reconcile, spec?: Partial<ControllerSpec<Widget>>): Controller<Widget>;
  start(): Promise<void>;
  /** Stops everything, and waits no longer than the manager does. */
  end(): Promise<void>;
  /** Value of a line of the metrics. */
  metric(line: string): Promise<number | undefined>;
}

export function createWorld(
  options: { log?: Logger; rng?: Rng; cluster?: FakeCluster } & Partial<ManagerOptions> = {},
): World {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const cluster = options.cluster ?? new FakeCluster();
  const { log = silentLogger, rng = noChance } = options;
  const metrics = createMetrics();
  const caches = createCaches({ client: cluster, clock, rng: seededRng(1), log: silentLogger, freeze: true });
  const manager = createManager({
    client: cluster,
    caches,
    clock,
    rng,
    log,
    metrics,
    identity: 'test-0',
    ...options,
  });
  const runs: string[] = [];
  return {
    clock,
    cluster,
    caches,
    metrics,
    manager,
    runs,
    control(reconcile, spec = {}) {
      return manager.add<Widget>({
        name: 'widgets',
        kind: widgets,
        retry: doubling,
        generation: 'off',
        syncPeriodMs: 0,
        reconciler: { reconcile: noted(runs, clock, reconcile) },
        ...spec,
      });
    },
    async start() {
      const started = manager.start();
      await settle();
      await inTime('the start of the manager', started);
      await settle();
    },
    async end() {
      const stopped = manager.stop();
      stopped.catch(() => undefined);
      await clock.advance(31_000);
      await inTime('the end of the manager', stopped);
    },
    async metric(line) {
      const text = await metrics.text();
      const found = text.split('\n').find((each) => each.startsWith(`${line} `));
      return found === undefined ? undefined : Number(found.slice(line.length + 1));
    },
  };
}

export const noted =
  (runs: string[], clock: FakeClock, reconcile: Reconcile): Reconcile =>
  (primary, ctx) => {
    runs.push(`${String(clock.now() / 1_000)} ${ctx.key}`);
    return reconcile(primary, ctx);
  };

/** A reconcile that takes some time. */
export const taking =
  (clock: FakeClock, ms: number): Reconcile =>
  () =>
    new Promise((resolve) => {
      clock.at(clock.now() + ms, () => {
        resolve(nothing);
      });
    });

export const failing =
  (error: unknown = new Error('no')): Reconcile =>
  () =>
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what authors do
    Promise.reject(error);
export const succeeding: Reconcile = () => Promise.resolve(nothing);
