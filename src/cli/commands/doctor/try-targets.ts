/** Reads the credentials of targets of Kubernetes clusters, and sends one request to each cluster. */
import { setMaxListeners } from 'node:events';
import { targetReaderOf } from '../../../../deployers/sdk/controller.ts';
import type { Target } from '../../../api/kinds/target.ts';
import { targetKind } from '../../../api/landscaper-kinds.ts';
import { Closing } from '../../../lib/closing.ts';
import { append } from '../../../lib/lists.ts';
import { secureRng } from '../../../lib/secure-rng.ts';
import { silentLogger } from '../../../observability/log.ts';
import type { Cluster } from '../../cluster.ts';
import { credentialsIn, type TriedTarget } from '../../doctor/targets.ts';

const CLUSTER = 'landscaper.gardener.cloud/kubernetes-cluster';
const AT_ONCE = 8;
const PATIENCE_MS = 10_000;

/** @param namespace undefined: all namespaces */
export async function tryTargets(
  { client, clock, self }: Cluster,
  namespace: string | undefined,
): Promise<readonly TriedTarget[]> {
  const waiting: Target[] = [];
  const query = namespace === undefined ? {} : { namespace };
  for await (const page of client.list<Target>(targetKind, query))
    append(
      waiting,
      page.items.filter(({ spec }) => spec.type === CLUSTER),
    );
  const closing = new Closing();
  const { signal } = closing;
  setMaxListeners(0, signal); // every request adds a listener
  const reader = targetReaderOf({ client, clock, log: silentLogger, rng: secureRng, signal, self });
  const tried: TriedTarget[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) tried.push(await tryOne(next));
  };
  const tryOne = async (target: Target): Promise<TriedTarget> => {
    const { name, namespace: at = '' } = target.metadata;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    let credentials: TriedTarget['credentials'] = [];
    let problem: string | undefined;
    try {
      const resolved = await reader.resolve(target, patience);
      credentials = credentialsIn(await resolved.kubeconfig());
      await (await resolved.kube()).client.raw('GET', '/api', undefined, patience);
    } catch (error) {
      problem = patience.aborted
        ? `the server has not answered for ${String(PATIENCE_MS / 1000)} s`
        : (error as Error).message;
    }
    return { name, namespace: at, credentials, problem };
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return tried.sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  } finally {
    await closing.close();
  }
}
