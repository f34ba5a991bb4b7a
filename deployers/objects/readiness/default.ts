/** The default checks and the kinds that have one. Objects of all other kinds are ready if they exist. Pure. */
import type { KubeObject } from '../manifests/model.ts';
import { daemonSet } from './daemonset.ts';
import { deployment } from './deployment.ts';
import { pod } from './pod.ts';
import { replicaSet } from './replicaset.ts';
import { statefulSet } from './statefulset.ts';
import { ready, type Verdict } from './verdict.ts';

const checks: Readonly<Record<string, (object: unknown) => Verdict>> = {
  '/Pod': pod,
  '/ReplicationController': replicaSet,
  'apps/DaemonSet': daemonSet,
  'apps/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'apps/StatefulSet': statefulSet,
};

const checkOf = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }) =>
  checks[`${apiVersion.split('/').slice(0, -1).join('/')}/${kind}`];

/** Whether an object of the kind may exist without being ready. */
export const hasDefaultCheck = (type: { readonly apiVersion: string; readonly kind: string }): boolean =>
  checkOf(type) !== undefined;

export const defaultVerdict = (object: KubeObject): Verdict => checkOf(object)?.(object) ?? ready;
