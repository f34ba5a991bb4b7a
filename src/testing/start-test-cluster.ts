/** `startTestCluster`: an operator in a simulated cluster, for tests with a script. */
import { SimulatedCluster } from './cluster/simulated-cluster.ts';
import type { OperatorUnderTest, TestCluster } from './scenario.ts';

/**
 * Starts a cluster and an operator, without faults except for those that the test requests.
 * @param options.seed determines the order of events; default 1
 * @throws DefinitionError if `crds` contains anything else; errors of the server for invalid CRDs
 */
export async function startTestCluster(
  operator: OperatorUnderTest,
  options: { readonly seed?: number } = {},
): Promise<TestCluster> {
  const cluster = await SimulatedCluster.start(operator, options.seed ?? 1);
  cluster.boot();
  return cluster;
}
