/** Objects and trees for the tests of the command line; a test names only what matters. */
import type { DeployItem } from '../../../src/api/kinds/deployitem.ts';
import type { Execution } from '../../../src/api/kinds/execution.ts';
import type { Installation } from '../../../src/api/kinds/installation.ts';
import type { Collected } from '../../../src/cli/tree/collect.ts';
import { treesOf, type Node } from '../../../src/cli/tree/tree.ts';

interface Status {
  readonly phase?: string;
  readonly job?: string;
  /** Default: the job, for final phases. */
  readonly finished?: string;
  readonly error?: string;
  readonly reason?: string;
  readonly codes?: readonly string[];
  /** The message of the condition of a wait. */
  readonly waits?: string;
  readonly started?: string;
  readonly ended?: string;
}

const FINAL = ['Succeeded', 'Failed', 'DeleteFailed'];

function statusOf({
  phase,
  job = 'r',
  finished,
  error,
  reason = 'X',
  codes,
  waits,
  started,
  ended,
}: Status): object {
  const isFinal = phase !== undefined && FINAL.includes(phase);
  return {
    ...(phase !== undefined && { phase }),
    jobID: job,
    jobIDFinished: finished ?? (isFinal ? job : ''),
    ...(error !== undefined && { lastError: { operation: 'X', reason, message: error, codes } }),
    ...(waits !== undefined && {
      conditions: [{ type: 'Waiting', status: 'True', reason: 'JobsUnfinished', message: waits }],
    }),
    ...((started ?? ended) !== undefined && {
      transitionTimes: { triggerTime: started, initTime: started, finishedTime: ended },
    }),
  };
}

const metaOf = (name: string): { name: string; namespace: string; uid: string } => ({
  name,
  namespace: 'proj',
  uid: `uid-${name}`,
});

export const installation = (
  name: string,
  options: Status & { parent?: string; template?: string; subs?: readonly string[]; spec?: object } = {},
): Installation => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Installation',
  metadata: {
    ...metaOf(name),
    ...(options.template !== undefined && {
      annotations: { 'landscaper.gardener.cloud/subinstallation-name': options.template },
    }),
    ...(options.parent !== undefined && {
      ownerReferences: [
        {
          apiVersion: 'landscaper.gardener.cloud/v1alpha1',
          kind: 'Installation',
          name: options.parent,
          uid: 'u',
          controller: true,
        },
      ],
    }),
  },
  spec: { blueprint: {}, ...options.spec },
  status: {
    observedGeneration: 1,
    ...statusOf(options),
    ...(options.subs && {
      subInstCache: { activeSubs: options.subs.map((s) => ({ specName: s, objectName: s })) },
    }),
  },
});

export const execution = (name: string, options: Status = {}): Execution => ({
  apiVersion: 'landscaper.gardener.cloud/v1alpha1',
  kind: 'Execution',
  metadata: metaOf(name),
  spec: {},
  status: statusOf(options),
});

export const item = (
  name: string,
  options: Status & { execution: string; template?: string; spec?: object },
): DeployItem =>
  ({
    apiVersion: 'landscaper.gardener.cloud/v1alpha1',
    kind: 'DeployItem',
    metadata: {
      ...metaOf(name),
      labels: {
        'execution.landscaper.gardener.cloud/managed-by': options.execution,
        ...(options.template !== undefined && {
          'execution.landscaper.gardener.cloud/name': options.template,
        }),
      },
    },
    spec: { type: 'landscaper.gardener.cloud/mock', ...options.spec },
    status: statusOf(options),
  }) as unknown as DeployItem;

export const collected = (...objects: (Installation | Execution | DeployItem)[]): Collected => ({
  installations: objects.filter((o) => o.kind === 'Installation') as Installation[],
  executions: objects.filter((o) => o.kind === 'Execution'),
  deployItems: objects.filter((o) => o.kind === 'DeployItem') as DeployItem[],
});

export const trees = (...objects: (Installation | Execution | DeployItem)[]): Node[] =>
  treesOf(collected(...objects));

/** Root app (Succeeded), below it db (Failed: boom), and an execution with an item of an older job. */
export const failedLandscape = (): (Installation | Execution | DeployItem)[] => [
  installation('app', { phase: 'Succeeded' }),
  installation('db', { phase: 'Failed', error: 'boom', parent: 'app' }),
  execution('app', { phase: 'Succeeded' }),
  item('app-web-x', { execution: 'app', phase: 'Succeeded', job: 'q' }),
];

/** Specs of siblings of which the second imports what the first exports. */
export const exporting = { exports: { data: [{ name: 'url', dataRef: 'url' }] } };
export const importing = { imports: { data: [{ name: 'url', dataRef: 'url' }] } };
