/** Gets the decisions of the phases of the installation `stack`: a test names only the relevant facts. */
import { phases } from '../../../../controllers/installation/phases.ts';
import type { Rendered, Snapshot } from '../../../../controllers/installation/snapshot.ts';
import { API_VERSION } from '../../../../src/api/labels.ts';
import { defaultLimits } from '../../../../src/api/limits.ts';
import type { DataObject } from '../../../../src/api/kinds/dataobject.ts';
import type { Target } from '../../../../src/api/kinds/target.ts';
import type { ObjectMeta } from '../../../../src/api/shared.ts';
import type { Awaited, Decision, PhaseError, Problem } from '../../../../src/machine/decision.ts';
import { ask } from '../../../support/ask.ts';
import { NOW, child, execution, installation, running } from '../../../support/given.ts';
import { reservation } from '../../../support/reservation.ts';

export const JOB = 'j2';
export const self = installation('stack', { status: running(JOB, 'Init') });
export const ownExecution = (status: object = {}, meta: object = {}) =>
  execution('stack', {
    status,
    meta: {
      ownerReferences: [
        { apiVersion: API_VERSION, kind: 'Installation', name: 'stack', uid: 'uid-stack', controller: true },
      ],
      ...meta,
    },
  });

export const nothing: Rendered = {
  importObjects: [],
  children: [],
  items: [],
  states: [],
  unknownFields: [],
  secretsInNames: [],
};
export const wanted = (name: string) => ({
  name,
  object: {
    apiVersion: API_VERSION,
    kind: 'Installation',
    metadata: { generateName: `${name}-`, namespace: 'demo', labels: {}, annotations: {}, finalizers: [] },
    spec: child('stack', name).spec,
  } as unknown as Exclude<Rendered['children'], PhaseError>[number]['object'],
});

export const decide = (name: keyof typeof phases, snapshot: Partial<Snapshot> = {}): Decision =>
  ask<Snapshot>(phases[name].phase, {
    self,
    now: NOW,
    ancestors: [],
    treeDepth: 30,
    treeRecursion: 5,
    reservation: reservation(),
    limits: defaultLimits,
    freshName: (prefix: string) => `${prefix}sfx`,
    context: { apiVersion: API_VERSION, kind: 'Context', metadata: { name: 'default' } },
    component: { view: undefined, condition: undefined },
    siblings: [],
    predecessors: [],
    predecessorJobs: {},
    imports: { imports: {} as never, missing: [] },
    importsHash: 'hash',
    blueprintWarnings: { all: [], unknownFields: [] },
    isStrict: false,
    replacedTargets: [],
    children: [],
    execution: undefined,
    rendered: nothing,
    importUpserts: [],
    stateUpserts: [],
    ownExports: [],
    oldExports: [],
    staleObjects: [],
    exportUpserts: [],
    exportStateUpserts: [],
    ...snapshot,
  });

export const reasonOf = (decision: Decision): string | undefined =>
  decision.do === 'fail' || decision.do === 'retry'
    ? decision.problem.reason
    : decision.do === 'wait'
      ? decision.why?.reason
      : undefined;

/** The message of a decision: the problem of a failure, or the reason of a wait. */
export const problemOf = (decision: Decision): Problem | undefined =>
  decision.do === 'fail' || decision.do === 'retry'
    ? decision.problem
    : decision.do === 'wait'
      ? decision.why
      : undefined;

export const awaitedOf = (decision: Decision): Awaited | undefined =>
  decision.do === 'wait' ? decision.awaited : undefined;

/** Fields of a status with this as the last error. */
export const lastErrorOf = (message: string) => ({
  lastError: { operation: 'o', reason: 'r', message, lastTransitionTime: NOW, lastUpdateTime: NOW },
});

/** Data imports and exports of these names, each bound to the name itself. */
export const trading = ({ takes = [], gives = [] }: { takes?: string[]; gives?: string[] }) => ({
  ...(takes.length > 0 && { imports: { data: takes.map((name) => ({ name, dataRef: name })) } }),
  ...(gives.length > 0 && { exports: { data: gives.map((name) => ({ name, dataRef: name })) } }),
});

export const dataObject = (name: string, meta: Partial<ObjectMeta> = {}, data: unknown = 1): DataObject => ({
  apiVersion: API_VERSION,
  kind: 'DataObject',
  metadata: { name, namespace: 'demo', ...meta },
  data,
});

export const target = (
  name: string,
  meta: Partial<ObjectMeta> = {},
  spec: Target['spec'] = { type: 't' },
): Target => ({
  apiVersion: API_VERSION,
  kind: 'Target',
  metadata: { name, namespace: 'demo', ...meta },
  spec,
});
