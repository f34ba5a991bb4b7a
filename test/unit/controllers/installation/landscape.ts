/**
 * The installation controller on an API server in memory, on a clock that stands still. The test acts as all other
 * controllers.
 */
import {
  installationController,
  type InstallationPorts,
} from '../../../../controllers/installation/index.ts';
import { contextKind } from '../../../../src/api/kinds/context.ts';
import { installationKind, type Installation } from '../../../../src/api/kinds/installation.ts';
import { API_VERSION, annotations } from '../../../../src/api/labels.ts';
import type { ComponentRepositories } from '../../../../src/components/component-repositories.ts';
import { seededRng } from '../../../../src/lib/rng.ts';
import { createTreeSizes } from '../../../../src/landscape/tree-size.ts';
import { createWorld, type World } from '../../../../src/landscape/world.ts';
import type { ClientPool } from '../../../../src/runtime/transport/client-pool.ts';
import type { Kind, Obj } from '../../../../src/runtime/types.ts';
import type { FakeClock } from '../../../support/clock.ts';
import { settle } from '../../../support/clock.ts';
import { runner } from '../../dataflow/given.ts';
import { createWorld as createRuntime } from '../../runtime/support/world.ts';
import type { FakeCluster } from '../../runtime/support/fake-cluster.ts';

export const NS = 'demo';
export const RECONCILE = { [annotations.operation]: 'reconcile' };

/** A blueprint with these fields, as in the spec of an installation. */
export const inline = (blueprint: object = {}): Installation['spec']['blueprint'] => ({
  inline: {
    filesystem: {
      'blueprint.yaml': JSON.stringify({ apiVersion: API_VERSION, kind: 'Blueprint', ...blueprint }),
    },
  },
});

/** A root with a requested job. */
export const root = (
  name: string,
  spec: Partial<Installation['spec']> = {},
  metadata: Partial<Obj['metadata']> = {},
): Omit<Installation, 'apiVersion' | 'kind'> => ({
  metadata: { name, namespace: NS, annotations: RECONCILE, ...metadata },
  spec: { blueprint: inline(), ...spec },
});

export interface Landscape {
  readonly cluster: FakeCluster;
  readonly clock: FakeClock;
  readonly world: World;
  /** Phases that were entered, each after the name of the previous one. */
  readonly entered: readonly string[];
  put(object: Omit<Installation, 'apiVersion' | 'kind'>): Promise<void>;
  edit<T extends Obj>(kind: Kind<T>, name: string, patch: object, sub?: 'status'): Promise<void>;
  get(name: string): Installation;
  /** Sub-installations of `parent`. */
  children(parent: string): readonly Installation[];
  /** Runs everything that is ready without time passing. */
  settle(): Promise<void>;
}

const nowhere = <T extends object>(what: string): T =>
  new Proxy({} as T, {
    get: () => () => Promise.reject(new Error(`no test here asks ${what}`)),
  });

/** Runs the controller while `work` does its part. */
export async function inLandscape(
  work: (landscape: Landscape) => Promise<void>,
  ports: Partial<InstallationPorts> = {},
): Promise<void> {
  const runtime = createRuntime();
  const { cluster, clock, caches, manager } = runtime;
  const world = createWorld(caches);
  const entered: string[] = [];
  manager.add(
    installationController({
      world,
      client: cluster,
      clock,
      rng: seededRng(1),
      trees: createTreeSizes(world),
      sources: nowhere<ClientPool>('another cluster'),
      repositories: nowhere<ComponentRepositories>('for components'),
      runnerOf: () => runner,
      entered: (phase, from) => entered.push(`${from ?? ''} ${phase}`),
      ...ports,
    }),
  );
  cluster.put(contextKind, { metadata: { name: 'default', namespace: NS } });
  await runtime.start();
  const landscape: Landscape = {
    cluster,
    clock,
    world,
    entered,
    async put(object) {
      cluster.put(installationKind, object);
      await settle(SETTLED);
    },
    async edit(kind, name, patch, sub) {
      cluster.edit(kind, `${NS}/${name}`, patch, sub);
      await settle(SETTLED);
    },
    get(name) {
      const found = cluster.read(installationKind, `${NS}/${name}`);
      if (!found) throw new Error(`there is no installation ${name}`);
      return found;
    },
    children: (parent) =>
      [...world.installations.list(NS)].filter(({ metadata: { ownerReferences: owners = [] } }) =>
        owners.some(({ name }) => name === parent),
      ) as Installation[],
    settle: () => settle(SETTLED),
  };
  try {
    await work(landscape);
  } finally {
    await runtime.end();
  }
}

/** Turns of the event loop in which a job of a few phases ends. */
const SETTLED = 60;
