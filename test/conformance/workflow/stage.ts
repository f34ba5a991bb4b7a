/** One operator of pages in a separate namespace, for a test. */
import {
  addWorkflowController,
  type WorkflowControllerSpec,
  type WorkflowContext,
} from '../../../src/workflow/workflow-controller.ts';
import type { NodeSpec } from '../../../src/workflow/node.ts';
import type { Controller } from '../../../src/runtime/controller/controller.ts';
import type { UpdateControl, View } from '../../../src/runtime/types.ts';
import {
  pages,
  quickly,
  read,
  startOperatorCluster,
  startProcess,
  type OperatorCluster,
  type OperatorProcess,
  type Page,
  type WatchedClient,
} from '../../support/operators.ts';
import { eventually } from '../../support/waiting.ts';

export type Nodes = (namespace: string) => readonly NodeSpec<Page>[];

export interface Stage {
  readonly namespace: string;
  readonly client: WatchedClient;
  /** Results of `reconcile` and `cleanup`. */
  readonly runs: string[];
  /** Errors that reached `onError`. */
  readonly errors: unknown[];
  page(name: string, spec?: Record<string, unknown>): Promise<Page>;
  edit(name: string, spec: Record<string, unknown>): Promise<void>;
  remove(name: string): Promise<void>;
  read: (name: string) => Promise<Page | undefined>;
  /** Triggers a reconcile of the page, and waits for its end. @returns the writes it made */
  again(name: string): Promise<string[]>;
  /** Ends the process and starts another. */
  restart(): Promise<void>;
  key(name: string): string;
}

export interface StageOptions extends Partial<Omit<WorkflowControllerSpec<Page>, 'workflow'>> {
  readonly workflow?: Partial<WorkflowControllerSpec<Page>['workflow']>;
  readonly onReconcile?: (page: View<Page>, ctx: WorkflowContext<Page>) => Promise<UpdateControl<Page>>;
  readonly withoutCleanup?: boolean;
}

/** A cluster for the tests of the describe block that calls this, and operators on it that stop with their test. */
export function useStages(): {
  readonly cluster: OperatorCluster;
  set(nodes: Nodes, options?: StageOptions): Promise<Stage>;
} {
  let cluster: OperatorCluster | undefined;
  const processes: OperatorProcess[] = [];
  before(async function () {
    this.timeout(60_000);
    cluster = await startOperatorCluster();
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((process) => process.stop()));
  });
  after(async () => {
    await cluster?.stop();
  });
  const there = (): OperatorCluster => {
    if (!cluster) throw new Error('the cluster is there only within tests');
    return cluster;
  };
  return {
    get cluster() {
      return there();
    },
    set: (nodes, options = {}) => setStage(there(), nodes, options, processes),
  };
}

async function setStage(
  cluster: OperatorCluster,
  nodes: Nodes,
  options: StageOptions,
  processes: OperatorProcess[],
): Promise<Stage> {
  const namespace = await cluster.namespace();
  const runs: string[] = [];
  const errors: unknown[] = [];
  let controller: Controller<Page> | undefined;
  let process: OperatorProcess | undefined;
  const { workflow, reconciler, onReconcile, ...rest } = options;
  const start = async (): Promise<void> => {
    process = await startProcess(cluster, (manager) => {
      controller = addWorkflowController<Page>(manager, {
        name: 'pages',
        kind: pages,
        cache: { namespaces: [namespace] },
        retry: quickly,
        ...rest,
        workflow: { nodes: nodes(namespace), ...workflow },
        reconciler: {
          async reconcile(page, ctx) {
            const control = (await onReconcile?.(page, ctx)) ?? { write: 'none' };
            runs.push(`reconcile ${page.metadata.name}`);
            return control;
          },
          onError(page, _ctx, error) {
            errors.push(error);
            runs.push(`failed ${page.metadata.name}`);
            return Promise.resolve('default');
          },
          ...reconciler,
        },
      });
    });
    processes.push(process);
  };
  await start();
  const key = (name: string): string => `${namespace}/${name}`;
  const running = (): OperatorProcess => process as OperatorProcess;
  return {
    namespace,
    runs,
    errors,
    key,
    get client() {
      return running().client;
    },
    read: (name) => read(cluster, pages, key(name)),
    page: (name, spec = {}) =>
      cluster.client.send({
        verb: 'create',
        kind: pages,
        object: { apiVersion: 'runtime.test.example/v1', kind: 'Page', metadata: { name, namespace }, spec },
      }),
    async edit(name, spec) {
      await cluster.client.send({ verb: 'merge', kind: pages, key: key(name), body: { spec } });
    },
    async remove(name) {
      await cluster.client.send({ verb: 'delete', kind: pages, key: key(name) });
    },
    async again(name) {
      const { client } = running();
      const before = client.writes.length;
      const ended = runs.length;
      controller?.enqueue(key(name), 'test');
      await eventually('another run has ended', () => runs.length > ended);
      return client.writes.slice(before);
    },
    async restart() {
      await running().stop();
      await start();
    },
  };
}
