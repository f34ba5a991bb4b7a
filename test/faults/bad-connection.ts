/** Trees are created and deleted by controllers that reach the API server through a bad connection. */
import { startApiServer } from '../../src/apiserver/server.ts';
import { isFinished } from '../../src/api/job.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { defaults } from '../../src/cli/configuration/configuration.ts';
import { startLandscaper } from '../../src/cli/composition/landscaper.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLogger, type Logger } from '../../src/observability/log.ts';
import { createWorld } from '../../src/landscape/world.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { createCaches } from '../../src/runtime/cache/cache.ts';
import { systemRng } from '../../src/lib/rng.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import { startFlakyProxy, type Weather } from '../support/flaky-proxy.ts';
import { child, mockItem, root } from '../support/landscape.ts';

export const weather = (seed: number): Weather => ({
  seed,
  troubles: 0.1,
  delays: 0.3,
  maxDelayMs: 2_000,
  watchMs: [15_000, 20_000],
});

export interface Trial {
  /** Milliseconds until all had succeeded; undefined if they did not in time. */
  readonly createMs: number | undefined;
  /** Milliseconds until all were gone. */
  readonly deleteMs: number | undefined;
  /** Objects that were left, or had failed, at the timeout. */
  readonly left: readonly string[];
  /** Share of the time for which sources had no watch. */
  readonly waiting: number;
  /** Jobs of each root. */
  readonly jobs: readonly number[];
  /** The faults of the connection. */
  readonly counts: Readonly<Record<string, number>>;
}

const NAMESPACE = 'default';
const SAMPLE_MS = 100;

/** Two levels: a root with an item, and a sub-installation with one. */
const tree = (name: string) => ({
  ...root(name, { items: [mockItem('app')], children: [child('part', { items: [mockItem('part')] })] }),
});

/** @param limitMs for creating and deleting together */
export async function playTrial(
  trees: number,
  conditions: Weather,
  limitMs: number,
  log: Logger = silentLogger,
): Promise<Trial> {
  const server = await startApiServer({
    listen: { tls: false },
    history: { events: 1_000_000, seconds: 3_600 },
  });
  const proxy = await startFlakyProxy(server.url, conditions);
  const direct = createClient(
    await connect({
      kubeconfig: { text: server.kubeconfig },
      userAgent: 'trial',
      clock: systemClock,
      log: silentLogger,
    }),
  );
  const life = new AbortController();
  const caches = createCaches({ client: direct, clock: systemClock, rng: systemRng, log: silentLogger });
  const world = createWorld(caches);
  const jobs = new Map<string, Set<string>>();
  const landscaper = await startLandscaper({
    kubeconfig: { text: server.kubeconfig.replaceAll(server.url, proxy.url) },
    log,
    configuration: defaults,
    deployers: ['mock'],
  });
  await caches.start(life.signal);
  world.installations.subscribe({
    name: 'trial',
    ownEvents: 'deliver',
    on({ obj }) {
      const { name } = obj.metadata;
      const known = jobs.get(name) ?? new Set();
      jobs.set(name, known);
      const id = obj.status?.jobID;
      if (id && !obj.metadata.deletionTimestamp) known.add(id);
    },
  });
  const waiting = { is: 0, all: 0 };
  const sampling = setInterval(() => {
    void landscaper.manager.metrics.text().then((text) => {
      for (const line of text.split('\n')) {
        const [, state, value] = /^espalier_watch_state\{.*state="(\w+)".*\} (\d)/.exec(line) ?? [];
        if (value !== '1') continue;
        waiting.all++;
        if (state === 'waiting') waiting.is++;
      }
    });
  }, SAMPLE_MS);
  const startedAt = performance.now();
  const until = async (isDone: (name: string) => boolean): Promise<number | undefined> => {
    const from = performance.now();
    while (!names.every(isDone)) {
      if (performance.now() - startedAt > limitMs) return undefined;
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
    return performance.now() - from;
  };
  const names = Array.from({ length: trees }, (_, i) => `tree-${String(i)}`);
  const get = (name: string) => world.installations.get(`${NAMESPACE}/${name}`);
  const hasSucceeded = (name: string): boolean => {
    const self = get(name);
    return self?.status?.phase === 'Succeeded' && isFinished(self);
  };
  try {
    for (const name of names) {
      const object = tree(name);
      object.metadata.namespace = NAMESPACE;
      await direct.send({ verb: 'create', kind: installationKind, object });
    }
    const createMs = await until(hasSucceeded);
    for (const name of names)
      await direct.send({ verb: 'delete', kind: installationKind, key: `${NAMESPACE}/${name}` });
    const deleteMs = createMs === undefined ? undefined : await until((name) => get(name) === undefined);
    const left = [...world.installations.list(), ...world.executions.list(), ...world.deployItems.list()].map(
      ({ kind, metadata, status }) =>
        `${kind} ${metadata.name}: ${status?.phase ?? 'no phase'} ${status?.lastError?.message ?? ''}`,
    );
    return {
      createMs,
      deleteMs,
      left,
      waiting: waiting.is / Math.max(1, waiting.all),
      jobs: names.map((name) => jobs.get(name)?.size ?? 0),
      counts: proxy.counts,
    };
  } finally {
    clearInterval(sampling);
    await landscaper.stop();
    life.abort(new Error('the trial is over'));
    await direct.close();
    await proxy.stop();
    await server.close();
  }
}
