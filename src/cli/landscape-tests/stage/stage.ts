/**
 * The stage of one case: an embedded API server, which is also the target cluster, and all controllers, on virtual
 * time.
 */
import { startApiServer } from '../../../apiserver/server.ts';
import { connectorOf } from '../../../../deployers/sdk/controller.ts';
import type { DeployItem } from '../../../api/kinds/deployitem.ts';
import type { Installation } from '../../../api/kinds/installation.ts';
import type { RunnerOf } from '../../../blueprint/work.ts';
import { Closing } from '../../../lib/closing.ts';
import { systemRng } from '../../../lib/rng.ts';
import type { View } from '../../../lib/objects.ts';
import { silentLogger } from '../../../observability/log.ts';
import { createCaches } from '../../../runtime/cache/cache.ts';
import { createClient } from '../../../runtime/transport/client.ts';
import { connect } from '../../../runtime/transport/http.ts';
import type { Cache, Client, Obj } from '../../../runtime/types.ts';
import { startLandscaper, type Landscaper } from '../../composition/landscaper.ts';
import { watchObjects, type Collected } from '../../tree/collect.ts';
import { deployItemKind, installationKind } from '../../../api/landscaper-kinds.ts';
import { Driver } from '../time/driver.ts';
import { VirtualClock } from '../time/virtual-clock.ts';
import { AnswerBook } from './answers.ts';
import { History } from './history.ts';
import { scriptedPlugins } from './scripted-deployers.ts';

interface StageOptions {
  /** Wall time at the start, in milliseconds since 1970. */
  readonly startedAt: number;
  /** The namespace whose roots have paths without a namespace. */
  readonly home: string;
  /** How long the case may take on the machine's clock. */
  readonly realMs: number;
  /** More types of deploy items that answers exist for. */
  readonly types: readonly string[];
  /** Runs templates, for all cases. */
  readonly runnerOf: RunnerOf;
}

export interface Stage {
  readonly client: Client;
  readonly clock: VirtualClock;
  readonly driver: Driver;
  readonly answers: AnswerBook;
  readonly history: History;
  readonly home: string;
  current(): Collected;
  /** Target clusters cannot be reached until this virtual time. */
  outageUntil(when: number): void;
  close(): Promise<void>;
}

/** The controllers that need nothing outside of this process. */
const CONTROLLERS = ['installation', 'execution', 'deployitem', 'context'];
/** @throws OutOfRealTime */
export async function startStage(options: StageOptions): Promise<Stage> {
  const closing = new Closing();
  try {
    return await start(options, closing);
  } catch (error) {
    await closing.close();
    throw error;
  }
}

async function start(options: StageOptions, closing: Closing): Promise<Stage> {
  const { home, realMs } = options;
  const clock = new VirtualClock(options.startedAt);
  const server = await startApiServer({ listen: { tls: false }, simulate: true, clock });
  closing.add(() => server.close());
  const { kubeconfig } = server;
  const running: { landscaper?: Landscaper } = {};
  const activity = {
    mark: () => server.audit.mark() + server.test.rev,
    pending: () => running.landscaper?.manager.pending ?? 0,
  };
  const driver = new Driver(clock, activity, realMs);
  const shared = { clock, log: silentLogger, rng: systemRng };
  const client = createClient(
    await connect({ kubeconfig: { text: kubeconfig }, userAgent: 'espalier-test', ...shared }),
  );
  closing.add(() => client.close());
  const answers = new AnswerBook();
  const history = new History(home, () => clock.now());
  let endOfOutage = 0;
  const access = await connectorOf(shared)(kubeconfig);
  closing.add(() => access.close());
  const script = {
    pathOf: (item: View<DeployItem>) => pathOf(item, client, history),
    answers,
    isOutage: () => clock.now() < endOfOutage,
    access,
  };
  const landscaper = await driver.during(
    startLandscaper({
      kubeconfig: { text: kubeconfig },
      ...shared,
      controllers: CONTROLLERS,
      replacePlugins: scriptedPlugins(script, options.types),
      runnerOf: options.runnerOf,
    }),
  );
  running.landscaper = landscaper;
  closing.add(() => stopInTime(landscaper, clock));
  const following = await driver.during(follow({ client, ...shared }, history, closing));
  return {
    client,
    clock,
    driver,
    answers,
    history,
    home,
    current: () => following.current(),
    outageUntil(when) {
      endOfOutage = when;
    },
    close: () => closing.close(),
  };
}

/** Watches the trees, and records what happens to them. */
function follow(
  ports: Parameters<typeof createCaches>[0],
  history: History,
  closing: Closing,
): ReturnType<typeof watchObjects> {
  const caches = createCaches(ports);
  const life = new AbortController();
  closing.add(() => {
    life.abort(new Error('the case is over'));
    return Promise.resolve();
  });
  for (const kind of [installationKind, deployItemKind]) record(caches.of<Obj>(kind as never), history);
  return watchObjects(caches, undefined, life.signal, () => undefined);
}

function record(cache: Cache<Obj>, history: History): void {
  cache.subscribe({
    name: 'landscape-test',
    ownEvents: 'deliver',
    on(change) {
      const object = change.obj as View<Installation> | View<DeployItem>;
      if (change.type === 'delete') history.deleted(object);
      else history.changed(object);
    },
  });
}

/** The watches deliver parents before the deployer gets the item, but on different connections. */
async function pathOf(item: View<DeployItem>, client: Client, history: History): Promise<string> {
  const path = history.pathOf(item);
  if (path.includes('/')) return path;
  for await (const page of client.list(installationKind, {}))
    for (const installation of page.items) history.changed(installation);
  return history.pathOf(item);
}

/** Reconciles that hang are abandoned when their time limit has passed, which is virtual as well. */
async function stopInTime(landscaper: Landscaper, clock: VirtualClock): Promise<void> {
  let isOver = false;
  const stopping = landscaper.stop().finally(() => {
    isOver = true;
  });
  for (let turns = 0; !isOver; turns++) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    if (turns > STOP_TURNS) clock.fireNext(Infinity);
  }
  await stopping;
}

/** A stop that needs more turns of the event loop waits for time. */
const STOP_TURNS = 2_000;
