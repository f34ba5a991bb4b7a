/** One API server of the kind that the run uses. */
import type { AuditLog } from '../../../src/apiserver/http/audit.ts';
import { startApiServer } from '../../../src/apiserver/server.ts';
import { systemClock as clock } from '../../../src/lib/clock.ts';
import { silentLogger as log } from '../../../src/observability/log.ts';
import { createClient } from '../../../src/runtime/transport/client.ts';
import { connect } from '../../../src/runtime/transport/http.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { isRealServer } from '../../support/cluster.ts';
import { startEnvtest } from '../../support/envtest.ts';

/** An API server of either kind. */
export interface Server {
  readonly url: string;
  /** PEM. */
  readonly ca: string;
  readonly kubeconfig: string;
  /** The requests it received; real servers do not report them. */
  readonly audit: AuditLog | undefined;
  close(): Promise<void>;
}

export async function startServer(): Promise<Server> {
  if (!isRealServer()) return startApiServer();
  const { url, kubeconfig, stop } = await startEnvtest();
  const { clusters } = JSON.parse(kubeconfig) as { clusters: { cluster: Record<string, string> }[] };
  const ca = Buffer.from(clusters[0]?.cluster['certificate-authority-data'] ?? '', 'base64').toString();
  return { url, kubeconfig, ca, audit: undefined, close: stop };
}

export async function clientFor(server: Server, userAgent: string): Promise<Client> {
  return createClient(await connect({ kubeconfig: { text: server.kubeconfig }, userAgent, clock, log }));
}
