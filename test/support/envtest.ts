/**
 * A real control plane for tests: etcd and kube-apiserver on loopback ports, in a folder that is deleted when they
 * stop.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ensureBinaries } from '../../hack/envtest/binaries.ts';
import type { Binaries } from '../../hack/envtest/versions.ts';
import { freePorts } from './ports.ts';
import { eventually } from './waiting.ts';

export interface EnvtestOptions {
  /** File for the audit log: one JSON line of level Metadata per finished request. */
  readonly auditLog?: string;
  /** In addition to the default: ServiceAccount is off, because no controller creates default service accounts. */
  readonly admissionPlugins?: { readonly enable?: readonly string[]; readonly disable?: readonly string[] };
}

export interface Envtest {
  readonly url: string;
  /** A kubeconfig, as a string, that may do everything. */
  readonly kubeconfig: string;
  readonly kubeconfigFile: string;
  readonly auditLog?: string;
  /** Ids of the processes that have started the servers, by the names of the servers. */
  readonly processes: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;

/**
 * Starts a separate control plane: no controllers run with it, so objects are not garbage collected and the deletion
 * of namespaces does not finish. It ends with this process, however that ends.
 * @throws EnvtestUnavailable if there are no binaries and no way to build them
 */
export async function startEnvtest(options: EnvtestOptions = {}): Promise<Envtest> {
  const binaries = ensureBinaries();
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(binaries, options);
    } catch (error) {
      // Another process may have taken a port between finding it and using it.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function startOnce(binaries: Binaries, options: EnvtestOptions): Promise<Envtest> {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-envtest-'));
  const servers: Server[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [etcdPort, peerPort, port] = await freePorts(3);
    const etcdUrl = `http://127.0.0.1:${etcdPort}`;
    servers.push(startServer(binaries.etcd, etcdArguments(folder, etcdUrl, `http://127.0.0.1:${peerPort}`)));

    const token = randomBytes(24).toString('hex');
    writeCredentials(folder, token);
    const server = startServer(
      binaries.apiserver,
      apiserverArguments({ folder, etcdUrl, port: port ?? 0, options }),
    );
    servers.push(server);

    const url = `https://127.0.0.1:${port}`;
    const ca = await untilReady({ url, token, caFile: join(folder, 'certs', 'apiserver.crt') }, servers);
    const kubeconfig = kubeconfigFor(url, token, ca);
    const kubeconfigFile = join(folder, 'kubeconfig');
    writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
    const processes = Object.fromEntries(servers.map(({ name, pid }) => [basename(name), pid]));
    return {
      url,
      kubeconfig,
      kubeconfigFile,
      processes,
      stop,
      ...(options.auditLog && { auditLog: options.auditLog }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

// ---------------------------------------------------------------- arguments and files

const etcdArguments = (folder: string, url: string, peerUrl: string): string[] => [
  `--data-dir=${join(folder, 'etcd')}`,
  `--listen-client-urls=${url}`,
  `--advertise-client-urls=${url}`,
  `--listen-peer-urls=${peerUrl}`,
  `--initial-advertise-peer-urls=${peerUrl}`,
  `--initial-cluster=default=${peerUrl}`,
  '--unsafe-no-fsync',
  '--log-level=error',
];

interface ApiserverSetup {
  readonly folder: string;
  readonly etcdUrl: string;
  readonly port: number;
  readonly options: EnvtestOptions;
}

function apiserverArguments({ folder, etcdUrl, port, options }: ApiserverSetup): string[] {
  const { enable = [], disable = [] } = options.admissionPlugins ?? {};
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'certs')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://127.0.0.1',
    `--service-account-key-file=${join(folder, 'service-accounts.key')}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    '--allow-privileged=true',
    ...(enable.length > 0 ? [`--enable-admission-plugins=${enable.join(',')}`] : []),
    `--disable-admission-plugins=${['ServiceAccount', ...disable].filter((name) => !enable.includes(name)).join(',')}`,
    ...(options.auditLog
      ? [
          `--audit-policy-file=${join(folder, 'audit-policy.yaml')}`,
          `--audit-log-path=${options.auditLog}`,
          '--audit-log-format=json',
          '--audit-log-mode=blocking',
        ]
      : []),
  ];
}

function writeCredentials(folder: string, token: string): void {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  };
  write('service-accounts.key', privateKey);
  write('tokens.csv', `${token},admin,admin,"system:masters"\n`);
  write(
    'audit-policy.yaml',
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n',
  );
}

/** As JSON, which every reader of kubeconfigs accepts as YAML. */
const kubeconfigFor = (url: string, token: string, ca: string): string =>
  `${JSON.stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'envtest',
          cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') },
        },
      ],
      users: [{ name: 'admin', user: { token } }],
      contexts: [{ name: 'envtest', context: { cluster: 'envtest', user: 'admin', namespace: 'default' } }],
      'current-context': 'envtest',
    },
    null,
    2,
  )}\n`;

// ---------------------------------------------------------------- processes

interface Server {
  readonly name: string;
  /** Of a shell that runs it. */
  readonly pid: number;
  /** Why it ended by itself, with the end of its output. */
  failure(): string | undefined;
  stop(): Promise<void>;
}

/** Runs "$@" until it ends or until our end of the pipe closes, which happens even if this process is killed. */
const WHILE_PIPE_IS_OPEN =
  'exec 3<&0; "$@" 3<&- & child=$!; (cat <&3 >/dev/null; kill -9 $child 2>/dev/null) & wait $child';

function startServer(binary: string, args: readonly string[]): Server {
  const child: ChildProcess = spawn('/bin/sh', ['-c', WHILE_PIPE_IS_OPEN, 'sh', binary, ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4000);
  });
  const ended = once(child, 'exit');
  ended.catch(() => {});
  return {
    name: binary,
    pid: child.pid ?? 0,
    failure: () =>
      child.exitCode === null && child.signalCode === null
        ? undefined
        : `${binary} ended on its own:\n${output}`,
    async stop() {
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null) await ended;
    },
  };
}

// ---------------------------------------------------------------- readiness

interface Endpoint {
  readonly url: string;
  readonly token: string;
  readonly caFile: string;
}

/** Waits until the server is ready and has its first namespaces; returns its certificates. */
async function untilReady(endpoint: Endpoint, servers: readonly Server[]): Promise<string> {
  const isReady = async (): Promise<boolean> => {
    const failure = servers.map((server) => server.failure()).find((reason) => reason !== undefined);
    if (failure !== undefined) throw new Error(failure);
    const ready = (await statusOf(endpoint, '/readyz')) === 200;
    return ready && (await statusOf(endpoint, '/api/v1/namespaces/default')) === 200;
  };
  await eventually('kube-apiserver is ready', isReady, { everyMs: POLL_MS, forMs: START_TIMEOUT_MS });
  return readFileSync(endpoint.caFile, 'utf8');
}

/** Status code of the response; 0 if there is none. */
function statusOf({ url, token, caFile }: Endpoint, path: string): Promise<number> {
  return new Promise((resolve) => {
    let ca: string;
    try {
      ca = readFileSync(caFile, 'utf8');
    } catch {
      resolve(0); // the server has not written its certificate yet
      return;
    }
    request(`${url}${path}`, { ca, headers: { authorization: `Bearer ${token}` }, agent: false })
      .on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
      .on('error', () => {
        resolve(0);
      })
      .end();
  });
}
