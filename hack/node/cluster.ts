/** The cluster on the node: control plane, kubelet, network and DNS. */
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeCertificates } from './certificates.ts';
import { pushImages } from './images.ts';
import { execute, Machine } from './machine.ts';
import { serviceCommands, writeConfiguration } from './services.ts';
import { addresses, files, images, NODE_NAME, REGISTRY } from './settings.ts';

const POLL_MS = 250;
const START_TIMEOUT_MS = 120_000;

/** Starts a cluster; `stop` of the machine ends it. @throws Error if a part of it does not start */
export async function startCluster(say: (line: string) => void): Promise<Machine> {
  const machine = await Machine.start();
  try {
    writeCertificates();
    writeConfiguration();
    copyFileSync(join(files.certificates, 'admin.kubeconfig'), files.kubeconfig);
    const commands = serviceCommands();
    for (const [name, command] of Object.entries(commands)) {
      await machine.startService(name, command);
      if (name === 'api-server')
        await until('kube-apiserver is ready', () => kubectl('get', '--raw', '/readyz') === 'ok');
      if (name === 'containerd') await until('containerd listens', () => existsSync(files.containerdSocket));
    }
    await until('the registry answers', async () => (await fetch(`http://${REGISTRY}/v2/`)).ok);
    pushImages();
    const manifest = readFileSync(join(import.meta.dirname, 'coredns.yaml'), 'utf8')
      .replaceAll('DNS_ADDRESS', addresses.dns)
      .replaceAll('COREDNS_IMAGE', images.coredns);
    execute('kubectl', ['--kubeconfig', files.kubeconfig, 'apply', '--filename=-'], { input: manifest });
    await until('the node exists', () => kubectl('get', 'node', NODE_NAME) !== '');
    kubectl('wait', '--for=condition=Ready', `node/${NODE_NAME}`, '--timeout=120s');
    kubectl('rollout', 'status', '--namespace=kube-system', 'deployment/coredns', '--timeout=120s');
    say(`the cluster is ready: kubectl --kubeconfig ${files.kubeconfig}`);
    return machine;
  } catch (error) {
    await machine.stop();
    throw error;
  }
}

const kubectl = (...args: readonly string[]): string =>
  execute('kubectl', ['--kubeconfig', files.kubeconfig, ...args]);

/** Waits until a check passes; errors count as not yet. @throws Error after START_TIMEOUT_MS, with the last error */
async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + START_TIMEOUT_MS; ;) {
    let reason = '';
    try {
      if (await check()) return;
    } catch (error) {
      reason = `: ${(error as Error).message}`;
    }
    if (Date.now() > end) throw new Error(`timed out after ${START_TIMEOUT_MS / 1000} s: ${what}${reason}`);
    await pause(POLL_MS);
  }
}
