/** Decides whether the system is healthy, based on its deployments. Pure. */
import type { HealthStatus } from '../../src/api/kinds/lshealthcheck.ts';
import type { View } from '../../src/lib/objects.ts';

/** The fields of a Deployment that its health depends on. */
export interface Deployment {
  readonly metadata: { readonly generation?: number };
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
  };
}

/** A deployment that has to exist, and what the API server returned for it. */
export interface DeploymentFacts {
  /** `namespace/name` */
  readonly name: string;
  readonly found: View<Deployment> | 'missing' | { readonly unreadable: string };
}

/** The result of a check and, separately, what it reports: a single failure may be a rollout and is not reported. */
export interface CheckResult {
  readonly hasFailed: boolean;
  /** The status to write; undefined keeps the current status and description. */
  readonly report: { readonly status: HealthStatus; readonly description: string } | undefined;
}

/** @param failedBefore whether the previous check failed */
export function evaluate(deployments: readonly DeploymentFacts[], failedBefore: boolean): CheckResult {
  const problems = deployments.flatMap((deployment) => problemOf(deployment) ?? []);
  if (problems.length === 0) return { hasFailed: false, report: { status: 'Ok', description: 'ok' } };
  const report = { status: 'Failed', description: problems.join('; ') } as const;
  return { hasFailed: true, report: failedBefore ? report : undefined };
}

function problemOf({ name, found }: DeploymentFacts): string | undefined {
  if (found === 'missing') return `deployment ${name} does not exist`;
  if ('unreadable' in found) return `deployment ${name} cannot be read: ${found.unreadable}`;
  if (isHealthy(found)) return undefined;
  return `not all pods are running or at the latest state for deployment ${name}`;
}

function isHealthy({ metadata, spec, status }: View<Deployment>): boolean {
  const desired = spec?.replicas ?? 1;
  return (
    status?.observedGeneration === metadata.generation &&
    (status?.updatedReplicas ?? 0) === desired &&
    (status?.availableReplicas ?? 0) === desired
  );
}
