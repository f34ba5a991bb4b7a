/** Reads the deployments of the system. */
import { ApiError, NotFound, TransportError } from '../../src/runtime/errors.ts';
import type { Client, Kind, Obj } from '../../src/runtime/types.ts';
import type { Deployment, DeploymentFacts } from './decide.ts';

const deploymentKind: Kind<Obj & Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

export const gatherDeployments = (
  client: Client,
  namespace: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<DeploymentFacts[]> =>
  Promise.all(names.map((name) => readDeployment(client, `${namespace}/${name}`, signal)));

async function readDeployment(client: Client, name: string, signal: AbortSignal): Promise<DeploymentFacts> {
  try {
    return { name, found: await client.get(deploymentKind, name, signal) };
  } catch (error) {
    if (error instanceof NotFound) return { name, found: 'missing' };
    if (error instanceof ApiError || error instanceof TransportError) {
      return { name, found: { unreadable: error.message } };
    }
    throw error;
  }
}
