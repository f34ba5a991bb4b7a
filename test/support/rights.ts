/** API servers that check rights and record requests, for tests of the rights that `espalier install` grants. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer } from '../../src/apiserver/server.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import type { Client } from '../../src/runtime/types.ts';
import { isRealServer } from './cluster.ts';
import { startEnvtest } from './envtest.ts';

/** One request in the audit log. */
export interface Asked {
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly responseStatus?: { readonly code: number };
  readonly objectRef?: {
    readonly resource: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

export interface StrictServer {
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  /** All requests so far, finished or not. */
  asked(): readonly Asked[];
  close(): Promise<void>;
}

/**
 * A separate server, of the kind that the run uses; a real one also checks who may set blockOwnerDeletion
 * (OwnerReferencesPermissionEnforcement).
 */
export async function startStrictServer(): Promise<StrictServer> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-rights-'));
  const kubeconfigFile = join(folder, 'kubeconfig');
  const done = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  if (isRealServer()) {
    const auditLog = join(folder, 'audit.log');
    const server = await startEnvtest({
      auditLog,
      admissionPlugins: { enable: ['OwnerReferencesPermissionEnforcement'] },
    });
    return {
      kubeconfig: server.kubeconfig,
      kubeconfigFile: server.kubeconfigFile,
      asked: () =>
        readFileSync(auditLog, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Asked),
      async close() {
        await server.stop();
        done();
      },
    };
  }
  const server = await startApiServer({ authorization: 'RBAC' });
  writeFileSync(kubeconfigFile, server.kubeconfig, { mode: 0o600 });
  return {
    kubeconfig: server.kubeconfig,
    kubeconfigFile,
    asked: () => server.audit.all().events,
    async close() {
      await server.close();
      done();
    },
  };
}

/** A kubeconfig for the same server with a token of a service account, and no other credentials. */
export async function kubeconfigOfAccount(
  client: Client,
  kubeconfig: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = { expirationSeconds: 86_400 };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  const { status } = (await client.raw('POST', path, body)) as { status: { token: string } };
  const { clusters } = parseYaml(kubeconfig) as { clusters: readonly object[] };
  const cluster = { ...clusters[0], name: 'host' };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'account',
    clusters: [cluster],
    users: [{ name: 'account', user: { token: status.token } }],
    contexts: [{ name: 'account', context: { cluster: 'host', user: 'account', namespace } }],
  });
}
