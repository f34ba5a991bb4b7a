/** Keys, certificates and kubeconfigs of the cluster, new for each start. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '../../src/lib/certificates.ts';
import { addresses, files, NODE_NAME } from './settings.ts';

/** Users of the API server that get a kubeconfig, and their groups. */
const CLIENTS: Readonly<Record<string, { readonly user: string; readonly groups?: readonly string[] }>> = {
  admin: { user: 'admin', groups: ['system:masters'] },
  'controller-manager': { user: 'system:kube-controller-manager' },
  scheduler: { user: 'system:kube-scheduler' },
  proxy: { user: 'system:kube-proxy' },
  kubelet: { user: `system:node:${NODE_NAME}`, groups: ['system:nodes'] },
};

const API_SERVER_HOSTS = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  addresses.apiService,
  addresses.node,
  '127.0.0.1',
];

/** Writes all files below files.certificates, and the kubeconfig for the machine. */
export function writeCertificates(): void {
  mkdirSync(files.certificates, { recursive: true });
  const write = (name: string, text: string): void =>
    writeFileSync(join(files.certificates, name), text, { mode: 0o600 });

  const authority = createAuthority('espalier-node');
  const signer = createPrivateKey(authority.key);
  write('ca.crt', authority.certificate);
  write('ca.key', authority.key);
  const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  write('accounts.key', accounts.privateKey.export({ type: 'sec1', format: 'pem' }) as string);
  write('accounts.pub', accounts.publicKey.export({ type: 'spki', format: 'pem' }) as string);

  const issue = (name: string, options: Parameters<typeof issueCertificate>[2]): void => {
    const { key, certificate } = issueCertificate(authority, signer, options);
    write(`${name}.key`, key);
    write(`${name}.crt`, certificate);
    if (options.usage === 'client')
      write(`${name}.kubeconfig`, kubeconfigOf(authority.certificate, { key, certificate }));
  };
  issue('api-server', { commonName: 'kube-apiserver', hosts: API_SERVER_HOSTS, usage: 'server' });
  issue('kubelet-server', { commonName: NODE_NAME, hosts: [NODE_NAME, addresses.node], usage: 'server' });
  issue('api-server-client', {
    commonName: 'kube-apiserver',
    organizations: ['system:masters'],
    usage: 'client',
  });
  for (const [name, { user, groups = [] }] of Object.entries(CLIENTS)) {
    issue(name, { commonName: user, organizations: groups, usage: 'client' });
  }
}

function kubeconfigOf(ca: string, client: { readonly key: string; readonly certificate: string }): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: NODE_NAME,
        cluster: {
          server: `https://${addresses.node}:6443`,
          'certificate-authority-data': base64(ca),
        },
      },
    ],
    users: [
      {
        name: 'user',
        user: {
          'client-certificate-data': base64(client.certificate),
          'client-key-data': base64(client.key),
        },
      },
    ],
    contexts: [{ name: NODE_NAME, context: { cluster: NODE_NAME, user: 'user' } }],
    'current-context': NODE_NAME,
  });
}
