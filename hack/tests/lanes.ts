/** The processes that run test files: each for one environment, used again while it is idle. */
import type { Envtest } from '../../test/support/envtest.ts';
import { Lane, type LaneOptions } from './lane.ts';
import type { Result } from './result.ts';

/** Where a test file runs: beside nothing, on a real kube-apiserver, or on another version of Node.js. */
export type Environment = 'embedded' | 'kube-apiserver' | 'node-lts';

interface LanesOptions {
  readonly mochaOptions: readonly string[];
  /** The program for the environment `node-lts`. */
  readonly nodeLts?: string | undefined;
}

/** The objects of thousands of tests slow a real server down, so it is replaced after some files. */
const FILES_PER_SERVER = 40;

interface Used {
  readonly lane: Lane;
  readonly server: Envtest | undefined;
}

export class Lanes {
  readonly #idle: Record<Environment, Used[]> = { embedded: [], 'kube-apiserver': [], 'node-lts': [] };
  readonly #all = new Set<Used>();
  readonly #complaints: string[] = [];
  readonly #options: LanesOptions;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** Why processes did not end as they should. */
  get complaints(): readonly string[] {
    return this.#complaints;
  }

  async run(file: string, environment: Environment): Promise<Result> {
    // The one that was used last has the warmest caches.
    const used = this.#idle[environment].pop() ?? (await this.#start(environment));
    const result = await used.lane.run(file);
    const isWornOut = used.server !== undefined && used.lane.files >= FILES_PER_SERVER;
    if (used.lane.isAlive && !isWornOut) this.#idle[environment].push(used);
    else await this.#end(used);
    return result;
  }

  async #start(environment: Environment): Promise<Used> {
    const server = environment === 'kube-apiserver' ? await startServer() : undefined;
    const options: LaneOptions = {
      node: (environment === 'node-lts' ? this.#options.nodeLts : undefined) ?? process.execPath,
      mochaOptions: this.#options.mochaOptions,
      env: server ? { ESPALIER_TEST_KUBECONFIG: server.kubeconfigFile } : {},
    };
    const used = { lane: new Lane(options), server };
    this.#all.add(used);
    return used;
  }

  async #end(used: Used): Promise<void> {
    this.#all.delete(used);
    const complaint = await used.lane.end();
    if (complaint !== undefined) this.#complaints.push(complaint);
    await used.server?.stop();
  }

  /** Ends them all: those that run a file are killed. */
  async close(): Promise<void> {
    const idle = new Set(Object.values(this.#idle).flat());
    for (const used of this.#all) if (!idle.has(used)) used.lane.kill();
    await Promise.all([...this.#all].map((used) => this.#end(used)));
  }
}

async function startServer(): Promise<Envtest> {
  const { startEnvtest } = await import('../../test/support/envtest.ts');
  return startEnvtest();
}
