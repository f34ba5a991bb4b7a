/** A cluster for tests of deployers: the embedded API server with our kinds. */
import { startApiServer } from '../../src/apiserver/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { ensureCrds } from '../../src/landscape/ensure-crds.ts';
import { silentLogger } from '../../src/observability/log.ts';
import { createClient } from '../../src/runtime/transport/client.ts';
import { connect } from '../../src/runtime/transport/http.ts';
import type { Client } from '../../src/runtime/types.ts';

/** An API server in this process with Landscaper's kinds, for the duration of a test. */
export interface TestCluster {
  /** Text. */
  readonly kubeconfig: string;
  readonly client: Client;
  readonly stop: () => Promise<void>;
}

/** Starts an API server in this process, in memory, on a free port of this machine. */
export async function startTestCluster(): Promise<TestCluster> {
  const server = await startApiServer();
  const connection = await connect({
    kubeconfig: { text: server.kubeconfig },
    userAgent: 'deployer-test',
    clock: systemClock,
    log: silentLogger,
  });
  const client = createClient(connection);
  const stop = async (): Promise<void> => {
    await client.close();
    await server.close();
  };
  try {
    await ensureCrds(client, systemClock, silentLogger);
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig: server.kubeconfig, client, stop };
}
