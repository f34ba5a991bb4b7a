/** Table cells of pods and of the kinds that create pods. */
import { humanDuration } from './human-duration.ts';
import {
  at,
  containerCells,
  formatLabels,
  formatSelector,
  listAt,
  numberAt,
  orNone,
  textAt,
  type Cells,
  type PrinterRows,
} from './cells.ts';
import type { JsonObject, KubeObject } from '../types.ts';

const WIDE = ['Containers*', 'Images*'];

const wide = (object: KubeObject, ...path: readonly string[]): [string, string] =>
  containerCells(at(object, ...path, 'template', 'spec'));

const isTrue = (object: unknown, type: string): boolean =>
  listAt(object, 'status', 'conditions').some((c) => c['type'] === type && c['status'] === 'True');

const JOB_STATES = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['', 'Terminating'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
] as const;

function jobStatus(job: KubeObject): string {
  const found = JOB_STATES.find(([condition]) =>
    condition === '' ? job.metadata.deletionTimestamp !== undefined : isTrue(job, condition),
  );
  return found?.[1] ?? 'Running';
}

function completions(job: KubeObject): string {
  const succeeded = numberAt(job, 'status', 'succeeded');
  const wanted = at(job, 'spec', 'completions');
  if (typeof wanted === 'number') return `${succeeded}/${wanted}`;
  const parallelism = numberAt(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: KubeObject, age: (timestamp?: unknown) => string): string {
  const start = textAt(job, 'status', 'startTime');
  const end = textAt(job, 'status', 'completionTime');
  if (start === '') return '';
  return end === '' ? age(start) : humanDuration(Date.parse(end) - Date.parse(start));
}

const replicas: Cells = (object, age) => [
  object.metadata.name,
  numberAt(object, 'spec', 'replicas'),
  numberAt(object, 'status', 'replicas'),
  numberAt(object, 'status', 'readyReplicas'),
  age(),
  ...wide(object, 'spec'),
  object.kind === 'ReplicationController'
    ? formatLabels(at(object, 'spec', 'selector'))
    : formatSelector(at(object, 'spec', 'selector')),
];

export const workloadPrinters: PrinterRows = {
  Pod: [
    ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP*', 'Node*', 'Nominated Node*', 'Readiness Gates*'],
    (pod, age) => {
      const state = podState(pod);
      const restarts =
        state.restarts === 0 || state.lastRestart === ''
          ? String(state.restarts)
          : `${state.restarts} (${age(state.lastRestart)} ago)`;
      return [
        pod.metadata.name,
        `${state.ready}/${state.total}`,
        state.reason,
        restarts,
        age(),
        orNone(textAt(pod, 'status', 'podIPs', 0, 'ip')),
        orNone(textAt(pod, 'spec', 'nodeName')),
        orNone(textAt(pod, 'status', 'nominatedNodeName')),
        readinessGates(pod),
      ];
    },
  ],
  'apps/Deployment': [
    ['Name', 'Ready', 'Up-to-date', 'Available', 'Age', ...WIDE, 'Selector*'],
    (object, age) => [
      object.metadata.name,
      `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`,
      numberAt(object, 'status', 'updatedReplicas'),
      numberAt(object, 'status', 'availableReplicas'),
      age(),
      ...wide(object, 'spec'),
      formatSelector(at(object, 'spec', 'selector')),
    ],
  ],
  'apps/ReplicaSet': [['Name', 'Desired#', 'Current#', 'Ready#', 'Age', ...WIDE, 'Selector*'], replicas],
  ReplicationController: [['Name', 'Desired#', 'Current#', 'Ready#', 'Age', ...WIDE, 'Selector*'], replicas],
  'apps/StatefulSet': [
    ['Name', 'Ready', 'Age', ...WIDE],
    (object, age) => [
      object.metadata.name,
      `${numberAt(object, 'status', 'readyReplicas')}/${numberAt(object, 'spec', 'replicas')}`,
      age(),
      ...wide(object, 'spec'),
    ],
  ],
  'apps/DaemonSet': [
    [
      'Name',
      'Desired#',
      'Current#',
      'Ready#',
      'Up-to-date#',
      'Available#',
      'Node Selector',
      'Age',
      ...WIDE,
      'Selector*',
    ],
    (object, age) => [
      object.metadata.name,
      numberAt(object, 'status', 'desiredNumberScheduled'),
      numberAt(object, 'status', 'currentNumberScheduled'),
      numberAt(object, 'status', 'numberReady'),
      numberAt(object, 'status', 'updatedNumberScheduled'),
      numberAt(object, 'status', 'numberAvailable'),
      formatLabels(at(object, 'spec', 'template', 'spec', 'nodeSelector')),
      age(),
      ...wide(object, 'spec'),
      formatSelector(at(object, 'spec', 'selector')),
    ],
  ],
  'apps/ControllerRevision': [
    ['Name', 'Controller', 'Revision', 'Age'],
    (object, age) => {
      const owner = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
      const group =
        owner?.apiVersion.includes('/') === true ? `.${owner.apiVersion.split('/')[0] ?? ''}` : '';
      const controller = owner ? `${owner.kind.toLowerCase()}${group}/${owner.name}` : '<none>';
      return [object.metadata.name, controller, numberAt(object, 'revision'), age()];
    },
  ],
  'batch/Job': [
    ['Name', 'Status', 'Completions', 'Duration', 'Age', ...WIDE, 'Selector*'],
    (job, age) => [
      job.metadata.name,
      jobStatus(job),
      completions(job),
      jobDuration(job, age),
      age(),
      ...wide(job, 'spec'),
      formatSelector(at(job, 'spec', 'selector')),
    ],
  ],
  'batch/CronJob': [
    ['Name', 'Schedule', 'Timezone', 'Suspend?', 'Active#', 'Last Schedule', 'Age', ...WIDE, 'Selector*'],
    (job, age) => {
      const last = at(job, 'status', 'lastScheduleTime');
      return [
        job.metadata.name,
        textAt(job, 'spec', 'schedule'),
        orNone(textAt(job, 'spec', 'timeZone')),
        at(job, 'spec', 'suspend') === true ? 'True' : 'False',
        listAt(job, 'status', 'active').length,
        last === undefined ? '<none>' : age(last),
        age(),
        ...wide(job, 'spec', 'jobTemplate', 'spec'),
        formatSelector(at(job, 'spec', 'jobTemplate', 'spec', 'selector')),
      ];
    },
  ],
};

function readinessGates(pod: KubeObject): string {
  const gates = listAt(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  const met = gates.filter((gate) => isTrue(pod, textAt(gate, 'conditionType'))).length;
  return `${met}/${gates.length}`;
}

interface PodState {
  ready: number;
  total: number;
  restarts: number;
  lastRestart: string;
  reason: string;
}

const later = (a: string, b: string): string => (b > a ? b : a);

/** The status that kubectl shows for a pod: the most important reason of its containers, init containers first. */
export function podState(pod: KubeObject): PodState {
  const state: PodState = {
    ready: 0,
    total: listAt(pod, 'spec', 'containers').length,
    restarts: 0,
    lastRestart: '',
    reason: orElse(textAt(pod, 'status', 'reason'), textAt(pod, 'status', 'phase')),
  };
  const isGated = listAt(pod, 'status', 'conditions').some(
    (c) => c['type'] === 'PodScheduled' && c['reason'] === 'SchedulingGated',
  );
  if (isGated) state.reason = 'SchedulingGated';
  const sidecars = new Set(
    listAt(pod, 'spec', 'initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => container['name']),
  );
  state.total += sidecars.size;
  const ofSidecars = { restarts: 0, lastRestart: '' };
  const isInitializing = judgeInit(pod, state, sidecars, ofSidecars);
  if (!isInitializing || isTrue(pod, 'Initialized')) {
    Object.assign(state, ofSidecars);
    judgeContainers(pod, state);
  }
  if (pod.metadata.deletionTimestamp !== undefined) {
    const phase = textAt(pod, 'status', 'phase');
    if (textAt(pod, 'status', 'reason') === 'NodeLost') state.reason = 'Unknown';
    else if (phase !== 'Succeeded' && phase !== 'Failed') state.reason = 'Terminating';
  }
  return state;
}

const orElse = (text: string, other: string): string => (text === '' ? other : text);

/** Checks the init containers up to the first that is not done; returns whether there is one. */
function judgeInit(
  pod: KubeObject,
  state: PodState,
  sidecars: ReadonlySet<unknown>,
  ofSidecars: { restarts: number; lastRestart: string },
): boolean {
  const statuses = listAt(pod, 'status', 'initContainerStatuses');
  for (const [index, status] of statuses.entries()) {
    const finished = textAt(status, 'lastState', 'terminated', 'finishedAt');
    const isSidecar = sidecars.has(status['name']);
    state.restarts += numberAt(status, 'restartCount');
    state.lastRestart = later(state.lastRestart, finished);
    if (isSidecar) {
      ofSidecars.restarts += numberAt(status, 'restartCount');
      ofSidecars.lastRestart = later(ofSidecars.lastRestart, finished);
    }
    const terminated = at(status, 'state', 'terminated');
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue;
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) state.ready++;
      continue;
    }
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    if (terminated !== undefined) state.reason = `Init:${exitReason(terminated)}`;
    else if (waiting !== '' && waiting !== 'PodInitializing') state.reason = `Init:${waiting}`;
    else state.reason = `Init:${index}/${listAt(pod, 'spec', 'initContainers').length}`;
    return true;
  }
  return false;
}

function exitReason(terminated: unknown): string {
  const signal = numberAt(terminated, 'signal');
  const code = signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode')}` : `Signal:${signal}`;
  return orElse(textAt(terminated, 'reason'), code);
}

function judgeContainers(pod: KubeObject, state: PodState): void {
  let isRunning = false;
  for (const status of [...listAt(pod, 'status', 'containerStatuses')].reverse()) {
    state.restarts += numberAt(status, 'restartCount');
    state.lastRestart = later(state.lastRestart, textAt(status, 'lastState', 'terminated', 'finishedAt'));
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const terminated = at(status, 'state', 'terminated') as JsonObject | undefined;
    if (waiting !== '') state.reason = waiting;
    else if (terminated !== undefined) state.reason = exitReason(terminated);
    else if (status['ready'] === true && at(status, 'state', 'running') !== undefined) {
      isRunning = true;
      state.ready++;
    }
  }
  if (state.reason === 'Completed' && isRunning) state.reason = isTrue(pod, 'Ready') ? 'Running' : 'NotReady';
}
