/** `startTestCluster`: an operator in a simulated cluster, for tests with a script. */
import { SimulatedCluster } from './cluster/simulated-cluster.ts';
import type { SimulateOptions } from './simulate.ts';
import type { OperatorUnderTest, TestCluster } from './scenario.ts';

/**
 * Starts a cluster and an operator, without faults except for those that the test requests.
 * @param options.seed determines the order of events; default 1
 * @param options.onLine called with every step, such as requests, events and timers
 * @throws DefinitionError if `crds` contains anything else; errors of the server for invalid CRDs
 */
export async function startTestCluster(
  operator: OperatorUnderTest,
  options: Pick<SimulateOptions, 'seed' | 'onLine'> = {},
): Promise<TestCluster> {
  const cluster = await SimulatedCluster.start(operator, options.seed ?? 1);
  cluster.scheduler.trace.listener = options.onLine;
  cluster.boot();
  return cluster;
}
