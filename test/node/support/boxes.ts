/** Container items on the node: each in a namespace and an installation of its own. */
import { images, until, apply, namespace as namespaceObject, LS_SYSTEM, kubectl } from './cluster.ts';
import type { Client } from '../../../src/runtime/types.ts';
import {
  finished,
  inlineBlueprint,
  installation,
  jobOf,
  jobsIn,
  literally,
  operate,
  type Job,
  type Problem,
} from './landscapes.ts';

const PLACE = 'example.org/place';

/** What the image of the tests exports: what it got. */
export interface Export {
  readonly operation: string;
  readonly count: number;
  readonly user: number;
  readonly group: number;
  readonly groups: readonly number[];
  readonly content: readonly string[];
  readonly state: readonly string[];
  readonly target: { readonly target?: object; readonly content?: string } | null;
  readonly components: readonly string[];
  readonly pod: string;
  readonly hasToken: boolean;
  readonly say: unknown;
}

export interface BoxOptions {
  /** Import values of the image; see hack/node/job/job.mjs. */
  readonly values?: object;
  /** Of the deploy item, such as 20s. */
  readonly timeout?: string;
  /** Spec of the target; default: none. */
  readonly target?: object;
  /** More fields of the provider configuration. */
  readonly configuration?: object;
  /** More fields of the installation. */
  readonly installation?: object;
}

export interface Outcome {
  readonly phase: string;
  /** Of the deploy item. */
  readonly problem: Problem | undefined;
  readonly exported: Export | undefined;
  readonly seconds: number;
}

export class Box {
  readonly namespace: string;
  readonly #client: Client;

  constructor(client: Client, namespace: string, ...objects: readonly object[]) {
    this.#client = client;
    this.namespace = namespace;
    apply(namespaceObject(namespace));
    if (objects.length > 0) apply(...objects);
  }

  /** Changes the item and starts a job. @returns the id of the job before, or '' */
  async start(options: BoxOptions = {}): Promise<string> {
    const { namespace } = this;
    const before = await this.#job();
    const target = options.target && {
      apiVersion: 'landscaper.gardener.cloud/v1alpha1',
      kind: 'Target',
      metadata: { name: 'place', namespace },
      spec: { type: PLACE, ...options.target },
    };
    apply(...(target ? [target] : []), installation(namespace, 'box', specOf(options)));
    return before?.status?.jobID ?? '';
  }

  /** Runs a job to its end. */
  async run(options: BoxOptions = {}, seconds = 120): Promise<Outcome> {
    const started = Date.now();
    return this.end(await this.start(options), seconds, started);
  }

  /** @param after the id of the job before */
  async end(after: string, seconds = 120, started = Date.now()): Promise<Outcome> {
    const { status } = await finished(this.#client, this.namespace, 'box', { seconds, after });
    return {
      phase: status?.phase ?? '',
      problem: (await this.item()).status?.lastError,
      exported: await this.exported(),
      seconds: (Date.now() - started) / 1000,
    };
  }

  async item(): Promise<Job> {
    const [item] = await jobsIn(this.#client, 'deployitems', this.namespace);
    if (!item) throw new Error(`there is no deploy item in ${this.namespace}`);
    return item;
  }

  /** From now on, the item is deleted without a run of its image. */
  skipDeletionRun(): void {
    const annotation = 'container.deployer.landscaper.gardener.cloud/force-cleanup=true';
    kubectl('annotate', 'deployitems.landscaper.gardener.cloud', '--all', '-n', this.namespace, annotation);
  }

  operate(operation: string): Promise<unknown> {
    return operate(this.#client, this.namespace, 'box', operation);
  }

  /** The name of the pod of the item, when its image runs. */
  runningPod(): Promise<string> {
    return until(`the image of ${this.namespace} runs`, 60, async () => {
      const { metadata } = await this.item();
      const selector = `deployitem.container.deployer.landscaper.gardener.cloud/namespace=${this.namespace}`;
      const [pod] = kubectl(
        ...['get', 'pods', '-n', LS_SYSTEM, '-l', selector, '--field-selector=status.phase=Running', '-o'],
        'jsonpath={range .items[?(@.status.containerStatuses[0].state.running)]}{.metadata.name}{"\\n"}{end}',
      ).split('\n');
      return metadata.name !== '' && pod !== '' && pod;
    });
  }

  async exported(): Promise<Export | undefined> {
    const objects = await jobsIn(this.#client, 'dataobjects', this.namespace);
    const found = objects.find(({ metadata }) => metadata.name === 'result');
    return (found as { data?: Export } | undefined)?.data;
  }

  #job(): Promise<Job | undefined> {
    return jobOf(this.#client, this.namespace, 'box').catch(() => undefined);
  }
}

function specOf({ values = {}, timeout, target, configuration, installation: more }: BoxOptions): object {
  const item = {
    name: 'job',
    type: 'landscaper.gardener.cloud/container',
    ...(target && { target: { import: 'place' } }),
    ...(timeout !== undefined && { timeout }),
    config: {
      apiVersion: 'container.deployer.landscaper.gardener.cloud/v1alpha1',
      kind: 'ProviderConfiguration',
      image: images.job,
      importValues: values,
      ...configuration,
    },
  };
  return {
    imports: target ? { targets: [{ name: 'place', target: 'place' }] } : {},
    exports: { data: [{ name: 'result', dataRef: 'result' }] },
    blueprint: inlineBlueprint({
      imports: target ? [{ name: 'place', targetType: PLACE }] : [],
      exports: [{ name: 'result', schema: {} }],
      exportExecutions: [
        {
          name: 'result',
          type: 'GoTemplate',
          template: 'exports: {result: {{ toJson .values.deployitems.job }} }',
        },
      ],
      deployExecutions: [{ name: 'job', type: 'GoTemplate', template: literally({ deployItems: [item] }) }],
    }),
    ...more,
  };
}
