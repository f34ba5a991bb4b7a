/**
 * The table of readiness: when an object of a kind is ready, and when it has failed for good. It applies to manifests,
 * to charts, and to releases of Helm. Pure.
 */
import { table } from '../../../src/lib/objects.ts';
import { isBuiltIn } from '../../../src/runtime/built-in.ts';
import type { ReadinessRules } from '../../sdk/deployer.ts';
import { groupOf, type KubeObject } from '../manifests/model.ts';
import { apiService } from './api-service.ts';
import { claim } from './claim.ts';
import { conventional } from './conditions.ts';
import { daemonSet } from './daemonset.ts';
import { definition } from './definition.ts';
import { deployment } from './deployment.ts';
import { job } from './job.ts';
import { pod, podOrItsEnd } from './pod.ts';
import { replicaSet } from './replicaset.ts';
import { statefulSet } from './statefulset.ts';
import { ready, type Verdict } from './verdict.ts';

type Check = (object: unknown) => Verdict;

/** The check by the rules of kstatus, and the one of Landscaper for the kinds that it waits for. */
type Rule = readonly [kstatus: Check, landscaper?: Check];

const byKind: Readonly<Record<string, Rule>> = table({
  '/Pod': [podOrItsEnd, pod],
  '/ReplicationController': [replicaSet, replicaSet],
  'apps/DaemonSet': [daemonSet, daemonSet],
  'apps/Deployment': [deployment, deployment],
  'apps/ReplicaSet': [replicaSet, replicaSet],
  'apps/StatefulSet': [statefulSet, statefulSet],
  '/PersistentVolumeClaim': [claim],
  'apiextensions.k8s.io/CustomResourceDefinition': [definition],
  'apiregistration.k8s.io/APIService': [apiService],
  'batch/Job': [job],
});

interface Type {
  readonly apiVersion: string;
  readonly kind: string;
}

const alwaysReady: Check = () => ready;

function checkFor({ apiVersion, kind }: Type, rules: ReadinessRules): Check {
  const group = groupOf(apiVersion);
  const name = `${group}/${kind}`;
  const [kstatus, landscaper] = byKind[name] ?? [];
  if (rules === 'landscaper') return landscaper ?? alwaysReady;
  return kstatus ?? (isBuiltIn(group) ? alwaysReady : conventional);
}

/** Whether an object of the kind may exist without being ready. */
export const mayBeUnready = (type: Type, rules: ReadinessRules): boolean =>
  checkFor(type, rules) !== alwaysReady;

export const verdictOf = (object: KubeObject, rules: ReadinessRules): Verdict =>
  checkFor(object, rules)(object);

/** Whether Landscaper waits for objects of the kind. Their list is in the status of a release. */
export const isUpstreamsKind = (type: Type): boolean => mayBeUnready(type, 'landscaper');
