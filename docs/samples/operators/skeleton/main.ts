/** Runs the operator on the cluster of the current kubeconfig, or of its pod. */
import { requireKinds, runOperator } from 'espalier/runtime';
import { skeletons } from './kind.ts';
import { addController } from './operator.ts';

const port = process.env['METRICS_PORT'];

await runOperator({
  name: 'skeleton-operator',
  ...(port && { metricsAddress: { host: '0.0.0.0', port: Number(port) } }),
  async add(operator) {
    await requireKinds(operator.client, [skeletons], 'kubectl apply -f crd.yaml');
    addController(operator);
  },
});
