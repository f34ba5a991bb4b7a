/** Runs the operator on the cluster of the current kubeconfig, or of its pod, and converts between versions. */
import { requireKinds, runOperator, type ConversionOptions } from 'espalier/runtime';
import { conversion } from './conversion.ts';
import { skeletons } from './kind.ts';
import { addController } from '../skeleton/operator.ts';

const { METRICS_PORT, CONVERSION_URL, KUBERNETES_SERVICE_HOST } = process.env;

/** How API servers reach this process. Elsewhere than in a pod, only one that CONVERSION_URL is written for. */
function reachable(): Omit<ConversionOptions, 'conversions'> | undefined {
  if (KUBERNETES_SERVICE_HOST) return { endpoint: { service: { name: 'skeleton-operator' } } };
  if (!CONVERSION_URL) return undefined;
  const { hostname, port } = new URL(CONVERSION_URL);
  return { endpoint: { url: CONVERSION_URL }, listen: { host: hostname, port: Number(port) } };
}

const address = reachable();

await runOperator({
  name: 'skeleton-operator',
  ...(METRICS_PORT && { metricsAddress: { host: '0.0.0.0', port: Number(METRICS_PORT) } }),
  ...(address && { conversion: { conversions: [conversion], ...address } }),
  async add(operator) {
    await requireKinds(operator.client, [skeletons], 'kubectl apply -f crd.yaml');
    addController(operator);
  },
});
